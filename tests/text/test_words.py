"""Text to words, words to pieces."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qmd.text import tokenizer

MIXED = st.text(
    alphabet=st.one_of(st.characters(codec="utf-8"), st.sampled_from("aB1_ \n\0é日本カ한ภา\u0301"))
)


def pieces_of(text):
    return [tokenizer.pieces(word) for word in tokenizer.split(text)]


def terms(word):
    return [folded for folded, _ in tokenizer.pieces(word)[1]]


def test_what_is_no_letter_digit_mark_or_underscore_separates_words():
    assert tokenizer.split("Tea, (green) tea/2.5 user@host a_b\tx") == [
        *("Tea", "green", "tea", "2", "5", "user", "host", "a_b", "x")
    ]


def test_a_nul_separates_words():
    assert tokenizer.split("tea\0pot") == ["tea", "pot"]


def test_a_symbol_beyond_ascii_is_a_word_that_takes_no_position():
    assert tokenizer.split("tea🍵time — “ok”… 3€ § 5") == [
        *("tea", "🍵", "time", "ok", "3", "€", "§", "5")
    ]
    assert pieces_of("€") == [(0, (("€", 0),))]


def test_lines_of_tables_and_trees_are_no_symbols():
    assert tokenizer.split("├── tea │ █") == ["tea"]


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("notepad++ (cc++)", ["notepad++", "cc++"]),
        ("an A+ for Google+,", ["A+", "Google+"]),
        ("The A* algorithm", ["A*"]),
        (".NET and (.gitignore)", [".NET", ".gitignore"]),
        ("@user, $HOME", ["@user", "$HOME"]),
        ("cmd --flag `--dry-run`", ["--flag", "--dry"]),
        ("#tag #12", ["#tag", "#12"]),
    ],
)
def test_a_word_with_marks_comes_before_itself(text, marked):
    words = tokenizer.split(text)
    assert [word for word in words if tokenizer.is_marked(word)] == marked
    for word in marked:
        at = words.index(word)
        assert tokenizer.pieces(word) == (0, ((word.lower(), 0),))
        assert words[at + 1 + tokenizer.is_joined(words[at + 1])] == word.strip(".@$#-+*")


@pytest.mark.parametrize(
    "text",
    [
        *("*word*", "**bold**", "## Title ##", "a.b", "me@home.org", "page#part"),
        *("(#part)", "x--y", "1.5", "a+b", "5*3", "~.x", "a-b-c-d", "--- x"),
    ],
)
def test_marks_of_markdown_and_addresses_make_no_other_word(text):
    assert not any(tokenizer.is_marked(word) for word in tokenizer.split(text))


def test_a_letter_with_the_marks_of_a_language_is_only_that():
    assert tokenizer.split("C++20, C# and F#") == ["C++", "20", "C#", "and", "F#"]
    assert tokenizer.pieces("C++") == (1, (("c++", 0),))


@pytest.mark.parametrize(
    "text", ["e-mail", "E-Mail", "utf-8", "e-mail-address", "(on-line)", "x_y-z"]
)
def test_two_words_joined_by_a_hyphen_are_also_one_form(text):
    [joined] = filter(tokenizer.is_joined, tokenizer.split(text))
    assert tokenizer.pieces(joined) == (0, ((joined.lower(), 0),))


@pytest.mark.parametrize(
    "text", ["2024-05-06", "state-of-the-art", "a/on-line", "on-line/a", "on-line.md", "x- y", "-x"]
)
def test_dates_and_addresses_are_not_joined(text):
    assert not any(map(tokenizer.is_joined, tokenizer.split(text)))


@pytest.mark.parametrize("text", ["⚠️Warning", "Warning ⚠️", "Warning❤️"])
def test_the_variation_selector_of_an_emoji_is_no_part_of_a_word(text):
    found = {term for word in tokenizer.split(text) for term in terms(word)}
    assert found - {"⚠", "❤"} == {"warning"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("日本語", ["日本", "本語", "語"]),
        ("カタカナ", ["カタ", "タカ", "カナ", "ナ"]),
        ("한국어", ["한국", "국어", "어"]),
        ("ລາວ", ["ລາ", "າວ", "ວ"]),
        ("𠮷野家", ["𠮷野", "野家", "家"]),
        ("人", ["人"]),
    ],
)
def test_a_run_of_a_script_without_spaces_is_cut_into_pairs(text, expected):
    assert tokenizer.split(text) == expected
    assert all(tokenizer.is_gram(word) for word in expected)


def test_a_soft_hyphen_is_no_part_of_a_word():
    assert tokenizer.split("Schiff\xadfahrts\xadgesellschaft, well-known \xad") == [
        "Schifffahrtsgesellschaft", "well-known", "well", "known",
    ]  # fmt: skip
    assert tokenizer.split("Zü\xadrich") == ["Zürich"]


def test_letters_beside_han_are_a_word_of_their_own():
    assert tokenizer.split("Python入門2版") == ["Python", "入門", "門", "2", "版"]


def test_a_pair_stands_for_its_first_character_and_for_itself():
    assert tokenizer.pieces("日本") == (1, (("日", 0), ("日本", 0)))
    assert tokenizer.pieces("語") == (1, (("語", 0),))


@pytest.mark.parametrize("text", ["Zürich", "café", "Tiếng Việt", "Ελλά", "й", "가나다", "がぎぐ"])
def test_text_is_the_same_words_composed_and_decomposed(text):
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert composed != decomposed
    assert pieces_of(decomposed) == pieces_of(composed)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Zürich", "zurich"),
        ("ＺＵＲＩＣＨ", "zurich"),
        ("Straße", "strasse"),
        ("ﬁsh", "fish"),
        ("İzmir", "izmir"),
        ("ΟΔΟΣ", "οδοσ"),
        ("ﾃｽﾄ", "テスト"),
        ("HTTP2", "http2"),
        ("مُحَمَّد", "محمد"),
        ("محمـــد", "محمد"),
        ("שָׁלוֹם", "שלום"),
        ("đường", "duong"),
        ("Ørsted", "orsted"),
        ("Łódź", "lodz"),
        ("ısı", "isi"),
        ("Æther", "aether"),
        ("œuvre", "oeuvre"),
        ("Þór", "thor"),
        ("eða", "eda"),
        ("Ħal", "hal"),
        ("أحمد", "احمد"),
        ("إسلام", "اسلام"),
        ("آب", "اب"),
        ("مدرسة", "مدرسه"),
        ("موسى", "موسي"),
        ("مؤمن", "مومن"),
        ("علی", "علي"),
        ("کتاب", "كتاب"),
        ("١٢٣", "123"),
        ("१२", "12"),
    ],
)
def test_fold_takes_away_case_accents_and_width(word, expected):
    assert tokenizer.fold(word) == expected


@given(MIXED)
@example("İŉΐᾳ")
@example("Łódź œuvre\nĲsselmeer ﬁn")
@settings(deadline=None)
def test_fold_takes_all_steps_where_they_do_something(text):
    apart = tokenizer._DIACRITIC.sub("", unicodedata.normalize("NFKD", text)).casefold()
    letters = tokenizer._DIACRITIC.sub("", apart).translate(tokenizer._LETTERS)
    digits = (
        str(unicodedata.decimal(each)) if each.isdecimal() else each
        for each in unicodedata.normalize("NFC", letters)
    )
    assert tokenizer.fold(text) == "".join(digits)


@given(st.lists(MIXED.filter(lambda text: "\n" not in text)))
@settings(deadline=None)
def test_lines_folded_together_are_those_folded_one_by_one(lines):
    assert tokenizer.fold("\n".join(lines)) == "\n".join(map(tokenizer.fold, lines))


def test_dakuten_and_vowel_signs_are_kept_for_they_make_another_word():
    assert tokenizer.fold("が") != tokenizer.fold("か")
    assert tokenizer.fold("हिन्दी") == "हिन्दी"


@given(MIXED)
@settings(deadline=None)
def test_fold_does_not_see_how_accents_are_composed(text):
    assert tokenizer.fold(unicodedata.normalize("NFC", text)) == tokenizer.fold(
        unicodedata.normalize("NFD", text)
    )


def test_snake_case_stands_for_the_whole_and_its_parts_in_a_row():
    assert tokenizer.pieces("parse_json_2") == (
        3,
        (("parse_json_2", 0), ("parse", 0), ("json", 1), ("2", 2)),
    )


def test_camel_case_is_cut_where_case_changes_and_after_an_acronym():
    assert tokenizer.pieces("parseHTTPRequest_v2") == (
        4,
        (("parsehttprequest_v2", 0), ("parse", 0), ("http", 1), ("request", 2), ("v2", 3)),
    )


def test_snake_case_beyond_ascii_has_parts_too():
    assert terms("Größe_Äpfel") == ["grosse_apfel", "grosse", "apfel"]


def test_a_repeated_part_counts_at_each_of_its_places():
    assert tokenizer.pieces("test_test") == (2, (("test_test", 0), ("test", 0), ("test", 1)))


@pytest.mark.parametrize("word", ["tea", "Tea", "TEA", "v2", "2024", "HTTP2", "tea4two"])
def test_a_plain_word_is_one_piece(word):
    assert tokenizer.pieces(word) == (1, ((word.lower(), 0),))


def test_underscores_around_a_word_do_not_hide_it():
    assert tokenizer.pieces("__init__") == (1, (("__init__", 0), ("init", 0)))


@pytest.mark.parametrize("word", ["_", "___"])
def test_a_word_of_underscores_takes_a_place_and_is_nothing(word):
    assert tokenizer.split(word) == [word]
    assert tokenizer.pieces(word) == (1, ())


@given(MIXED)
@example("\u0301")
@example("a_\u0301")
@settings(deadline=None)
def test_no_piece_is_empty(text):
    assert all(term for word in tokenizer.split(text) for term in terms(word))


@given(MIXED)
@settings(deadline=None)
def test_every_piece_lies_within_the_places_its_word_takes(text):
    for width, parts in pieces_of(text):
        assert width >= 0
        assert all(0 <= shift < max(width, 1) for _, shift in parts)
        assert len(set(parts)) == len(parts)


def test_a_long_word_is_cut_to_64_bytes():
    assert tokenizer.split("x" * 100 + " y") == ["x" * 64, "y"]


def test_a_long_word_is_not_cut_inside_a_character():
    assert tokenizer.split("a" + "é" * 40) == ["a" + "é" * 31]


@given(st.lists(st.text("aé_日🙂 ", max_size=90)))
@settings(deadline=None)
def test_no_word_is_longer_than_64_bytes(texts):
    assert all(len(word.encode()) <= tokenizer.LONGEST for word in tokenizer.split(" ".join(texts)))


@given(MIXED, MIXED)
@settings(deadline=None)
def test_the_words_of_a_text_do_not_depend_on_what_stands_beside_it(left, right):
    assert tokenizer.split(f"{left} {right}") == tokenizer.split(left) + tokenizer.split(right)


@pytest.mark.parametrize(
    ("word", "spelt"),
    [("Đường", "đường"), ("Straße", "straße"), ("Résumé", "résumé"), ("أحمد", "أحمد")],
)
def test_a_word_with_accents_stands_for_itself_as_it_is_spelt(word, spelt):
    assert tokenizer.pieces(word) == (1, ((tokenizer.fold(word), 0), (spelt, 0)))
    assert tokenizer.folded_pieces(word) == (1, ((tokenizer.fold(word), 0),))
    assert not tokenizer.is_folded(spelt)


@pytest.mark.parametrize(
    "word", ["ΟΔΟΣ", "οδος", "йод", "ＺＵＲＩＣＨ", "ﬁsh", "日本", "ﾃｽﾄ", "tea"]
)
def test_width_case_and_letters_are_no_accents(word):
    assert tokenizer.accented(word) is None


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("Müller", "mueller"),
        ("mueller", "muller"),
        ("Ålborg", "aalborg"),
        ("aalborg", "alborg"),
        ("Ørsted", "oersted"),
        ("oersted", "orsted"),
        ("queue", None),
        ("toe", None),
        ("tea", None),
        ("café", None),
    ],
)
def test_umlauts_have_another_spelling(word, other):
    assert tokenizer.respelt(word) == other
