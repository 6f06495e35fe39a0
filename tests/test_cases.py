"""Cases recorded from the reference tool."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qmd.ranking import query
from qmd.text import globs, hashes, markdown, paths

FOLDER = Path(__file__).parents[2] / "shared" / "cases"

OUR_TITLES = {
    # No later heading takes the place of the first one.
    "# 📝 Notes\n\n## Meeting Summary\n\nContent": "📝 Notes",
    # The title in the frontmatter comes first.
    "---\ntitle: FM Title\n---\n# Real": "FM Title",
    "---\ntitle: FM Title\n---\nbody": "FM Title",
    # An underlined heading is one.
    "Setext\n===\n": "Setext",
    # What stands in a code fence is no heading.
    "```\n# in code\n```\n# real": "real",
}
"""Titles of texts where our rules differ from those of the reference on purpose."""


def recorded(file, name):
    """The cases of one function, or none if the folder is not there."""
    path = FOLDER / file
    if not path.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason="no recorded cases here"))]
    return json.loads(path.read_text(encoding="utf-8"))[name]


@pytest.mark.parametrize("case", recorded("paths.json", "normalizeVirtualPath"))
def test_a_virtual_path_is_normalised_as_recorded(case):
    assert paths.normalise(case["input"]) == case["expected"]


@pytest.mark.parametrize("case", recorded("paths.json", "parseVirtualPath"))
def test_a_virtual_path_is_taken_apart_as_recorded(case):
    expected = case["expected"]
    assert paths.parse_virtual(case["input"]) == (
        expected
        and paths.VirtualPath(
            expected["collectionName"], expected["path"], expected.get("indexName")
        )
    )


@pytest.mark.parametrize("case", recorded("paths.json", "splitGlobMask"))
def test_a_mask_is_split_as_recorded(case):
    assert globs.split_mask(case["input"]) == case["expected"]


@pytest.mark.parametrize("case", recorded("paths.json", "extractTitle"))
def test_a_title_is_as_recorded_or_as_our_rules_say(case):
    text = case["content"]
    found = markdown.title(text, case["filename"], markdown.frontmatter(text))
    assert found == OUR_TITLES.get(text, case["expected"])


def test_our_titles_differ_from_the_recorded_ones():
    cases = recorded("paths.json", "extractTitle")
    if not FOLDER.is_dir():
        pytest.skip("no recorded cases here")
    differing = {case["content"] for case in cases} & set(OUR_TITLES)
    assert differing == set(OUR_TITLES)
    assert all(OUR_TITLES.get(case["content"]) != case["expected"] for case in cases)


@pytest.mark.parametrize("case", recorded("paths.json", "normalizeDocid"))
def test_a_docid_is_known_as_recorded(case):
    expected = case["expected"].lower() if case["isDocid"] else None
    assert hashes.parse_docid(case["input"]) == expected


@pytest.mark.parametrize("case", recorded("query_syntax.json", "validateSemanticQuery"))
def test_a_query_by_meaning_is_checked_as_recorded(case):
    assert query.check_semantic(case["query"]) == case["expected"]


@pytest.mark.parametrize("case", recorded("query_syntax.json", "validateLexQuery"))
def test_a_keyword_query_is_checked_as_recorded(case):
    assert query.check_lexical(case["query"]) == case["expected"]
