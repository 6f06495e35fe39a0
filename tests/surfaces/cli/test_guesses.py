"""A command that does not exist is answered with the one that does what is meant."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer.main

from qmd.surfaces.cli import GROUPS, guesses
from qmd.surfaces.cli.app import application


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("find", "qmd search WORDS"),
        ("egrep green tea", "qmd search green tea"),
        ("rg -i tea", "qmd search WORDS"),
        ("semantic tea", "qmd vsearch tea"),
        ("answer how hot", "qmd ask how hot"),
        ("index ~/notes", "qmd collection add '~/notes'"),
        ("add .", "qmd collection add ."),
        ("list", "qmd ls"),
        ("list notes", "qmd ls notes"),
        ("rm notes", "qmd collection remove notes"),
        ("mv a b", "qmd collection rename a b"),
        ("mv a", "qmd collection rename OLD NEW"),
        ("read a.md", "qmd get a.md"),
        ("cat a.md b.md", "qmd get a.md b.md"),
        ("show", "qmd get FILE"),
        ("view x", "qmd get x"),
        ("gui", "qmd open"),
        ("serve", "qmd mcp --http"),
        ("refresh", "qmd update"),
        ("rename a b", "qmd collection rename a b"),
        ("Search tea", "qmd search tea"),
        ("serach tea -n 3", "qmd search tea -n 3"),
        ("udpate", "qmd update"),
        ("colection add .", "qmd collection add ."),
        ("vsearhc tea", "qmd vsearch tea"),
        ("grpe tea", "qmd grep tea"),
        ("zanzibar tea", "qmd search zanzibar tea"),
        ("--index work find tea", "qmd search tea"),
        ("find tea --index work", "qmd search tea"),
        ("help find", "qmd search WORDS"),
        ("collection delete notes", "qmd collection remove notes"),
        ("collection ad .", "qmd collection add ."),
        ("collection refresh notes", "qmd update notes"),
        ("collection search notes tea", "qmd search -c notes tea"),
        ("context delete /", "qmd context rm /"),
        ("models download", "qmd models pull NAME"),
        ("trust approve", "qmd trust"),
        ("mcp serve", "qmd mcp --http"),
        ("skill print", "qmd skill show"),
        ("help collection delete", "qmd collection remove NAME"),
    ],
)
def test_a_guessed_or_misspelt_command_is_answered_with_the_one_that_is_meant(qmd, line, answer):
    code, out, err = qmd(*line.split())
    words = [word for word in line.split() if word != "help"]
    if "--index" in words:
        at = words.index("--index")
        del words[at : at + 2]
    program, name = ("qmd", words[0]) if words[0] not in GROUPS else (f"qmd {words[0]}", words[1])
    assert (code, out) == (2, "")
    assert err == f"{program} has no command '{name}'. Try: {answer}\n\nSee '{program} --help'.\n"


def test_words_that_are_like_no_command_of_a_group_are_answered_with_its_help(qmd):
    code, out, err = qmd("models", "zanzibar")
    assert (code, out) == (2, "")
    assert err == "qmd models has no command 'zanzibar'.\n\nSee 'qmd models --help'.\n"


def test_what_is_typed_is_quoted_for_a_shell_and_no_escape_reaches_the_terminal(qmd):
    assert "Try: qmd search 'a; rm -r b'\n" in qmd("find", "a; rm -r b")[2]
    err = qmd("f\x1b[2Jnd", "\x1b[31mtea")[2]
    assert "\x1b" not in err
    assert "Try: qmd search WORDS\n" in err


def test_each_answer_is_a_command_that_exists_and_no_guess_is_one():
    for program, answers in guesses._MEANT.items():
        group = typer.main.get_command(application([]))
        for word in program.split()[1:]:
            group = group.commands[word]
        guessed = [word for listed in answers.values() for word in listed.split()]
        assert len(guessed) == len(set(guessed))
        shown = {name for name, each in group.commands.items() if not each.hidden}
        assert not shown & set(guessed), program
        for answer in answers:
            _, name, *rest = answer.split()
            command = typer.main.get_command(application([name]))
            command = command.commands[name]
            if rest and hasattr(command, "commands") and rest[0] in command.commands:
                command = command.commands[rest.pop(0)]
            known = {option for each in command.params for option in each.opts}
            assert {word for word in rest if word.startswith("-")} <= known, answer


def test_a_guess_loads_no_command():
    looked = (
        "import sys; from qmd.surfaces.cli import run; code = run(['find', 'tea']); "
        "print(code, 'qmd.surfaces.cli.search' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", looked], capture_output=True, text=True)
    assert done.stdout == "2 False\n"
