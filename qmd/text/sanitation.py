"""Secrets and personal data in a text that others are going to read.

What is found is told by field, rule, line and length, never by itself: the text is refused, not
mended. A word is no secret because a password is spoken of: what follows has to look like one, and
`<token>`, `***`, `$VAR`, `os.environ["KEY"]`, `config.token` and `your_password` do not.

Every pattern takes time in proportion to the text: repetitions are bounded, or stand at the end, or
begin where a look back says that none is under way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

MOST = 50
"""Findings of one text that are told: more of them help nobody."""


class Finding(NamedTuple):
    """Something that has to be taken out of a text.

    Attributes:
        rule: what it seems to be.
        line: on which it begins, from 1.
        length: characters.
    """

    field: str
    rule: str
    line: int
    length: int


def findings(field: str, text: str, *, strict: bool) -> list[Finding]:
    """What has to be taken out of a text, in order.

    Args:
        strict: look for personal data and the names of inner machines, too.
    """
    taken = bytearray(len(text))
    places = []
    for rule in (*_SECRETS, *(_PERSONAL if strict else ())):
        for start, end in rule.places(text):
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                places.append((start, end, rule.name))
    places.sort()
    found = []
    line, before = 1, 0
    for start, end, name in places[:MOST]:
        line += text.count("\n", before, start)
        before = start
        found.append(Finding(field, name, line, end - start))
    return found


Span = tuple[int, int]


class _Rule(NamedTuple):
    """One kind of thing to be found.

    Attributes:
        places: where a text has some, one after the other.
    """

    name: str
    places: Callable[[str], Iterator[Span]]


def _matching(
    pattern: str, is_real: Callable[[re.Match[str]], bool] = lambda match: True, *, flags: int = 0
) -> Callable[[str], Iterator[Span]]:
    """All matches of a pattern, or of its group `secret`, that are what they look like."""
    compiled = re.compile(pattern, flags)
    group = "secret" if "secret" in compiled.groupindex else 0

    def places(text: str) -> Iterator[Span]:
        return (match.span(group) for match in compiled.finditer(text) if is_real(match))

    return places


# -- tokens that are known by their form ---------------------------------------------------------

_MASKED = re.compile(r"x{4}|X{4}|\*{3}|\.{3}|…|•{2}")
"""What stands in the middle of a secret that somebody has taken out already."""


def _is_unmasked(match: re.Match[str]) -> bool:
    return not _MASKED.search(match[0])


def _token(pattern: str) -> Callable[[str], Iterator[Span]]:
    return _matching(rf"(?<![A-Za-z0-9])(?:{pattern})", _is_unmasked)


_TOKENS = {
    "aws_access_key": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "github_token": r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}",
    "gitlab_token": r"gl(?:pat|dt|rt|ptt|cbt|agent|soat|ft|imt)-[A-Za-z0-9_-]{20,}",
    "slack_token": r"xox[abcdeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,}"
    r"|hooks\.slack\.com/services/[A-Za-z0-9]+/[A-Za-z0-9]+/[A-Za-z0-9]{8,}",
    "api_key": r"sk-(?:proj|svcacct|admin|ant|or)-[A-Za-z0-9_-]{16,}|sk-[A-Za-z0-9]{20,}",
    "google_key": r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}",
    "stripe_key": r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/]{24,}",
    "npm_token": r"npm_[A-Za-z0-9]{30,}",
    "pypi_token": r"pypi-AgE[A-Za-z0-9_-]{16,}",
    "huggingface_token": r"(?:hf|api_org)_[A-Za-z0-9]{30,}",
    "jwt": r"(?<![-_])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
}
"""Sources: the makers' documentation of what their tokens begin with."""

