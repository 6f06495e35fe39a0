"""The command line loads libraries without what it never needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

LOADED = """
import sys
from qmd import startup
sys.meta_path.insert(0, startup._Spared)
from qmd.models.llama_bindings import library
assert library().llama_max_devices() > 0
assert "llama_cpp.llama" in sys.modules and "jinja2" not in sys.modules
print("spared")
"""


def test_the_bindings_are_loaded_alone():
    pytest.importorskip("llama_cpp")
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    assert done.stdout == "spared\n"


ADDRESSES = """
import sys
from qmd import startup
sys.meta_path.insert(0, startup._Spared)
import urllib.parse
assert "ip_address" not in vars(sys.modules["ipaddress"])
assert urllib.parse.urlsplit("http://[::1]/a").hostname == "::1"
try:
    urllib.parse.urlsplit("http://[::wrong]/a")
except ValueError:
    pass
else:
    raise SystemExit("not refused")
import ipaddress
from ipaddress import ip_address
assert ip_address("127.0.0.1") == ipaddress.IPv4Address(2130706433)
assert not hasattr(ipaddress, "nothing") and "__getattr__" not in vars(ipaddress)
print("later")
"""


def test_addresses_are_loaded_when_there_are_any():
    done = subprocess.run(
        [sys.executable, "-c", ADDRESSES], capture_output=True, text=True, check=True
    )
    assert done.stdout == "later\n"
