"""Readers of shell input: arguments, and words to complete."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Iterator

from bench.fuzz.sources import Bytes, Input, Target

WORDS = (
    "qmd ¦search ¦vsearch ¦query ¦collection ¦add ¦rename ¦context ¦sql ¦--index ¦--index=¦-c ¦"
    "--collection ¦--format ¦--¦ ¦'¦\"¦\\¦\n¦$(x)¦`x`¦;¦get ¦models ¦mcp ¦-"
).split("¦")
EXAMPLES = (b"qmd search --col", b"qmd --index w search -c ", b"qmd collection ", b"qmd 'a b", b"")


def completion() -> Iterator[Target]:
    """Complete a line of a shell: candidates or nothing, and never a traceback."""
    import typer

    from qmd.surfaces.cli.app import application

    command = typer.main.get_command(application([]))

    def made(source: Bytes) -> Input:
        shell = source.pick(["bash", "zsh", "fish"])
        at = source.number(0, 9)
        return source.text().replace("\0", ""), shell, at

    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HOME": home, "INDEX_PATH": f"{home}/i.duckdb", "QMD_CONFIG_DIR": home}

        def check(text: str, shell: str, at: int) -> None:
            given = {
                "_QMD_COMPLETE": f"complete_{shell}",
                "COMP_WORDS": text,
                "COMP_CWORD": str(at),
            }
            if shell != "bash":
                given |= {"_TYPER_COMPLETE_ARGS": text, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
            os.environ |= given
            said = io.StringIO()
            try:
                with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                    command.main([], prog_name="qmd", complete_var="_QMD_COMPLETE")
            except SystemExit as ended:
                code = ended.code
                assert code in (None, 0, 1)
            finally:
                for name in given:
                    del os.environ[name]
            assert "Traceback" not in said.getvalue()

        yield Target(made, check, WORDS, EXAMPLES, linear=False)


def hoisted() -> Iterator[Target]:
    """Options of all commands, anywhere in a call: they come to the front, in order."""
    from qmd.forward import ALLOW_PARTIAL, GLOBAL
    from qmd.forward import hoisted as ours

    def made(source: Bytes) -> Input:
        return (source.text(),)

    def words(given: list[str]) -> list[str]:
        """Return a call without flags, `--index=x` as two words."""
        end = given.index("--") if "--" in given else len(given)
        kept = [each for each in given[:end] if each not in ("--no-server", ALLOW_PARTIAL)]
        parts = [each.split("=", 1) if each.split("=")[0] in GLOBAL else [each] for each in kept]
        return [part for each in parts for part in each] + given[end:]

    def check(text: str) -> None:
        if any(f"{option}{mark}--" in text for option in GLOBAL for mark in "= "):
            return  # a value that is written as an option
        given = text.split(" ")
        found = ours(given)
        assert ours(found) == found
        before, after = words(given), words(found)
        assert sorted(before) == sorted(after)
        front = 0
        while after[front : front + 1] and after[front] in GLOBAL:
            front += 2
        waiting = iter(before)
        assert all(each in waiting for each in after[front:])

    yield Target(made, check, WORDS, EXAMPLES, linear=False)
