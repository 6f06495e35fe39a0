"""Dates of documents: front matter, names of files, times of files."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from qmd.text import markdown

MODIFIED = datetime(2020, 5, 6, 7, 8, 9)


def dated(yaml="", path="plain.md"):
    text = f"---\n{yaml}\n---\n" if yaml else ""
    return markdown.dated(path, MODIFIED, markdown.frontmatter(text))


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("date: 2024-01-02", datetime(2024, 1, 2)),
        ("date: 20240102", datetime(2024, 1, 2)),
        ("date: 2024-02", datetime(2024, 2, 1)),
        ("date: 2024/01/02 10:30", datetime(2024, 1, 2, 10, 30)),
        ("date: 2024-01-02T10:00:00+02:00", datetime(2024, 1, 2, 8)),
        ("updated: 2025-01-02\ncreated: 2024-01-02", datetime(2024, 1, 2)),
        ("date: soon\nmodified: 2024-01-02", datetime(2024, 1, 2)),
        ("date: May 17, 2024", datetime(2024, 5, 17)),
        ("Date: Friday, 17th of May 2024", datetime(2024, 5, 17)),
        ("date: Fri, 17 May 2024 10:30:00 +0200", datetime(2024, 5, 17, 8, 30)),
        ("date: 17-May-2024", datetime(2024, 5, 17)),
        ("date: 17.5.2024", datetime(2024, 5, 17)),
        ("date: 5/17/2024", datetime(2024, 5, 17)),
        ("date: 17/05/2024 9:05 pm", datetime(2024, 5, 17, 21, 5)),
        ("date: 2024-5-7", datetime(2024, 5, 7)),
        ("date: 2024年5月17日", datetime(2024, 5, 17)),
        ("date: '[[2024-05-17]]'", datetime(2024, 5, 17)),
        ("date: '[[May 17th, 2024]]'", datetime(2024, 5, 17)),
        ("created: 1596374871110", datetime(2020, 8, 2, 13, 27, 51, 110000)),
        ("created: '1596374871'", datetime(2020, 8, 2, 13, 27, 51)),
        ("date: 202405171030", datetime(2024, 5, 17, 10, 30)),
        ("date: 20240517103059", datetime(2024, 5, 17, 10, 30, 59)),
        ("date: <2024-05-17 Fri 10:30>", datetime(2024, 5, 17, 10, 30)),
        ("date: 2024-05-17 10:30:00 UTC", datetime(2024, 5, 17, 10, 30)),
        ("date: Sept. 2024", datetime(2024, 9, 1)),
        ("date: 2024", datetime(2024, 1, 1)),
        ("date: [soon, 2024-01-02]", datetime(2024, 1, 2)),
        ("date_created: 2024-01-02", datetime(2024, 1, 2)),
        ("lastmod: 2024-01-02", datetime(2024, 1, 2)),
        ("date: {created: 2024-01-02, updated: 2025-01-02}", datetime(2024, 1, 2)),
        ("date: May 17, 2024 → May 19, 2024", datetime(2024, 5, 17)),
        ("date: Fri May 17 10:30:00 2024 +0200", datetime(2024, 5, 17, 8, 30)),
        ("date: Fri May 17 10:30:00 UTC 2024", datetime(2024, 5, 17, 10, 30)),
        ("date: 2024년 5월 17일", datetime(2024, 5, 17)),
        ("date: 17. Mai 2024 um 10:30 Uhr", datetime(2024, 5, 17, 10, 30)),
        ("date: Di., 5. März 2024", datetime(2024, 3, 5)),
        ("date: mardi 5 mars 2024", datetime(2024, 3, 5)),
        ("date: mar 5 marzo 2024", datetime(2024, 3, 5)),
        ("date: 1er août 2024", datetime(2024, 8, 1)),
        ("date: Segunda-feira, 17 de junho de 2024", datetime(2024, 6, 17)),
        ("date: 17 мая 2024 г.", datetime(2024, 5, 17)),
        ("date: styczeń 2024", datetime(2024, 1, 1)),
    ],
)
def test_a_document_is_from_the_date_in_its_frontmatter(yaml, expected):
    assert dated(yaml, "2020-01-01.md") == expected


@pytest.mark.parametrize(
    "date",
    [
        "2024-99-99",
        "20249999",
        "9701012312345",
        "2024-13",
        "1",
        "true",
        "[soon]",
        "03/04/2024",
        "31.02.2024",
        "May 2024 was warm",
        "un mai 2024 chaud",
        "mai",
        "5 mars 2024 mars 2025",
        "{{date}}",
        "202413171030",
        "1999999999",
        "0001-01-01T00:00:00+14:00",
    ],
)
def test_a_date_in_the_frontmatter_that_is_none_does_not_count(date):
    assert dated(f"date: {date}") == MODIFIED
    matter = markdown.frontmatter(f"---\ndate: {date}\n---\n")
    told = markdown.undated(matter)
    assert (told is None) == (date == "true")  # `published: true` is no mistake
    assert told is None or told.endswith("' is not a date; write it as 2024-05-17")


def test_a_moment_with_a_zone_is_told_in_utc():
    moment = datetime(2024, 1, 2, 1, tzinfo=timezone(timedelta(hours=3)))
    assert markdown.parsed_date(moment) == datetime(2024, 1, 1, 22)


@pytest.mark.parametrize(
    "name", ["2024-01-02 a.md", "log/a_20240102.md", "2024-13-45 2024.01.02", "202401021030 a.md"]
)
def test_without_frontmatter_a_document_is_from_the_date_in_its_name(name):
    assert dated(path=name) == datetime(2024, 1, 2)


@pytest.mark.parametrize("name", ["2024-01-02/a.md", "120240102.md", "2024-01-021.md", "a.md"])
def test_without_a_date_a_document_is_from_its_last_change(name):
    assert dated(path=name) == MODIFIED
