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
    """`--index` anywhere in a call: it comes to the front, and all other words stay in order."""
    from qmd.surfaces.cli import hoisted as ours

    def made(source: Bytes) -> Input:
        return (source.text(),)

    def check(text: str) -> None:
        given = text.split(" ")
        found = ours(given)
        if found != given:
            assert found[0] == "--index"
            rest, value = found[2:], found[1]
            ways = ([f"--index={value}"], ["--index", value])
            assert any(
                given == rest[:at] + way + rest[at:] for way in ways for at in range(len(rest) + 1)
            )
            before = given[: given.index("--")] if "--" in given else given
            assert any(word.partition("=")[0] == "--index" for word in before)

    yield Target(made, check, WORDS, EXAMPLES, linear=False)
