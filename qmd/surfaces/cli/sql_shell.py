"""`qmd sql` without a query: a shell, in which each statement runs in a sandbox of its own."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import completion_is_selected
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from qmd.analytics import lexer
from qmd.analytics.sandbox import vocabulary
from qmd.analytics.views import views
from qmd.errors import QmdError
from qmd.settings import environment
from qmd.surfaces.cli.common import State, complain, notice, say

if TYPE_CHECKING:
    from qmd.analytics.query_result import Answer
    from qmd.analytics.sandbox import Limits
    from qmd.operations.index import Index

    Answered = Callable[[Index, str, Mapping[str, object], Limits], Answer]

HELP = """\
Write a query and end it with ; or ask for one of these:

  .tables    what can be asked: views, searches and their columns
  .examples  useful questions
  .quit      or Ctrl-D

A query may take several lines. Tab completes, Ctrl-C stops what runs, the arrow up brings back.
"""

COMMANDS = (".help", ".tables", ".examples", ".quit")


def run(
    here: State,
    limits: Limits,
    parameters: Mapping[str, object],
    *,
    answered: Answered,
    show: Callable[[Answer], None],
    texts: Mapping[str, Callable[[], str]],
) -> None:
    """Ask for queries and answer them, until the input ends.

    Args:
        answered: runs one statement.
        show: writes what it answers.
        texts: gives what a command such as `.tables` shows.
    """
    gc.enable()
    session: PromptSession[str] = PromptSession(
        "qmd> ",
        history=_history(here),
        completer=Words(),
        complete_while_typing=False,
        multiline=True,
        prompt_continuation="   > ",
        key_bindings=_keys(),
    )
    say("Views and searches of your index: .tables shows them, .help tells more.")
    with here.engine() as engine:
        while True:
            try:
                text = session.prompt().strip()
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            if text in (".quit", ".exit"):
                return
            if text:
                ask = partial(_answer, engine, answered, limits, parameters, show)
                _tell(text, texts) if text.startswith(".") else ask(text)


def _answer(
    engine: Index,
    answered: Answered,
    limits: Limits,
    parameters: Mapping[str, object],
    show: Callable[[Answer], None],
    text: str,
) -> None:
    """Run one statement and show what comes of it; parameters that it does not have wait."""
    try:
        named = lexer.parameters(text)
        given = {name: value for name, value in parameters.items() if name.lower() in named}
        answer = answered(engine, text, given, limits)
        try:
            for each in answer.notices:
                notice(each)
            show(answer)
        finally:
            answer.close()
    except QmdError as error:
        complain(error.told("command"))
    except KeyboardInterrupt:
        complain("Interrupted.")


def _tell(command: str, texts: Mapping[str, Callable[[], str]]) -> None:
    if command == ".help":
        say(HELP)
    elif command in texts:
        say(texts[command]())
    else:
        complain(f"There is no {command}. There are {', '.join(COMMANDS)}.")


def _history(here: State) -> History:
    """Load the earlier queries from the cache folder."""
    folder = environment.machine(here.environ).notes
    if folder is None:
        return InMemoryHistory()
    file = folder / "sql-history"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(file))


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter", filter=~completion_is_selected)
    def enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    @keys.add("enter", filter=completion_is_selected)
    def accept(event: KeyPressEvent) -> None:
        event.current_buffer.complete_state = None

    return keys


def is_complete(text: str) -> bool:
    """Return whether a text is complete: a command, nothing, or a statement with its `;`."""
    text = text.strip()
    if not text or text.startswith("."):
        return True
    return lexer.is_ended(text)


class Words(Completer):
    """Completes names of views, searches, columns and functions, keywords and commands."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}
        for word in vocabulary():
            self._words[word] = ""
        for view in views():
            for column in view.columns:
                known = self._words.get(column.name)
                place = f"{known}, {view.name}" if known else view.name
                self._words[column.name] = place
        for view in views():
            self._words[view.name] = view.about

    def get_completions(self, document: Document, _: CompleteEvent) -> Iterable[Completion]:
        """See `Completer`."""
        if document.text.lstrip().startswith("."):
            start = document.text.strip()
            for name in COMMANDS:
                if name.startswith(start):
                    yield Completion(name, -len(start))
            return
        start = document.get_word_before_cursor()
        if not start:
            return
        # What belongs to the index comes before the words of the language.
        for own in (True, False):
            for word, meaning in sorted(self._words.items()):
                if bool(meaning) is own and word.startswith(start.lower()):
                    yield Completion(word, -len(start), display_meta=meaning)
