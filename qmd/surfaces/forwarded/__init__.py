"""Commands of other processes, carried out by a server: requests in, output and exit code out.

`listener` accepts connections of the same user at a Unix socket, `session` is one of them,
`command` runs what it asks for on the open index. `qmd/forward.py` is the other side.
"""
