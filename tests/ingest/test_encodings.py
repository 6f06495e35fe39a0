"""Texts in encodings from before Unicode, in each format: read rightly, and told."""

from __future__ import annotations

import email.message
import json

import pytest

from qmd.ingest.readers.charsets import guessed_encoding, with_encoding
from qmd.ingest.readers.mail import read as read_mail
from qmd.ingest.readers.rtf import read as read_rtf
from tests.ingest.test_readings import configure
from tests.library import Library

TEXTS = {
    "de": ("Größe der Töpfe", "Über allen Gipfeln ist Ruh; die Vögelein schweigen im Walde."),
    "fr": ("Été à la plage", "Le café est servi près de la fenêtre où l’élève a rêvé d’être."),
    "es": ("El niño", "¿Dónde está el café? La canción terminó «así», señor; mañana irá él."),
    "pl": ("Żółta łódź", "Pchnąć w tę łódź jeża lub ośm skrzyń fig. Książka leży na stole."),
    "cs": ("Příliš žluťoučký kůň", "Dnes večer půjdeme do města a koupíme čerstvé rohlíky."),
    "tr": ("Türkçe öğreniyorum", "Şimdi öğrenciler sınıfta oturuyor; dışarıda yağmur yağıyor."),
    "ru": ("Чайная церемония", "Чайник поёт в четыре часа, и листья ждут горячей воды."),
    "uk": ("Українська мова", "Щастя народу є метою цієї держави; їжак живе у лісі біля річки."),
    "el": ("Καλημέρα κόσμε", "Η ελληνική γλώσσα είναι μία από τις αρχαιότερες του κόσμου."),
    "he": ("שלום עולם", "היום מזג האוויר יפה מאוד ואנחנו הולכים לטייל בפארק ליד הבית."),
    "ar": ("مرحبا بالعالم", "الطقس جميل جدا اليوم وسوف نذهب إلى الحديقة مع الأصدقاء."),
    "th": ("สวัสดีชาวโลก", "วันนี้อากาศดีมากเราจะไปเดินเล่นในสวนสาธารณะกับเพื่อน"),
    "ja": ("茶の湯の手引き", "やかんは四時に歌い、茶葉はお湯を待っています。今日は良い天気です。"),
    "zh": ("茶艺手册", "水壶在四点唱歌，茶叶等着热水。今天天气很好，我们一起去公园散步吧。"),
    "zh-TW": ("茶藝手冊", "水壺在四點唱歌，茶葉等著熱水。今天天氣很好，我們一起去公園散步吧。"),
    "ko": ("다도 안내서", "주전자는 네 시에 노래하고 찻잎은 뜨거운 물을 기다립니다."),
}
WRITTEN = [
    *((language, "cp1252") for language in ("de", "fr", "es")),
    *((language, "mac_roman") for language in ("de", "fr", "es")),
    *((language, encoding) for language in ("pl", "cs") for encoding in ("cp1250", "iso8859_2")),
    *(("ru", encoding) for encoding in ("cp1251", "koi8_r", "iso8859_5", "cp866")),
    *(("uk", encoding) for encoding in ("cp1251", "koi8_u")),
    *(("ja", encoding) for encoding in ("shift_jis", "euc_jp", "iso2022_jp", "utf-16")),
    *(("tr", "cp1254"), ("el", "cp1253"), ("he", "cp1255"), ("ar", "cp1256"), ("th", "cp874")),
    *(("zh", "gb18030"), ("zh", "gbk"), ("zh-TW", "big5"), ("ko", "euc_kr"), ("ko", "cp949")),
]

FORMATS = {
    "md": "# {title}\n\n{text}\n",
    "front.md": "---\ntitle: {title}\n---\n{text}\n",
    "html": "<html><head><title>{title}</title></head><body><p>{text}</p></body></html>",
    "vtt": "WEBVTT - {title}\n\n00:00:01.000 --> 00:00:02.000\n{text}\n",
    "org": "#+TITLE: {title}\n\n{text}\n",
    "rst": "{title}\n==============================\n\n{text}\n",
    "tex": "\\documentclass{{article}}\n\\title{{{title}}}\n\\begin{{document}}\n{text}\n"
    "\\end{{document}}\n",
    "adoc": "= {title}\n\n{text}\n",
    "wiki": "= {title} =\n{text}\n",
    "eml": "From: ada@example.org\nSubject: {title}\n\n{text}\n",
    "opml": "<opml><head><title>{title}</title></head><body><outline text='{text}'/></body></opml>",
    "ipynb": '{{"nbformat": 4, "cells": [{{"cell_type": "markdown", "source": "# {title}\\n{text}"'
    "}}]}}",
    "canvas": '{{"nodes": [{{"type": "text", "text": "# {title}\\n{text}"}}]}}',
}
PLAIN = {"txt": "{text}\n", "csv": 'note\n"{text}"\n', "json": '{{"note": "{text}"}}'}
"""Formats without a title."""


