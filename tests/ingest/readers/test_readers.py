"""Each kind of file: its sentence, title, date and place, and nothing of its markup."""

from __future__ import annotations

import importlib
import re

import pytest

from qmd.ingest.readers.reading import Reading, Unreadable
from tests.ingest.readers.packages import HIDDEN, SENTENCE
from tests.ingest.readers.samples import SAMPLES, Sample

READERS = sorted({sample.reader for sample in SAMPLES.values()})
MARKUP = re.compile(
    r"</?[a-z]+[ >/]|\\[a-z]+\{|&(?:amp|nbsp|#)|[A-Za-z0-9+/]{60,}|=[0-9A-F]{2}=|\d\d[.,]\d{3}"
    r"|-->|\x1b"
)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")

every_sample = pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)


def read(sample: Sample, data: bytes | None = None) -> Reading:
    module = importlib.import_module(f"qmd.ingest.readers.{sample.reader}")
    return module.read(sample.data if data is None else data, sample.name)


def plain(text: str) -> str:
    """The text without line breaks and targets of links."""
    return " ".join(LINK.sub(r"\1", text).split())


def part(reading: Reading, kind: str, label: str) -> str:
    """The text of a place."""
    places = [*reading.places]
    at = next(n for n, each in enumerate(places) if (each.kind, each.label) == (kind, label))
    lines = reading.text.split("\n")
    end = places[at + 1].line - 1 if at + 1 < len(places) else len(lines)
    return "\n".join(lines[places[at].line - 1 : end])


def sound(reading: Reading) -> None:
    """What holds for every reading."""
    lines = reading.text.count("\n") + 1
    numbers = [place.line for place in reading.places]
    assert numbers == sorted(numbers)
    assert all(1 <= number <= lines for number in numbers)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\ufeff\ud800-\udfff]", reading.text)
    assert reading.remark is None or "\n" not in reading.remark


def outcome(reader: str, name: str, data: bytes) -> Reading | str:
    """A sound reading, or the reason why there is none; any other exception comes through."""
    module = importlib.import_module(f"qmd.ingest.readers.{reader}")
    try:
        reading = module.read(data, name)
    except Unreadable as refused:
        reason = str(refused)
    else:
        sound(reading)
        assert reading.text.strip() or reading.title or reading.attachments
        return reading
    assert reason
    assert reason.isprintable()
    return reason


def test_there_are_samples_of_at_least_25_formats():
    assert len(SAMPLES) >= 25


@every_sample
def test_a_file_has_its_sentence_title_date_and_links(sample):
    reading = read(sample)
    sound(reading)
    assert SENTENCE in plain(reading.text)
    assert (reading.title, reading.date, reading.remark) == (sample.title, sample.date, None)
    if sample.link:
        assert sample.link in reading.links


@pytest.mark.parametrize(
    "sample",
    [each for each in SAMPLES.values() if each.place],
    ids=[name for name, each in SAMPLES.items() if each.place],
)
def test_the_sentence_stands_in_its_place_and_in_no_other(sample):
    reading = read(sample)
    assert SENTENCE in plain(part(reading, *sample.place))
    others = [place for place in reading.places if (place.kind, place.label) != sample.place]
    assert not any(SENTENCE in plain(part(reading, each.kind, each.label)) for each in others)


@every_sample
def test_nothing_of_markup_hidden_text_or_base64_is_in_the_text(sample):
    reading = read(sample)
    assert HIDDEN not in reading.text
    assert not MARKUP.search(LINK.sub(r"\1", reading.text))


@every_sample
def test_a_file_cut_at_every_tenth_is_read_in_part_or_refused_in_one_line(sample):
    for tenth in range(10):
        outcome(sample.reader, sample.name, sample.data[: len(sample.data) * tenth // 10])


@every_sample
def test_a_file_with_broken_bytes_is_read_in_part_or_refused_in_one_line(sample):
    step = max(1, len(sample.data) // 60)
    for at in range(0, len(sample.data), step):
        data = bytearray(sample.data)
        data[at] ^= 0xFF
        data[at // 2] = 0x28
        outcome(sample.reader, sample.name, bytes(data))


@pytest.mark.parametrize("reader", READERS)
def test_a_wrong_suffix_never_makes_text_of_a_binary(reader):
    for sample in SAMPLES.values():
        if sample.reader != reader:
            found = outcome(reader, sample.name, sample.data)
            binary = sample.data.startswith((b"PK", b"%PDF"))
            assert isinstance(found, str) if binary else found


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("data", [b"", b" \n\n"])
def test_an_empty_file_is_unreadable(reader, data):
    module = importlib.import_module(f"qmd.ingest.readers.{reader}")
    with pytest.raises(Unreadable):
        module.read(data, "a")


@pytest.mark.parametrize("name", ["org", "rst", "adoc", "tex"])
def test_lines_of_text_formats_stay_in_their_places(name):
    sample = SAMPLES[name]
    source, text = sample.data.decode().split("\n"), read(sample).text.split("\n")
    at = next(number for number, line in enumerate(source) if "kettle" in line)
    assert "kettle" in text[at]
    assert len(text) <= len(source)
