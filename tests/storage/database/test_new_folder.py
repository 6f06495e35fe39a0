"""The folder of a new index."""

from __future__ import annotations

import stat


def test_the_folder_of_a_new_index_is_for_its_user_alone(database, tmp_path):
    path = tmp_path / "new" / "folder" / "index.duckdb"
    database(path).write(lambda cursor: None)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
