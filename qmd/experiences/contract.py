"""Contract of experience records: validation of submissions and queries, all faults at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from qmd.experiences import secrets
from qmd.experiences.secrets import SecretFinding
from qmd.named_tuple import NamedTuple

LONGEST_TITLE = 500
LONGEST_TEXT = 65_536
MOST_KEYWORDS, LONGEST_KEYWORD = 100, 100
LONGEST_QUERY = 2_000
USUAL_PAGE, LARGEST_PAGE = 10, 50
"""Default and maximum size of a page. Source of all limits: the contract for experience records."""

REQUIRED = ("title", "problem_description", "solution")
PROSE = {"problem_description": True, "root_cause": True, "solution": True, "context": False}
"""Texts of a record besides its title, and whether a given one may not be blank."""

SUBMITTED = ("title", *PROSE, "keywords")
ASKED = ("keywords", "limit", "offset")


class Submission(NamedTuple):
    """A submitted record of a solved problem."""

    title: str
    problem_description: str
    root_cause: str | None
    solution: str
    context: str | None
    keywords: tuple[str, ...]


class RecordRequest(NamedTuple):
    """A request for records, with its page."""

    keywords: str
    limit: int
    offset: int


class Violation(NamedTuple):
    """An invalid value.

    Attributes:
        kind: 'missing', 'unsanitized', or None: it is another fault.
    """

    field: str
    message: str
    kind: str | None = None


class ContractViolations(Exception):
    """A submission or query that violates the contract.

    Attributes:
        code: of the contract.
        violations: all of them.
        findings: what has to be taken out of the texts.
    """

    def __init__(
        self, code: str, violations: Sequence[Violation], findings: Sequence[SecretFinding] = ()
    ) -> None:
        messages = [each.message for each in violations]
        if code == "MISSING_REQUIRED_FIELDS":
            missing = [each.field for each in violations if each.kind == "missing"]
            messages = [f"Missing required fields: {', '.join(missing)}"]
        super().__init__("Validation failed" if code == "VALIDATION_ERROR" else messages[0])
        self.code = code
        self.violations = tuple(violations)
        self.findings = tuple(findings)


def submission(given: Mapping[str, object], misnamed: Sequence[Violation] = ()) -> Submission:
    """Validate a submission.

    Args:
        misnamed: what came besides, and is no field.

    Raises:
        ContractViolations: fields are missing or wrong, or contain secrets.
    """
    given = _stated(given, SUBMITTED)
    violations = [*misnamed]
    violations += [
        Violation(field, f"{_label(field)} is required", "missing")
        for field in REQUIRED
        if field not in given
    ]
    texts: dict[str, str] = {}
    for field in ("title", *PROSE):
        if field not in given:
            continue
        problem = _text_problem(field, given[field])
        if problem is None:
            texts[field] = str(given[field])
        else:
            violations.append(Violation(field, f"{_label(field)} {problem}"))
    keywords, problems = _keywords(given.get("keywords"))
    violations += [Violation("keywords", problem) for problem in problems]
    findings = [
        finding
        for field, text in {**texts, "keywords": "\n".join(keywords)}.items()
        for finding in secrets.find_secrets(field, text, strict=field == "context")
    ]
    violations += [
        Violation(field, f"{_label(field)} contains unsanitized code snippet", "unsanitized")
        for field in dict.fromkeys(finding.field for finding in findings)
    ]
    if violations:
        raise ContractViolations(_code(violations), violations, findings)
    return Submission(
        texts["title"].strip(),
        texts["problem_description"],
        texts.get("root_cause"),
        texts["solution"],
        texts["context"] if texts.get("context", "").strip() else None,
        tuple(dict.fromkeys(keyword.lower() for keyword in keywords)),
    )


def _code(violations: Sequence[Violation]) -> str:
    fields = {each.field for each in violations}
    if any(each.kind == "missing" for each in violations):
        return "MISSING_REQUIRED_FIELDS"
    if fields == {"title"}:
        return "INVALID_TITLE"
    if fields == {"context"} and all(each.kind == "unsanitized" for each in violations):
        return "CONTEXT_NOT_SANITIZED"
    return "VALIDATION_ERROR"


def query(given: Mapping[str, object], misnamed: Sequence[Violation] = ()) -> RecordRequest:
    """Validate a query.

    Args:
        misnamed: what came besides, and is no field.

    Raises:
        ContractViolations: something is missing or wrong.
    """
    given = _stated(given, ASKED)
    violations = [*misnamed]
    keywords = given.get("keywords")
    if isinstance(keywords, list | tuple) and all(isinstance(each, str) for each in keywords):
        keywords = " ".join(keywords)
    wrong = f"Keywords must be a string of 1 to {LONGEST_QUERY} characters that is not blank"
    if not isinstance(keywords, str) or not keywords.strip() or len(keywords) > LONGEST_QUERY:
        violations.append(Violation("keywords", wrong))
    elif not _is_storable(keywords):
        violations.append(Violation("keywords", "Keywords must be valid Unicode text"))
    limit = given.get("limit", USUAL_PAGE)
    if not _is_integer(limit) or not 1 <= limit <= LARGEST_PAGE:
        wrong = f"Limit must be a whole number from 1 to {LARGEST_PAGE}"
        violations.append(Violation("limit", wrong))
    offset = given.get("offset", 0)
    if not _is_integer(offset) or offset < 0:
        violations.append(Violation("offset", "Offset must be a whole number of at least 0"))
    if violations:
        codes = {"keywords": "INVALID_KEYWORDS", "limit": "INVALID_LIMIT"}
        fields = {each.field for each in violations}
        code = codes.get(fields.pop(), "VALIDATION_ERROR") if len(fields) == 1 else None
        raise ContractViolations(code or "VALIDATION_ERROR", violations)
    assert isinstance(keywords, str)
    assert _is_integer(limit)
    assert _is_integer(offset)
    return RecordRequest(keywords, limit, offset)


def _stated(given: Mapping[str, object], fields: Sequence[str]) -> dict[str, object]:
    """Drop fields given as nothing."""
    return {name: given[name] for name in fields if given.get(name) is not None}


def _text_problem(field: str, value: object) -> str | None:
    """Return the reason for an invalid text, or None."""
    if not isinstance(value, str):
        return "must be a string"
    if not _is_storable(value):
        return "must be valid Unicode text"
    if field == "title":
        if not 1 <= len(value.strip()) <= LONGEST_TITLE:
            return f"must be 1 to {LONGEST_TITLE} characters that are not all blank"
        return None
    if PROSE[field] and not value.strip():
        return "must not be blank"
    if len(value) > LONGEST_TEXT:
        return f"must be at most {LONGEST_TEXT} characters"
    return None


def _keywords(value: object) -> tuple[list[str], list[str]]:
    """Validate the keywords, and strip their blanks."""
    if value is None:
        return [], []
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        return [], ["Keywords must be an array of strings"]
    keywords = [each.strip() for each in value]
    problems = []
    if len(keywords) > MOST_KEYWORDS:
        problems.append(f"Keywords must be at most {MOST_KEYWORDS}")
    if not all(1 <= len(each) <= LONGEST_KEYWORD for each in keywords):
        problems.append(f"Keywords must be 1 to {LONGEST_KEYWORD} characters each")
    if not all(map(_is_storable, keywords)):
        problems.append("Keywords must be valid Unicode text")
    return ([] if problems else keywords), problems


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_storable(text: str) -> bool:
    """Check that a text can be written as UTF-8 and searched."""
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a pair of UTF-16
        return False
    return "\0" not in text


def _label(field: str) -> str:
    return field.replace("_", " ").capitalize()


def heading(title: str) -> str:
    """Write a title on one line."""
    return " ".join(title.split())


class RenderedRecord(NamedTuple):
    """A submission as Markdown, with the position of each field.

    Attributes:
        text: Markdown; equal submissions have equal texts.
        parts: (characters before, characters) of each of its texts.
    """

    text: str
    parts: dict[str, tuple[int, int]]


def record_markdown(submitted: Submission) -> RenderedRecord:
    """Render a submission as Markdown that contains each of its texts unchanged."""
    text = f"# {heading(submitted.title)}\n"
    parts = {}
    for field in PROSE:
        said = getattr(submitted, field)
        if said is not None:
            text += f"\n## {_label(field)}\n\n"
            parts[field] = len(text), len(said)
            text += f"{said}\n"
    if submitted.keywords:
        text += f"\n## Keywords\n\n{', '.join(submitted.keywords)}\n"
    return RenderedRecord(text, parts)
