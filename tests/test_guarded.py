"""A link or a pipe with the name of a file that qmd keeps is neither followed nor waited for."""

from __future__ import annotations

import os
import stat

import pytest

from qmd import edit_lock, safe_open
from qmd import lock_signature as signature
from qmd.errors import FileBusy
from tests import strays

FLAGS = [os.O_RDONLY, os.O_RDWR | os.O_CREAT, os.O_WRONLY | os.O_APPEND | os.O_CREAT]


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("put", strays.STRAYS)
def test_only_a_file_is_opened(tmp_path, put, flags):
    path = tmp_path / "file"
    put(path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(safe_open.NotRegularFile) as refused:
        safe_open.opened(path, flags)
    assert refused.value.filename == str(path)
    assert "file has to be a file: it is a link, a pipe or a folder" in refused.value.strerror
    with pytest.raises(safe_open.NotRegularFile), edit_lock.locked(path):
        pass
    assert sorted(tmp_path.iterdir()) == before
    assert strays.is_untouched(tmp_path)


def test_what_is_opened_may_be_written_and_is_the_users_alone(tmp_path):
    descriptor = safe_open.opened(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    try:
        assert os.write(descriptor, b"ours") == 4
        assert stat.S_IMODE(os.fstat(descriptor).st_mode) == 0o600
    finally:
        os.close(descriptor)


def test_a_file_that_is_not_there_is_told_as_such(tmp_path):
    with pytest.raises(FileNotFoundError):
        safe_open.opened(tmp_path / "file", os.O_RDONLY)


def test_a_file_that_could_not_be_replaced_is_as_it_was(tmp_path):
    file = tmp_path / "file"
    file.write_text("old")

    def fails(new):
        new.write("ne")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        safe_open.atomic_replace(file, fails)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(("before", "after"), [(None, 0o600), (0o640, 0o640)])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path, before, after):
    file = tmp_path / "file"
    if before is not None:
        file.touch()
        file.chmod(before)
    safe_open.atomic_replace(file, lambda new: new.write("new"), mode=0o600)
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("new", after)


def test_a_link_is_replaced_and_what_it_leads_to_is_not(tmp_path):
    file = tmp_path / "file"
    strays.link(file)
    safe_open.atomic_replace(file, lambda new: new.write("new"))
    assert (file.read_text(), file.is_symlink()) == ("new", False)
    assert strays.is_untouched(tmp_path)


def test_who_waits_for_a_change_of_a_file_is_told_who_is_at_it(tmp_path, monkeypatch):
    lock = tmp_path / "index.yml.lock"
    monkeypatch.setattr(edit_lock, "LOCK_TIMEOUT_SECONDS", 0.02)
    with (
        edit_lock.locked(lock),
        pytest.raises(FileBusy, match=rf"held for 0 seconds by .*, process {os.getpid()} "),
        edit_lock.locked(lock),
    ):
        pass
    with edit_lock.locked(lock):
        pass
    assert signature.holders(lock) is None