@pytest.mark.parametrize(("language", "encoding"), WRITTEN)
def test_an_encoding_is_told_by_its_letters(language, encoding):
    data = "\n\n".join(TEXTS[language]).encode(encoding, "ignore")
    assert with_encoding(data).text == data.decode(encoding)


def test_utf_8_with_some_bytes_of_another_encoding_stays_utf_8():
    data = "Über allen Gipfeln ist Ruh, schöne Töpfe und Käse.".encode() + b" caf\xe9 "
    assert with_encoding(data).text.startswith("Über allen")
    assert with_encoding(data).remark == "invalid UTF-8 was replaced"


def test_a_declared_encoding_goes_before_a_guess():
    data = '<meta charset="iso-8859-7"><p>Größe</p>'.encode("cp1252")
    assert with_encoding(data, declared=True).encoding == "iso-8859-7"
    assert guessed_encoding(data) == "cp1252"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    library = Library(tmp_path_factory.mktemp("encodings"))
    configure(library, mask="all")
    for language, encoding in WRITTEN:
        title, text = TEXTS[language]
        for suffix, form in (FORMATS | PLAIN).items():
            path = library.root / f"{language}-{encoding}" / f"a.{suffix}"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(form.format(title=title, text=text).encode(encoding, "ignore"))
    report = library.update()
    rows = library.ask("select path, title, body, remark from documents join content using (hash)")
    yield report, {path: rest for path, *rest in rows}
    library.engine.close()


@pytest.mark.parametrize(("language", "encoding"), WRITTEN)
def test_each_format_is_read_in_each_encoding(files, language, encoding):
    report, found = files
    assert report.skipped == []
    title, text = (part.encode(encoding, "ignore").decode(encoding) for part in TEXTS[language])
    for suffix in FORMATS | PLAIN:
        given, body, remark = found[f"{language}-{encoding}/a.{suffix}"]
        assert text in body, suffix
        if suffix in FORMATS:
            assert given == title, suffix
        if suffix != "eml":  # the message says itself how it is encoded
            assert "read as " in remark, suffix


def test_rtf_in_utf_16_is_read():
    text = r"{\rtf1\ansi{\info{\title Größe}}\pard Tee um vier 茶 🍵\par}"
    for encoding in ("utf-16", "utf-16-le"):
        reading = read_rtf(text.encode(encoding), "a.rtf")
        assert (reading.title, reading.text.strip()) == ("Größe", "Tee um vier 茶 🍵")


def test_rtf_in_utf_16_is_recognised(library):
    configure(library)
    (library.root / "tea.rtf").write_bytes(r"{\rtf1\ansi Tee um vier\par}".encode("utf-16"))
    assert library.update().skipped == []
    assert library.found("vier") == ["tea.rtf"]


def test_a_subject_in_bytes_is_read_by_the_encoding_of_the_message():
    title, text = TEXTS["ru"]
    bare = f"Subject: {title}\nFrom: ada@example.org\n\n{text}\n".encode("koi8_r")
    assert read_mail(bare, "a.eml").title == title
    message = email.message.EmailMessage()
    message["From"] = "ada@example.org"
    message.set_content(text, charset="koi8-r", cte="8bit")
    told = b"Subject: " + "Чай".encode("koi8_r") + b"\n" + message.as_bytes()
    reading = read_mail(told, "a.eml")
    assert reading.title == "Чай"
    assert text in reading.text


def test_a_minified_record_is_json_in_any_encoding(library):
    configure(library, mask="all")
    record = json.dumps({"name": TEXTS["ru"][1]}, ensure_ascii=False)
    (library.root / "a.json").write_bytes(record.encode("cp1251"))
    library.update()
    assert library.found("чайник") == ["a.json"]