# The line itself is talked about in running text; a key goes on in the next line, or on this one.
_PRIVATE_KEY = (
    r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:\\[nr]|[ \t]{0,8}(?:\r?\n|\Z))(?!\s{0,8}(?:[<*\[(…]|\.\.\.|[xX]{4}))"
    r"|[ \t]{0,8}[A-Za-z0-9+/=]{32})"
)

# -- values under a name that says what they are -------------------------------------------------

_NAMED = re.compile(
    r"""
    (?P<name>
        passw(?:or)?d | passphrase | pwd | (?<=[_"'])pass
        | secret (?: [_-]?key (?:[_-]?base)? )?
        | (?: api | access | private | auth | account | encryption | signing | master | shared )
          [_-]?key
        | (?<!publickey) token
    )
    \d{0,2} (?:\\?["'`])? \]? [ \t]{0,8}
    (?P<sign>  # the first with a type before it
        :(?!:) [ \t]{0,4} [A-Za-z_][\w.\[\]]{0,30} (?:[ \t]?\|[ \t]?\w{1,20})? [ \t]{1,4} =
        | => | := | ={1,3} | :(?!:)
    )
    (?P<blank>[ \t]{0,8})
    """,
    re.X | re.I,
)

_VALUE = re.compile(
    r"""
    [bfru]{0,2} \\? (?P<quote>["'`]) (?P<quoted> (?:(?!(?P=quote))[^\\\r\n]){0,256} )
    | (?P<bare> [^\s"'`,;()\[\]{}<>&]{1,256} ) (?P<next> [ \t]? [(\[{,)]? )
    """,
    re.X,
)

_PLAIN_WORD = re.compile(r"[A-Za-z_]+")
_NAME_OF_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_MEMBER = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\??\.|->|::)[A-Za-z_$][\w$]*)+")
_REFERENCE = re.compile(r"\$(?:env:)?[A-Za-z_]\w*|%\w+%|[!&@:][A-Za-z_]+|[A-Za-z]:[\\/].*")
_TEMPLATE = re.compile(r"\$[{(]|\{[^{}]*\}|<[^<>]*>|\[[^\[\]]*\]|%\(|%[sd]\b")
_PLACE = re.compile(
    r"[a-z][a-z0-9+.-]{1,12}://.*|(?:\.{0,2}|~)(?:/[\w.-]+)+/?"
    r"|(?:arn|aws|env|file|gcp|op|ref|ssm|vault)[:/].*"
)
_PIECE = re.compile(r"[A-Za-z]+\d{0,3}|\d{1,4}")
_SEPARATOR = re.compile(r"[-_./:]")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_TECHNICAL = re.compile(
    r"(?:u?int|float|varchar|char|str|utf|base|sha|md|aes|hs|rs|es|argon|bcrypt|scrypt|oauth|v|pw)"
    r"[\d._-]*[a-z]{0,4}",
    re.I,
)
_SAYS_SO = frozenset(
    "your example changeme placeholder redacted dummy insert replace masked".split()
)
"""Words that only a value has that is none."""

_NO_VALUES = frozenset(
    """
    a access admin an and any api apikey auth b bar basic baz bearer bool bytes c char client
    config credential credentials current data db default demo digest empty encrypted env false
    field foo from get given goes guest hash hashed here hidden id input is key manager me my mysql
    name new nil no none null object old optional param pass passphrase passwd password postgres
    prompt pwd random required root sample secret self some store str string test testing text the
    this todo token tokens true type undefined unset user username value vault x xx xxx yes
    """.split()
)
"""Words of which a value consists that stands for another, or for nothing."""


def _assigned(text: str) -> Iterator[Span]:
    at = 0
    while head := _NAMED.search(text, at):
        at = head.end()
        value = _VALUE.match(text, at)
        if value is None:
            continue
        if value["quote"]:
            group, is_secret = "quoted", _is_quoted_secret(value["quoted"])
        else:
            group, is_secret = "bare", _is_bare_secret(head, value)
        if is_secret:
            at = value.end(group)
            yield value.span(group)


