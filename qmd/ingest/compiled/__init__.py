"""What is compiled while qmd is installed: the two rules by which most of indexing goes.

`words` makes postings, `outlines` tells links, tags and headings. Both do what plain Python does
(`ingest/inversion.py`, `text/outline.py`), some fifteen times as fast; without a compiler, qmd
does without.
"""
