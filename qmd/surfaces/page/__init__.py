"""Page in a browser: search, read and look, rendered on the server.

Requests of a browser come in, HTML, one script, one style sheet and pictures of collections go
out. A GET changes nothing, not even the log of searches.

May import, besides the ground floor, `errors` and `text`: `operations`, `connected` and `tools` of
the surfaces, and result types of the rooms below. It is loaded by the HTTP server alone, and loads
jinja2, markdown-it-py and nh3 at the first page.
"""
