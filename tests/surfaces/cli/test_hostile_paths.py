"""Commands on an index from elsewhere, whose paths lead out of the folders of its collections."""

from __future__ import annotations

import _duckdb
import pytest


@pytest.fixture
def copied(indexed, tmp_path):
    """An index whose document on tea is said to be at ../secret/key.md, where a file is."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.md").write_text("# Secret\n\nSwordfish.")
    connection = _duckdb.connect(str(tmp_path / "index.duckdb"))
    connection.execute("update documents set path = '../secret/key.md' where path = 'tea.md'")
    connection.close()
    return indexed


def test_a_full_path_is_never_outside_of_the_collection(copied, notes):
    code, out, err = copied("search", "brew", "--full-path", "--format", "json")
    assert (code, err) == (0, "")
    assert '"notes/../secret/key.md"' in out
    assert str(notes) not in out


@pytest.mark.parametrize(
    "command",
    [
        ("get", "notes/../secret/key.md"),
        ("multi-get", "notes/../secret/key.md"),
        ("ls", "notes"),
        ("search", "brew"),
        ("sql", "select path, body from documents"),
        ("stats",),
        ("status",),
    ],
)
def test_what_is_shown_is_of_the_index_alone(copied, command):
    code, out, _ = copied(*command)
    assert code == 0
    assert "Swordfish" not in out


def test_doctor_tells_of_such_a_path(copied):
    _, out, err = copied("doctor")
    assert "a path of collection 'notes' leaves its folder: ../secret/key.md" in out + err
