"""What commands say of vectors and of what they find."""

from __future__ import annotations

import json


def records(command, *arguments):
    """What a search gives as JSON."""
    code, out, _ = command(*arguments, "--json")
    assert code == 0
    return json.loads(out)


def vectors(command):
    """What `status` says of vectors."""
    return json.loads(command("status", "--json")[1])["vectors"]
