"""Readers: the bytes of a file to text as Markdown, one module for each kind of file.

Bytes and a file name come in, a `Reading` goes out. A reader opens no index, no other file and
no connection. May import, besides the ground floor, `errors` and `text`.
"""
