"""Text formats with marks, transcripts, subtitles: what is particular to each."""

from __future__ import annotations

import pytest

from qmd.ingest.readers import (
    asciidoc,
    latex,
    mediawiki,
    org,
    restructuredtext,
    subtitles,
    transcript,
)
from tests.ingest.readers.samples import SAMPLES


def lines(module, text: str) -> list[str]:
    """The lines that are left of a text, without blank ones."""
    return [line for line in module.read(text.encode(), "a").text.split("\n") if line.strip()]


def test_org():
    text = """* DONE [#B] Tea :hot:green:
SCHEDULED: <2024-05-17 Fri>
:LOGBOOK:
CLOCK: zz
:END:
/one
two/ =a_b= ~c~ snake_case [fn:1]
[[file:pot.org::*Top][pot]] [[id:zz][leaf]] [[cup]]
| a | b |
|---+---|
: fixed
#+begin_quote
said
#+end_quote
#+begin_export html
zz
#+end_export
#+begin_src py
# *x*
#+end_src
[fn:1] note
# zz
#+zz: zz
"""
    assert lines(org, text) == [
        "# DONE Tea",
        "SCHEDULED: 2024-05-17 Fri",
        "one",
        "two `a_b` `c` snake_case [^1]",
        "[pot](pot.org) leaf [[cup]]",
        "| a | b |",
        "| --- | --- |",
        "    fixed",
        "> said",
        "```py",
        "# *x*",
        "```",
        "[^1]: note",
    ]
    found = org.read(text.encode(), "a")
    assert found.metadata["tags"] == ["green", "hot"]
    assert found.links == ("pot.org", "id:zz", "cup")


def test_org_properties_of_the_file_are_metadata():
    found = org.read(
        b':PROPERTIES:\n:ID: x1\n:ROAM_ALIASES: "Green tea" cha\n:END:\n#+title: A\n', "a"
    )
    assert found.metadata == {"id": "x1", "aliases": ["Green tea", "cha"]}


def test_a_headline_of_org_is_no_title():
    assert org.read(b"* Usage\n\nText\n* More\n", "tea pot.org").title is None
    assert org.read(b"#+TITLE: /Tea/\n#+filetags: :a:\n", "a.org").text.strip() == "Tea"
    said = b"#+TITLE: /All/ =of= [[https://a.org][the tea]]\n* Usage\n"
    assert org.read(said, "a.org").title == "All of the tea"


def test_org_links_lead_to_files_ids_pages_or_places_in_the_file():
    text = """* Pots
:PROPERTIES:
:ID: p1
:END:
[[../../a_b/c.org][*up*]] ~/code/x/y <<here>> [[here]] [[Pots][these]]
[[Page][that *page*]] [[Page]] [[b.org]] =/x/ y= see /this/, "/that/".
#+name: table
| a |
[[table][below]]
** TODO <<here too>> Cups :a:
[[here
too]] [[Cups]] [[(a)][line a]]
 : [[no]] <a href="no">
"""
    assert lines(org, text)[1:] == [
        "[up](../../a_b/c.org) ~/code/x/y <<here>> here these",
        '[[Page|that page]] [[Page]] [[b.org]] `/x/ y` see this, "that".',
        "| a |",
        "below",
        "## TODO <<here too>> Cups",
        "here too Cups line a",
        '    `[[no]] <a href="no">`',
    ]
    found = org.read(text.encode(), "a")
    assert found.links == ("../../a_b/c.org", "Page", "b.org")
    assert found.metadata["ids"] == ["p1"]


def test_restructuredtext():
    text = """=====
 Tea
=====

Pots
----

Cups
----

Deep
~~~~

:ref:`a <b>` :doc:`c` ``d_`` *e
f* |g| h_ `i j`_

.. |g| replace:: G
.. _h: https://h.org
.. _i j: https://i.org
.. _zz:

.. warning:: hot

   very

.. code-block:: py
   :linenos:

   *k*

====  ====
a     b
====  ====
c     d
====  ====

.. toctree::
   :zz: 1

   l
   M <m>

.. zz
   zz

.. automethod:: n.o

* p::

    q_

.. [1] r
"""
    assert lines(restructuredtext, text) == [
        "# Tea",
        "## Pots",
        "## Cups",
        "### Deep",
        "a c `d_` e",
        "f G [h](https://h.org) [i j](https://i.org)",
        "Warning: hot",
        "very",
        "    *k*",
        "| a | b |",
        "| --- | --- |",
        "| c | d |",
        "- [l](l)",
        "- [M](m)",
        "`n.o`",
        "* p:",
        "    q_",
        "[^1]: r",
    ]


def test_asciidoc():
    text = """= Tea
Ada Lovelace <a@b.c>
1.0, 2024-05-17
:pot: kettle

== Pots

*one* _two_ `a_b` {pot}
[source,py]
----
*x* # <1>
----
====
inside
====
____
said
____
////
zz
////
// zz
|===
|a |b
|===
** deep
. step
term:: def
xref:p.adoc#q["r"] <<s,t>> image:u.png[v]
include::w.adoc[]
ifdef::zz[]
NOTE: x
footnote:[y] kbd:[Z]
.Caption
[[zz]]
"""
    assert lines(asciidoc, text) == [
        "# Tea",
        "## Pots",
        "one two `a_b` kettle",
        "```py",
        "*x*",
        "```",
        "inside",
        "> said",
        "| a | b |",
        "  - deep",
        "1. step",
        "term: def",
        "[r](p.adoc#q) t v",
        "NOTE: x",
        " (y) Z",
        "Caption",
    ]
    found = asciidoc.read(text.encode(), "a")
    assert (found.author, found.date) == ("Ada Lovelace", "2024-05-17")
    assert sorted(found.links) == ["p.adoc#q", "u.png", "w.adoc"]


