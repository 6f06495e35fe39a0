"""Commands that people guess, or misspell, and the ones that do what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from qmd.errors import CommandNotFound
from qmd.quoting import line
from qmd.visible import hidden

_MEANT = {
    "qmd": {
        "qmd search WORDS": "find egrep rg ag ack look lookup locate match keyword keywords "
        "fts bm25 lex text where",
        "qmd vsearch WORDS": "like semantic near nearest related meaning vec vector "
        "vectors knn embedding-search",
        "qmd ask QUESTION": "answer chat rag explain",
        "qmd query QUESTION": "question hybrid tell best what how why",
        "qmd get FILE": "read cat show view print less more head tail bat type display doc "
        "document page fetch",
        "qmd multi-get FILES": "mget multiget get-many getall batch-get many",
        "qmd ls [COLLECTION]": "list dir files tree ll documents docs browse",
        "qmd collection add PATH": "add index register new create ingest scan folder track learn",
        "qmd collection list": "collections folders sources",
        "qmd collection remove NAME": "rm delete del forget drop untrack unregister",
        "qmd collection rename OLD NEW": "mv rename",
        "qmd move NAME TO": "retitle",
        "qmd edit NAME": "replace patch change modify",
        "qmd append NAME": "daily jot",
        "qmd undo": "revert rollback",
        "qmd journal": "history log changes",
        "qmd collection include NAME": "include enable",
        "qmd collection exclude NAME": "exclude disable",
        "qmd collection update-cmd NAME COMMAND": "update-cmd hook",
        "qmd context add PATH TEXT": "contexts describe annotate note",
        "qmd init": "setup start project local configure",
        "qmd trust": "approve allow permit",
        "qmd trust revoke": "revoke distrust",
        "qmd update [NAME]": "refresh reindex re-index sync rebuild rescan pull fetch-all up crawl",
        "qmd watch": "monitor live follow auto",
        "qmd embed": "embeddings embedding vectorize vectorise encode",
        "qmd models list": "model",
        "qmd status": "info state stat size count config settings",
        "qmd doctor": "check verify validate fsck diagnose health test repair fix",
        "qmd cleanup": "clean gc vacuum prune compact optimize optimise purge shrink",
        "qmd stats": "statistics summary report",
        "qmd map": "plot visualize visualise graph clusters draw",
        "qmd bench": "benchmark eval evaluate measure",
        "qmd export FOLDER": "backup dump save archive",
        "qmd import FOLDER": "restore load",
        "qmd sql": "select duckdb db database repl shell from",
        "qmd open": "browser gui ui web webui",
        "qmd mcp --http": "serve http api listen",
        "qmd mcp": "agent agents claude stdio connect",
        "qmd mcp stop": "stop kill",
        "qmd server": "daemon",
        "qmd skill install": "install skills",
        "qmd experiences list": "experience records record solved",
        "qmd help": "man usage commands tutorial",
        "qmd version": "ver about",
    },
    "qmd collection": {
        "qmd collection add PATH": "new create register index import",
        "qmd collection list": "ls all",
        "qmd collection show NAME": "get describe status view cat",
        "qmd collection remove NAME": "delete del forget drop unregister",
        "qmd collection rename OLD NEW": "move",
        "qmd collection include NAME": "enable on",
        "qmd collection exclude NAME": "disable off hide",
        "qmd update NAME": "update refresh reindex sync rescan pull",
        "qmd ls NAME": "files documents tree",
        "qmd search -c NAME WORDS": "search find grep query",
    },
    "qmd experiences": {
        "qmd experiences list": "ls all show get",
        "qmd experiences correct ID": "edit change update fix set",
        "qmd experiences retire ID": "hide disable archive off",
        "qmd experiences restore ID": "unretire enable back undo",
        "qmd experiences remove ID": "rm delete del drop forget",
    },
    "qmd context": {
        "qmd context add PATH TEXT": "set new create edit describe update put",
        "qmd context list": "ls show get all",
        "qmd context rm PATH": "remove delete del unset drop clear",
        "qmd context check": "missing verify lint status",
    },
    "qmd models": {
        "qmd models list": "ls show status all",
        "qmd models pull NAME": "download fetch get install add update",
    },
    "qmd trust": {
        "qmd trust": "add approve allow yes show check status",
        "qmd trust list": "ls all",
        "qmd trust revoke": "remove rm delete del untrust deny forget",
    },
    "qmd mcp": {
        "qmd mcp": "start run stdio",
        "qmd mcp --http": "serve server http",
        "qmd mcp --http --daemon": "daemon background",
        "qmd mcp stop": "kill end quit shutdown",
        "qmd mcp status": "info ps health show",
        "qmd mcp --install claude": "config install setup add",
    },
    "qmd skill": {
        "qmd skill install": "add setup write update init",
        "qmd skill show": "print cat get view list ls",
    },
}
"""By group, what to run and the words that are guessed for it. A part in capitals stands for what
the user gives, one in brackets may be missing."""

_SEVERAL = {"WORDS", "QUESTION", "FILES", "FILE"}
"""Parts that stand for any number of words."""

_SHORT = {"info", "rm", "mv"}
"""Commands of `qmd collection` that its help does not list."""

_NEAR = 0.7
"""Likeness from which on a word is taken for a misspelt one, 0 to 1."""


def not_found(program: str, words: Sequence[str], known: Iterable[str]) -> CommandNotFound:
    """Make the error for a command that does not exist, with what may be meant.

    Args:
        program: the group of commands that was called, such as `qmd collection`.
        words: the command, and what was given to it.
        known: commands of the group.
    """
    name, *given = words
    word = name.casefold()
    guessed = {
        each: command
        for command, listed in _MEANT.get(program, {}).items()
        for each in listed.split()
    }
    names = [each for each in known if program != "qmd collection" or each not in _SHORT]
    near = get_close_matches(word, [*names, *guessed], n=1, cutoff=_NEAR)
    if word not in names and word in guessed:
        tries = [_filled(guessed[word], given)]
    elif near and near[0] in guessed and near[0] not in names:
        tries = [_filled(guessed[near[0]], given)]
    elif near:
        tries = [_as_given(f"{program} {near[0]}", given)]
    else:
        tries = [_filled("qmd search WORDS", words)] if program == "qmd" else []
    return CommandNotFound(program, name, tries)


def _filled(command: str, given: Sequence[str]) -> str:
    """Put what the user gives in its place; options of other programs have none."""
    parts = command.split()
    places = [each for each in parts if each.strip("[]").isupper()]
    fixed = [each for each in parts if each not in places]
    as_many = bool(places) and (len(given) == len(places) or places[-1] in _SEVERAL)
    if given and as_many and not any(each.startswith("-") or hidden(each) for each in given):
        return line(*fixed, *given)
    return " ".join([*fixed, *(each for each in places if not each.startswith("["))])


def _as_given(command: str, given: Sequence[str]) -> str:
    """Repeat all that was given to a misspelt command."""
    return command if not given or any(map(hidden, given)) else f"{command} {line(*given)}"
