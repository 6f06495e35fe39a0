"""Files that a user wants written."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from qmd import files
from qmd.errors import UsageError


def test_a_file_is_there_as_it_was_until_all_is_written(tmp_path):
    path = tmp_path / "x"
    path.write_text("before")
    with files.written(path) as file:
        file.write(b"after")
        file.flush()
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    with pytest.raises(UsageError, match=r"x cannot be written: No space"), files.written(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert path.read_text() == "after"
    assert [each.name for each in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_nobody_reads_what_is_written_who_may_not_read_what_it_replaces(tmp_path, mode):
    path = tmp_path / "x"
    path.touch()
    path.chmod(mode)
    with files.written(path):
        [part] = tmp_path.glob(".*.part")
        assert stat.S_IMODE(part.stat().st_mode) == mode
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_mode_that_others_get(tmp_path):
    (tmp_path / "other").touch()
    with files.written(tmp_path / "x"):
        pass
    assert (tmp_path / "x").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_reader_that_goes_away_is_told_of_as_such(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(BrokenPipeError), files.written(pipe) as file:
        file.write(os.close(reader) or b"x")


def test_what_cannot_be_written_is_refused_before(tmp_path):
    (tmp_path / "round").symlink_to("round")
    for name, problem in [
        ("", "is a folder"),
        ("absent/x", "there is no folder"),
        ("x" * 300, "File name too long"),
        ("round/x", "there is no folder"),
        ("/dev/fd/999", "Bad file descriptor"),
    ]:
        with pytest.raises(UsageError, match=problem):
            files.check_writable(tmp_path / name)
