"""What is sent to an HTTP server, and the messages that come back."""

from __future__ import annotations

import json

SSE = {"accept": "application/json, text/event-stream"}
JSON = b"Content-Type: application/json\r\n"
HEAD = b"POST /search HTTP/1.1\r\nHost: localhost\r\n" + JSON


def said(answer):
    """The messages of a stream."""
    lines = answer.text.splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