def test_mediawiki():
    text = """{{Infobox zz
| zz = kettle
| pot = [[Japan]]
}}
== Tea ==
'''one''' ''two''<ref name="zz">note [https://g.org/a pot]</ref> {{zz|80|C}} it's
a <!-- zz --> b <!-- zz
zz --> after
* item
*# [[Pot#Lid|the pot]] [[leaf]]
; term
: def
[[File:u.png|thumb|A cup]][[Category:Drinks]]
{| class="zz"
|+ Kinds
! a !! b
|-
| style="zz: 1" | [[x|y]] || 2
|}
<syntaxhighlight lang="py">
*x* = '''1'''
</syntaxhighlight>
https://i.org/j. __NOTOC__
<pre>
[[z]]
"""
    assert lines(mediawiki, text) == [
        "kettle",
        "Japan",
        "## Tea",
        "one two note pot 80 C it's",
        "a  b",
        " after",
        "- item",
        "  1. the pot leaf",
        "term",
        "def",
        "A cup",
        " Kinds",
        "| a | b |",
        "| y | 2 |",
        "```py",
        "*x* = '''1'''",
        "```",
        "https://i.org/j. ",
        "```",
        "[[z]]",
    ]
    found = mediawiki.read(text.encode(), "a")
    assert found.metadata == {"keywords": "Drinks"}
    targets = ["Japan", "https://g.org/a", "Pot#Lid", "leaf", "u.png", "x", "https://i.org/j"]
    assert list(found.links) == targets
    assert len(found.text.split("\n")) == len(text.split("\n"))


def test_latex():
    text = r"""\documentclass{book}
\newcommand{\zz}[1]{zz #1}
\title{T}
\begin{document}
\chapter{One}
\section*{Two}\label{zz} % zz
\'Etude na\"{\i}ve \c{c}a \ss\ \textbf{b \emph{c}} 5\% d~e --- ``f''
\href{https://g.org/a\%20b}{h} \url{https://i.org/~j%20k} \cite{l} \footnote{m} $n_1$
\begin{itemize}
\item o
\item[p] q
\end{itemize}
\begin{tabular}{l|r}
r & s \\ \hline
\end{tabular}
\begin{verbatim}
\zz{t} % u
\end{verbatim}
\includegraphics[width=1cm]{v.png}
\textcolor{red}{w} \verb|x_y|
\[ z^2 \]
\end{document}
zz
"""
    assert lines(latex, text) == [
        "# One",
        "## Two",
        'Étude naïve ça ß b c 5% d e — "f"',
        "[h](https://g.org/a%20b) <https://i.org/~j%20k> [l]  (m) $n_1$",
        "- o",
        "- [p] q",
        "| r | s |",
        "```",
        "\\zz{t} % u",
        "```",
        "w `x_y`",
        "$$z^2$$",
    ]
    found = latex.read(text.encode(), "a")
    assert found.links == ("https://g.org/a%20b", "https://i.org/~j%20k", "v.png")


def test_days_of_a_chat_are_read_in_the_order_that_fits_all_of_them():
    def days(*written: str) -> str | None:
        text = "\n".join(f"{day}, 09:31 - Ada: tea" for day in written)
        return transcript.read(text.encode(), "a").date

    assert days("5/6/24", "5/17/24") == "2024-05-06T09:31:00"
    assert days("5/6/24", "17/6/24") == "2024-06-05T09:31:00"
    assert days("05.06.2024") == "2024-06-05T09:31:00"
    assert days("2024-06-05") == "2024-06-05T09:31:00"


def test_messages_of_the_program_and_names_of_left_out_media_are_no_text():
    text = """5/17/24, 9:31 PM - Messages are end-to-end encrypted.
5/17/24, 9:32 PM - Ada: <Media omitted>
5/17/24, 9:33 PM - Ada: tea
and pot
"""
    assert transcript.read(text.encode(), "a").text == "Ada: tea\nand pot\n"


@pytest.mark.parametrize("name", SAMPLES)
def test_a_transcript_is_told_from_other_texts(name):
    sample = SAMPLES[name]
    assert transcript.is_transcript(sample.data) == (sample.reader == "transcript")


def test_captions_that_roll_are_said_once_and_pauses_end_paragraphs():
    cues = ("one", "one\ntwo", "two\nthree")
    text = "WEBVTT\n\n" + "".join(
        f"00:00:0{at}.000 --> 00:00:0{at + 1}.000\n{cue}\n\n" for at, cue in enumerate(cues)
    )
    assert subtitles.read(f"{text}00:09:00.000 --> 00:09:01.000\nend\n".encode(), "a").text == (
        "one\ntwo\nthree\n\nend\n"
    )


def test_the_language_of_subtitles_is_told_by_the_name_or_the_head():
    srt = b"1\n00:00:01,000 --> 00:00:02,000\nTee\n"
    assert subtitles.read(srt, "talk.de.srt").language == "de"
    assert subtitles.read(srt, "talk.srt").language is None
    vtt = b"WEBVTT\nKind: captions\nLanguage: en-GB\n\n00:01.000 --> 00:02.000\ntea\n"
    assert subtitles.read(vtt, "talk.vtt").language == "en-GB"


def test_brackets_that_are_not_closed_are_kept_in_subtitles():
    srt = b"1\n00:00:01,000 --> 00:00:02,000\na < b {c <i>d</i>\n"
    assert subtitles.read(srt, "a.srt").text == "a < b {c d\n"
