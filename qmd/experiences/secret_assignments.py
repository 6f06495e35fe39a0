"""Detection of secrets in assignments: `password = …`, `${TOKEN:-…}`.

A word near "password" is not a secret by itself: its value has to look like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Span = tuple[int, int]
"""Start and end of a part of a text."""

MASKED = re.compile(r"x{4}|X{4}|[-_][xX]{3}\b|\*{3}|\.{3}|…|•{2}")
"""Placeholder in the middle of a secret that has been removed already."""

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

PLAIN_WORD = re.compile(r"[A-Za-z_]+")
NAME_OF_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_MEMBER = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\??\.|->|::)[A-Za-z_$][\w$]*)+")
REFERENCE = re.compile(r"\$(?:env:)?[A-Za-z_]\w*|%\w+%|[!&@:][A-Za-z_]+|[A-Za-z]:[\\/].*")
TEMPLATE = re.compile(r"\$[{(]|\{[^{}]*\}|<[^<>]*>|\[[^\[\]]*\]|%\(|%[sd]\b")
_PLACE = re.compile(
    r"[a-z][a-z0-9+.-]{1,12}://.*|(?:\.{0,2}|~)(?:/[\w.-]+)+/?"
    r"|(?:arn|aws|env|file|gcp|op|ref|ssm|vault)[:/].*"
)
_PIECE = re.compile(r"[A-Za-z]+\d{0,3}|\d{1,4}")
SEPARATOR = re.compile(r"[-_./:]")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_TECHNICAL = re.compile(
    r"(?:u?int|float|varchar|char|str|utf|base|sha|md|aes|hs|rs|es|argon|bcrypt|pbkdf|scrypt|oauth|v|pw)"
    r"[\d._-]*[a-z]{0,4}",
    re.I,
)
_SAYS_SO = frozenset(
    "your example changeme placeholder redacted dummy insert replace masked".split()
)
"""Words that mark a value as an example."""

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
"""Words of values that are placeholders."""

_MAY_BE_A_PHRASE = frozenset(("passphrase", "passwd", "password", "pwd", "pass", "secret"))
_IN_PHRASES = re.compile(r"[^\W_](?:[\w!@#$%^&*+=-]{0,30}[\w!@#$%^&*+=])?", re.ASCII)
_AMOUNT = re.compile(r"v?\d+(?:[._-]\d+)*-?[a-z]{0,6}", re.I)
_TELLS = re.compile(r"auth|contras|credential|kenn|login|passw|phrase|secret|senha|token", re.I)
_OF_SENTENCES = frozenset(
    """
    a about account add address after again all already also always an and another any app are
    as at automatically be been before below between browser build but button by can cannot
    change changed character characters check choose click cluster code command company config
    configuration configured confirm continue copy could create current daily data database day
    days default del delete deploy der did die different digits directory do docker does each
    echo edit el email empty en encrypted enter environment error every example expired expires
    fail failed fehlt field file first folder for forgot forgotten from generated get git given
    go has hash hashed have here hidden hide hint how http https id if in incorrect input
    install invalid is ist it its job keep kein key keys kubernetes la least leave length les
    letters like local lock long looping lower make manager manual manually mapped match matches
    may message minimum mismatch missing month monthly more mot mounted must my name need needed
    never new next nicht no nobody none not now npm null number of off old on once one only
    opaque open openssl option optional or other our out page paste per pero plain please print
    private production profile prompt protected provider public pull push que random read
    recovery repeat required reset retry role rotate rotated rotation run same save screen
    script second seconds secure see server service session set setting shared short should show
    shown sign size so some staging start state stop stopped stored string strong such sudo sure
    switch system temporary test tests text than that the their them then there these they this
    through time to today token too try two type und unknown unset until update upper uppercase
    url use used user username using valid value variable vault verify version very via visible
    wait warning was weak week weekly were what when where which while who will with without
    word words working would write written wrong year yet you your zu zum
    """.split()
)
"""Words of sentences, labels and commands about passwords, which a passphrase lacks."""

_INFLECTED = re.compile(r"[a-z]{2,}(?:ed|ing|ly|tion|ment)", re.I)
"""Words that a short sentence is likely to have, unlike a passphrase of three words."""

_DEFAULTS = (
    re.compile(
        r"""\$\{(?P<name>[A-Za-z_]\w{0,63}):?[-=]["']?(?P<value>[^{}\s"'`]{1,256})["']?\}"""
    ),
    re.compile(
        r"""(?:(?:os\.)?getenv|(?:os\.)?environ\.get|env\.get|ENV\.fetch|\benv)\("""
        r"""[ \t]{0,4}["'](?P<name>\w{1,64})["'],[ \t]{0,4}["'](?P<value>[^"'\\\s]{1,256})["']"""
    ),
    re.compile(
        r"""(?:process\.|import\.meta\.|\b)env(?:\.|\[["'])(?P<name>\w{1,64})(?:["']\])?"""
        r"""[ \t]{0,4}(?:\|\||\?\?)[ \t]{0,4}["'`](?P<value>[^"'`\\\s]{1,256})["'`]"""
    ),
)
_DEFAULT_FOLLOWS = re.compile(r"\$\{\w{0,64}:\Z")
_ASSIGNED = re.compile(
    r"""(?P<name>[A-Za-z_][\w-]{0,63})["'\]]{0,2}[ \t]{0,4}[:=]{1,2}[ \t]{0,4}["'`]?\Z"""
)


def find_assignments(text: str) -> Iterator[Span]:
    """Find the secret values that follow their names."""
    at = 0
    while head := _NAMED.search(text, at):
        at = head.end()
        value = _VALUE.match(text, at)
        if value is None or _DEFAULT_FOLLOWS.search(text, max(0, at - 67), at):
            continue
        if value["quote"]:
            group, is_secret = "quoted", _is_quoted_secret(value["quoted"])
            is_secret = is_secret or _is_phrase(head, value)
        else:
            group, is_secret = "bare", _is_bare_secret(head, value)
        if is_secret:
            at = value.end(group)
            yield value.span(group)


def _is_quoted_secret(value: str) -> bool:
    return (
        len(value) >= 4
        and not any(mark.isspace() for mark in value)
        and not is_placeholder(value)
        and not NAME_OF_VARIABLE.fullmatch(value)
        and not _is_key_of_a_text(value)
    )


def _is_phrase(head: re.Match[str], value: re.Match[str]) -> bool:
    """Check that a value of several words is a passphrase, not a sentence, label or command."""
    phrase, end = value["quoted"], value.end("quoted")
    if head["name"].lower() not in _MAY_BE_A_PHRASE or is_placeholder(phrase):
        return False
    if not value.string[end : end + 2].lstrip("\\").startswith(value["quote"]):
        return False
    words = phrase.split()
    if not all(map(_IN_PHRASES.fullmatch, words)) or _OF_SENTENCES & set(phrase.lower().split()):
        return False
    if any(_TELLS.search(word) for word in words):
        return False
    plain = [word for word in words if word.isalpha() and len(word) >= 3]
    if all(word in plain or word.isdecimal() for word in words):
        short = len(plain) == 3
        if len(plain) < 3 or (short and any(map(_INFLECTED.fullmatch, plain))):
            return False
        return len({word.istitle() for word in plain}) == 1
    return len(words) >= 2 and any(map(_is_odd, words))


def _is_odd(word: str) -> bool:
    """Check for a word with digits and more that is no version, amount or method name."""
    mixed = any(map(str.isdigit, word)) and not word.isdecimal()
    return mixed and not (_AMOUNT.fullmatch(word) or _TECHNICAL.fullmatch(word))


def _is_key_of_a_text(value: str) -> bool:
    """Check that the value is the key of a translated text, such as `form.errors.token`."""
    return _MEMBER.fullmatch(value) is not None and not any(mark.isdigit() for mark in value)


def _is_bare_secret(head: re.Match[str], value: re.Match[str]) -> bool:
    """Check that an unquoted value is a secret, not a name in a program or a word of a sentence."""
    bare = value["bare"].rstrip(".")
    equals = "=" in head["sign"] and ">" not in head["sign"]
    password = head["name"].lower().startswith("p") and "key" not in head["name"].lower()
    # A setting of a program or a machine: `--password=letmein`, `JWT_SECRET=letmein`.
    tight = equals and not head["blank"] and not _between(head).endswith((" ", "\t"))
    follows = value["next"].strip()
    if follows and follows in "([{":
        return False
    if len(bare) < (4 if password and equals else 6) or is_placeholder(bare):
        return False
    if _MEMBER.fullmatch(bare) or NAME_OF_VARIABLE.fullmatch(bare) or _TECHNICAL.fullmatch(bare):
        return False
    if bare.isdecimal():
        return password or len(bare) >= 16
    if PLAIN_WORD.fullmatch(bare):
        return tight and len(bare) >= 6 and not follows and "_" not in bare
    pieces = SEPARATOR.split(bare)
    if len(pieces) > 1 and all(_PIECE.fullmatch(piece) for piece in pieces if piece):
        return equals and "-" in bare and (password or tight)
    return True


def find_defaults(text: str) -> Iterator[Span]:
    """Yield default values of unset variables, such as `${DB_PASSWORD:-value}`."""
    for pattern in _DEFAULTS:
        for found in pattern.finditer(text):
            before = _ASSIGNED.search(text, max(0, found.start() - 80), found.start())
            names = [found["name"], *([before["name"]] if before else [])]
            named = any(_NAMED.search(f"{name}=") for name in names)
            if named and _is_quoted_secret(found["value"]):
                yield found.span("value")


def _between(head: re.Match[str]) -> str:
    """Return the text between a name and the sign after it."""
    return head.string[head.end("name") : head.start("sign")]


def is_placeholder(value: str) -> bool:
    """Check that a value is a placeholder, a reference, or a word for the missing value."""
    if not any(mark.isalnum() for mark in value) or MASKED.search(value):
        return True
    if len(set(value.lower())) == 1 and value[0] in "xX0":
        return True
    if REFERENCE.fullmatch(value) or TEMPLATE.search(value) or _PLACE.fullmatch(value):
        return True
    words = [word.lower() for word in _CAMEL.findall(value)]
    if any(word in _SAYS_SO for word in words):
        return True
    plain = not any(mark.isdigit() for mark in value)
    return plain and bool(words) and all(word in _NO_VALUES for word in words)
