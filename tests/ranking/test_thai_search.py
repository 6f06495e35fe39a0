"""Search in Thai, by words and by pairs of characters."""

from __future__ import annotations

import pytest

from qmd.ranking.query import parse

NOTES = {
    "tea.md": "ชาเขียวชงด้วยน้ำร้อนแปดสิบองศา",
    "rice.md": "หุงข้าวหอมมะลิด้วยน้ำน้อยลง",
    "river.md": "ระดับน้ำในแม่น้ำเพิ่มขึ้นหลังฝนตกหนัก",
    "mail.md": "ใบรับรองของเซิร์ฟเวอร์หมดอายุแล้ว",
    "year.md": "ปีนี้ทีมรับของแพนเธอร์สถอดใจ",
}


@pytest.fixture
def notes(library):
    for path, text in NOTES.items():
        library.write(path, f"{text}\n")
    library.update()
    return library


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("ชาเขียว", "tea.md"),
        ("น้ำร้อน", "tea.md"),
        ("ข้าว", "rice.md"),
        ("แม่น้ำ", "river.md"),
        ("ฝน", "river.md"),
        ("เซิร์ฟเวอร์", "mail.md"),
        ("ใบรับรองหมดอายุ", "mail.md"),
        ("ปี", "year.md"),
        ("แพนเธอร์ส", "year.md"),  # a name that is cut differently within the sentence
    ],
)
def test_a_word_is_found(notes, question, path):
    assert notes.found(question)[0] == path


def test_a_phrase_is_found_as_it_stands(notes):
    assert notes.found('"น้ำร้อน"') == ["tea.md"]
    assert notes.found('"ร้อนน้ำ"') == []
    assert "tea.md" not in notes.found("น้ำ -ชาเขียว")


def test_a_word_ranks_above_pairs_that_are_there_by_chance(library):
    library.write("chance.md", "เขี ขีย ยว\n")
    library.write("word.md", "ดื่มชาเขียวในตอนเช้า\n")
    library.update()
    assert library.found("เขียว") == ["word.md", "chance.md"]


def test_a_query_has_words_and_pairs_and_no_single_characters():
    asked = parse("ชาเขียวร้อน")
    assert {"เขียว", "ร้อน"} <= set(asked.words) == asked.grams
    assert all(len(word) > 1 for word in asked.words)
    assert parse("ปี").words == ("ปี",)
