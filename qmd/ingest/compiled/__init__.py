"""Compiled inversion and outline rules (Cython); plain Python is the fallback.

`words` makes postings, `outlines` extracts links, tags and headings. Both equal the plain Python
of `ingest/inversion.py` and `text/outline.py`, and are about fifteen times as fast. `machine_data`
tells the texts in which `text/machine_data.py` has nothing to find. `listing` lists folders and
compares facts of files, for `ingest/listing.py` and `ingest/file_facts.py`. Without a compiler, qmd
uses plain Python.
"""
