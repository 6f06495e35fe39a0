"""Detection of secrets and personal data in submitted texts.

A finding is reported by field, rule, line and length, and never repeats the value: the text is
refused, not edited. A word near "password" is not a secret by itself: its value has to look like
one, and `<token>`, `***`, `$VAR`, `os.environ["KEY"]`, `config.token` and `your_password` do not.

Every pattern takes linear time: repetitions are bounded, or stand at the end, or begin with a
lookbehind that excludes a running one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from qmd.experiences.secret_assignments import (
    MASKED,
    NAME_OF_VARIABLE,
    PLAIN_WORD,
    REFERENCE,
    SEPARATOR,
    TEMPLATE,
    Span,
    find_assignments,
    find_defaults,
    is_placeholder,
)
from qmd.named_tuple import NamedTuple

MAX_FINDINGS = 50
"""Findings reported for one text at most."""


class SecretFinding(NamedTuple):
    """A part of a text that has to be removed.

    Attributes:
        rule: what it seems to be.
        line: on which it begins, from 1.
        length: characters.
    """

    field: str
    rule: str
    line: int
    length: int


def find_secrets(field: str, text: str, *, strict: bool) -> list[SecretFinding]:
    """Find the secrets and personal data of a text, in order.

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
    for start, end, name in places[:MAX_FINDINGS]:
        line += text.count("\n", before, start)
        before = start
        found.append(SecretFinding(field, name, line, end - start))
    return found


class _Rule(NamedTuple):
    """Detection rule of one kind of secret.

    Attributes:
        places: where a text has some, one after the other.
    """

    name: str
    places: Callable[[str], Iterator[Span]]


def _matching(
    pattern: str, is_real: Callable[[re.Match[str]], bool] = lambda match: True, *, flags: int = 0
) -> Callable[[str], Iterator[Span]]:
    """Yield the matches of a pattern, or of its group `secret`, that pass its check."""
    compiled = re.compile(pattern, flags)
    group = "secret" if "secret" in compiled.groupindex else 0

    def places(text: str) -> Iterator[Span]:
        return (match.span(group) for match in compiled.finditer(text) if is_real(match))

    return places


# -- tokens that are known by their form ---------------------------------------------------------


def _is_unmasked(match: re.Match[str]) -> bool:
    return not MASKED.search(match[0])


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
"""Token patterns. Sources: the makers' documentation of their prefixes."""

# Running text may quote the line itself; a key goes on in the next line, or on this one.
_PRIVATE_KEY = (
    r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:\\[nr]|[ \t]{0,8}(?:\r?\n|\Z))(?!\s{0,8}(?:[<*\[(…]|\.\.\.|[xX]{4}))"
    r"|[ \t]{0,8}[A-Za-z0-9+/=]{32})"
)


def _is_bearer(match: re.Match[str]) -> bool:
    value = match["secret"]
    if is_placeholder(value) or NAME_OF_VARIABLE.fullmatch(value):
        return False
    pieces = SEPARATOR.split(value)
    return len(pieces) == 1 or not all(PLAIN_WORD.fullmatch(p) for p in pieces if p)


def _is_password_of_url(match: re.Match[str]) -> bool:
    value = match["secret"]
    return not (MASKED.search(value) or REFERENCE.fullmatch(value) or TEMPLATE.search(value))


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
            lambda match: not is_placeholder(match["secret"]),
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
    _Rule("assigned_secret", find_defaults),
    _Rule("assigned_secret", find_assignments),
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
"""Prefixes of loopback addresses, documentation networks (RFC 5737) and masks."""

_NUMBERED = re.compile(
    r"(?:\b(?:v|ver|version|release|section|sect|chapter|clause|iso|ansi|N[0-9]{4})|^#{1,6}|§)"
    r"\W{0,4}\Z",
    re.I | re.M,
)
"""Text before the number of a version or of a section."""

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
