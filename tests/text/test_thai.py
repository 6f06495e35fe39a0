"""Words and characters of Thai."""

from __future__ import annotations

import subprocess
import sys

import pytest

from qmd.text import thai, tokenizer

TEA = "ชาเขียวชงด้วยน้ำร้อน"
"""Green tea is made with hot water."""


def grams(text):
    return tokenizer.split(text, segmented=False)


def test_a_character_is_a_letter_with_its_marks():
    assert grams("ดื่มน้ำ") == ["ดื่ม", "มน้ำ", "น้ำ"]
    assert all(map(tokenizer.is_gram, grams(TEA)))


def test_a_long_word_comes_before_the_pair_that_it_starts_with():
    raw = tokenizer.split(TEA)
    assert [word for word in raw if not tokenizer.is_segment(word)] == grams(TEA)
    found = [(word, raw[at + 1]) for at, word in enumerate(raw) if tokenizer.is_segment(word)]
    assert ("เขียว", "เขี") in found
    assert all(tokenizer.pieces(word)[0] == 0 for word, _ in found)
    assert all(tokenizer.comes_before(word) for word, _ in found)


@pytest.mark.parametrize("run", ["ก", "กา", "ั", "ำำำำ", "ไทย日本ไทย", "กั" * 50, "a" + "ก้" * 40])
def test_what_is_cut_is_all_there(run):
    pairs = thai.parts(run, with_words=False)
    firsts = [thai.CHARACTER.match(pair)[0] for pair in pairs]
    assert "".join(firsts) == run
    assert [each for each in thai.parts(run) if len(thai.CHARACTER.findall(each)) < 3] == pairs


def test_the_vowel_of_water_is_one_however_it_is_written():
    """Its sign is one character, or a circle and a long a; folding parts it."""
    assert grams("นํา") == grams("นำ") == ["นำ"]
    folded = tokenizer.fold("นำทาง")
    assert len(tokenizer.characters(folded)) == len(tokenizer.characters("นำทาง")) == 4


def test_a_pair_of_other_scripts_has_two_characters_as_before():
    assert [tokenizer.is_pair(word) for word in ("日本", "日", "กั", "กัน", "กันก", "ab")] == [
        *(True, False, False, True, False, False),
    ]


def test_budoux_is_loaded_for_thai_alone():
    script = (
        "import sys\n"
        "from qmd.ranking.query import parse\n"
        "parse('green tea café 日本語 한국어')\n"
        "assert not {'budoux', 'qmd.text.thai'} & set(sys.modules)\n"
        f"parse('{TEA}')\n"
        "assert 'budoux' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