def _is_quoted_secret(value: str) -> bool:
    return (
        len(value) >= 4
        and not any(mark.isspace() for mark in value)
        and not _stands_for_another(value)
        and not _NAME_OF_VARIABLE.fullmatch(value)
        and not _is_key_of_a_text(value)
    )


def _is_key_of_a_text(value: str) -> bool:
    """Whether it is the name of a text to be shown, such as `form.errors.token`."""
    return _MEMBER.fullmatch(value) is not None and not any(mark.isdigit() for mark in value)


def _is_bare_secret(head: re.Match[str], value: re.Match[str]) -> bool:
    """Whether a value without quotes is one, and no name in a program, nor a word of a sentence."""
    bare = value["bare"].rstrip(".")
    equals = "=" in head["sign"] and ">" not in head["sign"]
    password = head["name"].lower().startswith("p") and "key" not in head["name"].lower()
    # A setting of a program or a machine: `--password=letmein`, `JWT_SECRET=letmein`.
    tight = equals and not head["blank"] and not _between(head).endswith((" ", "\t"))
    follows = value["next"].strip()
    if follows and follows in "([{":
        return False
    if len(bare) < (4 if password and equals else 6) or _stands_for_another(bare):
        return False
    if _MEMBER.fullmatch(bare) or _NAME_OF_VARIABLE.fullmatch(bare) or _TECHNICAL.fullmatch(bare):
        return False
    if bare.isdecimal():
        return password or len(bare) >= 16
    if _PLAIN_WORD.fullmatch(bare):
        return tight and len(bare) >= 6 and not follows and "_" not in bare
    pieces = _SEPARATOR.split(bare)
    if len(pieces) > 1 and all(_PIECE.fullmatch(piece) for piece in pieces if piece):
        return equals and "-" in bare and (password or tight)
    return True


def _between(head: re.Match[str]) -> str:
    """What stands between a name and the sign after it."""
    return head.string[head.end("name") : head.start("sign")]


def _stands_for_another(value: str) -> bool:
    """Whether a value is a gap to be filled, a reference, or a word for what belongs there."""
    if not any(mark.isalnum() for mark in value) or _MASKED.search(value):
        return True
    if len(set(value.lower())) == 1 and value[0] in "xX0":
        return True
    if _REFERENCE.fullmatch(value) or _TEMPLATE.search(value) or _PLACE.fullmatch(value):
        return True
    words = [word.lower() for word in _CAMEL.findall(value)]
    if any(word in _SAYS_SO for word in words):
        return True
    plain = not any(mark.isdigit() for mark in value)
    return plain and bool(words) and all(word in _NO_VALUES for word in words)


def _is_bearer(match: re.Match[str]) -> bool:
    value = match["secret"]
    if _stands_for_another(value) or _NAME_OF_VARIABLE.fullmatch(value):
        return False
    pieces = _SEPARATOR.split(value)
    return len(pieces) == 1 or not all(_PLAIN_WORD.fullmatch(p) for p in pieces if p)


def _is_password_of_url(match: re.Match[str]) -> bool:
    value = match["secret"]
    return not (_MASKED.search(value) or _REFERENCE.fullmatch(value) or _TEMPLATE.search(value))


_SECRETS = (
    _Rule("private_key", _matching(_PRIVATE_KEY)),
    *(_Rule(name, _token(pattern)) for name, pattern in _TOKENS.items()),
    _Rule(
        "bearer_token",
        _matching(r"\bbearer[ \t]{1,8}(?P<secret>[A-Za-z0-9._~+/=-]{16,})", _is_bearer, flags=re.I),
    ),
    _Rule(
        "basic_credentials",
        _matching(
            r"""\bauthorization["']?[ \t]{0,4}[:=,][ \t]{0,4}["']?basic[ \t]{1,4}"""
            r"(?P<secret>[A-Za-z0-9+/]{8,}={0,2})",
            lambda match: not _stands_for_another(match["secret"]),
            flags=re.I,
        ),
    ),
    _Rule(
        "url_password",
        _matching(
            r"(?<=[A-Za-z0-9])://[^\s/:@\"'`]{0,128}:(?P<secret>[^\s/@\"'`]{1,128})@",
            _is_password_of_url,
        ),
    ),
    _Rule("assigned_secret", _assigned),
)

