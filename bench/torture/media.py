"""A read-only index: it can be searched, and updates report why they fail."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from bench.processes import generate, letters, named
from bench.torture.outcome import Options, Outcome
from bench.torture.proof import Home, mounted, remounted

NO_ROOT = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--")
"""Runs a command that may not do what root may."""

DENIED = "ermission denied"


def media(work: Path, options: Options) -> Outcome:
    """Run with a read-only index."""
    home = Home(work / "home")
    generate(home.docs, 40)
    wrong = []
    said = home.run("collection", "add", str(home.docs))
    wrong += [said.problem] if said.problem else []
    ways = []
    place = home.work / "index"
    place.mkdir()
    for file in home.work.glob("index.duckdb*"):
        file.rename(place / file.name)
    try:
        for name in ("read-only mount", "read-only mount without locks"):
            if "without" in name:
                for lock in ("lock", "readers"):
                    place.joinpath(f"index.duckdb.{lock}").unlink()
            with mounted(work / "readonly", "--bind", str(place)) as folder:
                remounted(folder, "ro,bind")
                away = Home(home.work, folder / "index.duckdb")
                wrong += [f"{name}: {line}" for line in _searched_only(away, "Read-only")]
            ways.append(name)
    except PermissionError as error:
        ways.append(f"no mounts ({error})")
    home.database = place / "index.duckdb"
    home.environ["INDEX_PATH"] = str(home.database)
    as_owner: dict[str, Any] = {} if os.geteuid() else {"before": NO_ROOT}
    if as_owner and not shutil.which(NO_ROOT[0]):
        ways.append("no permissions, for want of setpriv")
    else:
        place.chmod(0o555)
        for file in place.iterdir():
            file.chmod(0o444)
        wrong += [f"folder: {line}" for line in _searched_only(home, DENIED, as_owner)]
        place.chmod(0o755)
        wrong += [f"file: {line}" for line in _searched_only(home, DENIED, as_owner)]
        home.database.chmod(0)
        said = home.run("search", "kara", **as_owner)
        if said.code != 3 or DENIED not in said.err:
            wrong.append(f"unreadable: {said}")
        for file in place.iterdir():
            file.chmod(0o644)
        ways.append("permissions")
    said = home.run("update")
    wrong += [said.problem] if said.problem else []
    return Outcome(", ".join(ways), wrong + home.wrong())


def _searched_only(home: Home, why: str, how: dict[str, Any] | None = None) -> list[str]:
    """Check an index that can be read and not written."""
    how = how or {}
    wrong = []
    for verb in (
        *(["search", "kara", "--json"], ["status"], ["ls", "docs"], ["get", f"docs/{named(1)}"]),
        *(["sql", "select count(*) from documents"], ["doctor"], ["query", "lex: kara"]),
    ):
        said = home.run(*verb, **how)
        if said.problem:
            wrong.append(f"{verb[0]}: {said.problem}")
    marker = letters(len(list(home.docs.rglob("*.md"))))
    (home.docs / f"{marker}.md").write_text(f"# {marker}\n")
    (home.docs / f"{marker}.md").chmod(0o644)
    for verb in (["update"], ["embed"]):
        said = home.run(*verb, **how)
        if said.code != 3 or why not in said.err or "Traceback" in said.err:
            wrong.append(f"{verb[0]}: {said.code}: {said.out} {said.err[-500:]}")
    said = home.run("search", "kara", "--json", **how)
    if said.problem or len(json.loads(said.out)) != 20:
        wrong.append(f"search after that: {said}")
    return wrong