# -- persons and machines ------------------------------------------------------------------------

_EMAIL = (
    r"(?<![A-Za-z0-9._%+-])(?P<local>[A-Za-z0-9._%+-]{1,64})@"
    r"(?P<domain>[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,7}\.[A-Za-z]{2,24})(?![A-Za-z0-9_-])"
)
_RESERVED_DOMAIN = re.compile(r"(?:.*\.)?(?:example(?:\.[a-z]+)?|test|invalid|localhost)", re.I)
_OF_CIPHERS = ("openssh.com", "libssh.org")
_OF_FILES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico")

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = rf"(?<![\w.])(?:{_OCTET}\.){{3}}{_OCTET}(?!\w|\.\d)"
_NOBODYS = ("127.", "192.0.2.", "198.51.100.", "203.0.113.", "255.")
"""Loopback, the documentation nets (RFC 5737), masks."""

_NUMBERED = re.compile(
    r"(?:\b(?:v|ver|version|release|section|sect|chapter|clause|iso|ansi|N[0-9]{4})|^#{1,6}|§)"
    r"\W{0,4}\Z",
    re.I | re.M,
)
"""What stands before the number of a version or of a section."""

_INNER_SUFFIX = re.compile(
    r"(?<=[A-Za-z0-9])\.(?:internal|corp|lan|local)(?![A-Za-z0-9_([-]|\.\w)", re.I
)
_IN_HOST = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-")
_EVERYBODYS_HOSTS = frozenset(
    "host.docker.internal gateway.docker.internal kubernetes.docker.internal "
    "metadata.google.internal".split()
)

_HOME = (
    r"(?<![\w.-])(?:(?:file:/{2}|/mnt/[a-z]|/var|/export|/data)?/(?:home|Users)/"
    r"|[A-Za-z]:(?:\\{1,2}|/)Users(?:\\{1,2}|/))(?P<secret>[A-Za-z0-9_][\w.-]{0,63})"
)
_NO_PERSON = frozenset(
    """
    admin all app default developer foo guest linuxbrew localuser me name node public root runner
    shared someone ubuntu user username vscode xxx you youruser yourname yourusername your-user
    your-name your_user your_name your-username your_username
    """.split()
)


def _is_persons(match: re.Match[str]) -> bool:
    domain = match["domain"].lower()
    return not (
        match["local"].lower() == "git"
        or domain in _OF_CIPHERS
        or domain.endswith(_OF_FILES)
        or _RESERVED_DOMAIN.fullmatch(domain)
    )


def _is_address(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 16) : match.start()]
    return not (match[0].startswith(_NOBODYS) or match[0] == "0.0.0.0" or _NUMBERED.search(before))


def _inner_hosts(text: str) -> Iterator[Span]:
    for suffix in _INNER_SUFFIX.finditer(text):
        start = suffix.start()
        while start and suffix.end() - start < 253 and text[start - 1] in _IN_HOST:
            start -= 1
        host = text[start : suffix.end()].lower()
        # `.env.local` is a file.
        if not host.startswith((".", "-")) and host not in _EVERYBODYS_HOSTS:
            yield start, suffix.end()


_PERSONAL = (
    _Rule("email", _matching(_EMAIL, _is_persons)),
    _Rule("ip_address", _matching(_IPV4, _is_address)),
    _Rule("internal_host", _inner_hosts),
    _Rule(
        "home_folder",
        _matching(_HOME, lambda match: match["secret"].lower() not in _NO_PERSON),
    ),
)
