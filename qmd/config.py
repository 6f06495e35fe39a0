"""Settings: where things are, and what index.yml says.

Defaults, then index.yml, then the environment, then flags. Nobody else reads the
environment; everybody is given what they need.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from qmd.errors import ConfigError, UsageError
from qmd.text.masks import check_mask
from qmd.types import EXPERIENCES, Collection, Context

DEFAULT_MASK = "**/*.md"
LOCAL_FOLDER = ".qmd"
YES = frozenset({"1", "true", "yes", "on"})
CHUNK_STRATEGIES = ("auto", "plain")


class Place(NamedTuple):
    """Where one index lives.

    Attributes:
        config: its index.yml.
        database: its DuckDB file.
        project: the folder of a project-local index, or None for the user's own.
        trusted: file in which the user's approvals of projects are kept.
        trust_all: approve every project.
        home: what `~` stands for; None is the home of this process.
    """

    name: str
    config: Path
    database: Path
    project: Path | None
    trusted: Path
    trust_all: bool = False
    home: Path | None = None


def locate(environ: Mapping[str, str], folder: Path, *, index: str | None = None) -> Place:
    """The index that a command means: `--index`, else the project's, else the user's.

    Raises:
        UsageError: the name of the index is a path, or `INDEX_PATH` begins with the home
            of somebody who is not known here.
    """
    home = Path(environ.get("HOME") or Path.home())
    config_home = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "qmd"
    config = Path(environ.get("QMD_CONFIG_DIR") or config_home)
    cache = Path(environ.get("XDG_CACHE_HOME") or home / ".cache") / "qmd"
    trusted = config / "trusted.json"
    trust_all = environ.get("QMD_TRUST_LOCAL_CONFIG") == "1"
    if index is not None and (not index or "/" in index or index.startswith(".")):
        raise UsageError(
            f"'{index}' cannot be the name of an index.\n\n"
            "A name is a word such as 'work'; its settings are kept in work.yml."
        )
    name = index or "index"
    database = cache / f"{name}.duckdb"
    if index is None and environ.get("INDEX_PATH"):
        database = _expanded(environ["INDEX_PATH"], home)
    user = Place(name, config / f"{name}.yml", database.absolute(), None, trusted, trust_all, home)
    own = environ.get("INDEX_PATH") or environ.get("QMD_CONFIG_DIR")
    project = _project(folder) if index is None and not own else None
    return user if project is None else _in_project(user, project)


def at(environ: Mapping[str, str], path: Path) -> Place:
    """The index of a project's folder, or of a DuckDB file.

    The settings of a file are where the command line has them, if it is one that the command line
    would use; else beside it: `work.duckdb` has `work.yml`.

    Raises:
        UsageError: a folder has no index of its own, or the file is one of settings.
    """
    home = Path(environ.get("HOME") or Path.home())
    path = Path(os.path.abspath(_expanded(str(path), home)))  # noqa: PTH100
    folder = path if path.is_dir() else path.parent
    if folder.name == LOCAL_FOLDER:
        folder = folder.parent
    if (folder / LOCAL_FOLDER / "index.yml").is_file():
        project = _in_project(locate(environ, folder, index="index"), folder)
        if path in (folder, project.config.parent, project.database):
            return project
    if path.is_dir():
        raise UsageError(
            f"{path} has no index of its own.\n\n"
            "Make one with 'qmd init' there, or name the file of an index: index.duckdb."
        )
    if path.suffix in (".yml", ".yaml"):
        raise UsageError(f"{path} has settings.\n\nName the index that they are of: index.duckdb.")
    named = locate(environ, folder, index=path.stem)
    for place in (locate(environ, Path.cwd()), named):
        if os.path.realpath(place.database) == os.path.realpath(path):
            return place
    return named._replace(config=path.with_suffix(".yml"), database=path)


def _in_project(user: Place, project: Path) -> Place:
    """The index of a project, for a user with an index of their own."""
    local = project / LOCAL_FOLDER
    return user._replace(
        name="index", config=local / "index.yml", database=local / "index.duckdb", project=project
    )


class Machine(NamedTuple):
    """What the environment says of models.

    Attributes:
        chosen: name of a model for a role, over what index.yml says.
        hub: folder in which files of the model hub are kept; by default none.
        offline: fetch nothing.
        hub_token: for files behind a licence.
        endpoint: base URL of the models that are not run here.
        key: for the endpoint.
        gpu: whether one may be used.
        notes: folder for what is found out about this machine; None: nothing is tried.
    """

    chosen: Mapping[str, str] = MappingProxyType({})
    hub: Path = Path(os.devnull)
    offline: bool = False
    hub_token: str | None = None
    endpoint: str = "https://api.openai.com/v1"
    key: str | None = None
    gpu: bool = True
    notes: Path | None = None


def machine(environ: Mapping[str, str], *, gpu: bool = True) -> Machine:
    """What the environment says of models.

    Args:
        gpu: what the command line says.
    """
    home = Path(environ.get("HOME") or Path.home())
    cache = Path(environ.get("XDG_CACHE_HOME") or home / ".cache")
    hugging_face = Path(environ.get("HF_HOME") or cache / "huggingface")
    roles = {
        "embed": "QMD_EMBED_MODEL",
        "rerank": "QMD_RERANK_MODEL",
        "generate": "QMD_GENERATE_MODEL",
    }
    return Machine(
        {role: environ[name] for role, name in roles.items() if environ.get(name)},
        Path(environ.get("HF_HUB_CACHE") or hugging_face / "hub"),
        environ.get("HF_HUB_OFFLINE", "").lower() in YES,
        environ.get("HF_TOKEN"),
        (environ.get("OPENAI_BASE_URL") or Machine().endpoint).rstrip("/"),
        environ.get("OPENAI_API_KEY"),
        gpu and environ.get("QMD_FORCE_CPU", "").lower() not in YES,
        cache / "qmd",
    )


class Serving(NamedTuple):
    """What the environment says of servers.

    Attributes:
        token: that a request has to bring.
        origins: of web pages that may ask, besides those of this machine.
        hosts: names that the server has for those who ask, besides those of this machine.
        state: folder for what is known of servers that run.
        debug: whether the log tells everything.
    """

    token: str | None
    origins: tuple[str, ...]
    hosts: tuple[str, ...]
    state: Path
    debug: bool = False


def serving(environ: Mapping[str, str]) -> Serving:
    """What the environment says of servers."""
    home = home_of(environ)
    return Serving(
        environ.get("QMD_TOKEN") or None,
        _listed(environ.get("QMD_ALLOWED_ORIGINS", "")),
        _listed(environ.get("QMD_ALLOWED_HOSTS", "")),
        Path(environ.get("XDG_STATE_HOME") or home / ".local" / "state") / "qmd",
        environ.get("QMD_DEBUG") == "1",
    )


CARRIED = (
    "INDEX_PATH",
    "QMD_CONFIG_DIR",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "QMD_EMBED_MODEL",
    "QMD_RERANK_MODEL",
    "QMD_GENERATE_MODEL",
)
"""Variables that choose the index and its models."""


def carried(environ: Mapping[str, str]) -> dict[str, str]:
    """What else has to be set where a qmd for the same index is started from elsewhere."""
    home = home_of(environ)
    return {
        name: value if name.endswith("_MODEL") else str(_expanded(value, home).absolute())
        for name in CARRIED
        if (value := environ.get(name))
    }


def home_of(environ: Mapping[str, str]) -> Path:
    """The home of the user."""
    return Path(environ.get("HOME") or Path.home())


def _listed(text: str) -> tuple[str, ...]:
    """The parts of a list with commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _expanded(path: str, home: Path) -> Path:
    """`path` with the folder that a `~` or `~name` in front stands for."""
    if path == "~" or path.startswith("~/"):
        return home / path[1:].lstrip("/")
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise UsageError(f"Nobody knows whose home '{path}' begins with.") from error


def _project(folder: Path) -> Path | None:
    for parent in [folder, *folder.parents]:
        if (parent / LOCAL_FOLDER / "index.yml").is_file():
            return parent
    return None


class Settings(NamedTuple):
    """What an index.yml says.

    Attributes:
        models: name of a model for a role.
        chunk_tokens: of a chunk at most; the embedding model may want fewer.
        chunk_overlap: share of a chunk that the next one repeats.
        chunk_strategy: 'auto' cuts code where its syntax does, 'plain' nothing but lines.
        query_log: whether searches are noted, in a file beside the index.
    """

    collections: tuple[Collection, ...] = ()
    contexts: tuple[Context, ...] = ()
    editor_uri: str | None = None
    models: Mapping[str, str] = MappingProxyType({})
    chunk_tokens: int = 900
    chunk_overlap: float = 0.15
    chunk_strategy: str = "auto"
    query_log: bool = True


def digest(place: Place) -> str | None:
    """SHA-256 of the text of index.yml, or None if there is none."""
    try:
        return hashlib.sha256(place.config.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(place.config, error.strerror or str(error)) from error


def load(place: Place) -> Settings:
    """Read index.yml. None at all is the same as an empty one.

    Raises:
        ConfigError: it is not YAML, or says something unknown; with the line.
    """
    text = written(place.config)
    try:
        return understood(_parsed_fast(text), place)
    except (ValueError, ConfigError):
        # Or it is no mistake at all: who also writes the file has the last word, and knows lines.
        return understood(parsed(text, place.config), place)


def _parsed_fast(text: str) -> object:
    """The document in a text, in a tenth of the time; it knows no lines.

    Raises:
        ValueError: it cannot be read, or might be meant otherwise.
    """
    import ryaml

    if "<<" in text or "!" in text:
        raise ValueError
    return ryaml.loads(text)


def understood(document: object, place: Place) -> Settings:
    """What a parsed index.yml says; nothing, if it is None.

    Raises:
        ConfigError: it says something unknown; with the line.
    """
    return _Reader(place).settings(document) if document is not None else Settings()


def yaml() -> Any:
    """What reads and writes index.yml, comments and all."""
    from ruamel.yaml import YAML

    handler = YAML()
    handler.preserve_quotes = True
    handler.width = 4096
    handler.indent(mapping=2, sequence=4, offset=2)
    return handler


def written(path: Path) -> str:
    """What is written in a file; nothing if there is none."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise ConfigError(path, "this is not UTF-8 text") from error
    except OSError as error:
        raise ConfigError(path, error.strerror or str(error)) from error


def parsed(text: str, path: Path) -> Any:
    """The document in the text of a file; None if there is none."""
    if not text:
        return None
    from ruamel.yaml.error import YAMLError

    try:
        return yaml().load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ConfigError(path, str(problem), line=mark.line + 1 if mark else None) from error
    except RecursionError as error:
        raise ConfigError(path, "this is nested too deeply") from error
    except (LookupError, ValueError) as error:  # a value that is not what its tag says
        raise ConfigError(path, f"this cannot be read: {error}") from error


class _Reader:
    """Turns a parsed index.yml into settings; knows the line of every mistake."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def settings(self, document: object) -> Settings:
        known = ("global_context", "editor_uri", "query_log", "models", "chunk", "collections")
        top = self._mapping(document, known, "index.yml", parent=None, key=None)
        models = self._mapping(
            top.get("models"), ("embed", "rerank", "generate"), "models", parent=top, key="models"
        )
        chunk = self._mapping(
            top.get("chunk"), ("tokens", "overlap", "strategy"), "chunk", parent=top, key="chunk"
        )
        contexts = []
        whole = self._text(top, "global_context")
        if whole:
            contexts.append(Context(None, "", whole))
        collections = []
        entries = self._mapping(
            top.get("collections"), None, "collections", parent=top, key="collections"
        )
        for name, entry in entries.items():
            collection, described = self._collection(entries, name, entry)
            collections.append(collection)
            contexts += described
        tokens, overlap = chunk.get("tokens", 900), chunk.get("overlap", 0.15)
        if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 16:
            self._fail(chunk, "tokens", "'tokens' has to be a whole number of at least 16")
        if not isinstance(overlap, int | float) or not 0 <= overlap < 0.9:
            self._fail(chunk, "overlap", "'overlap' has to be a number from 0 to 0.9")
        strategy = self._text(chunk, "strategy") or "auto"
        if strategy not in CHUNK_STRATEGIES:
            self._fail(chunk, "strategy", "'strategy' has to be one of auto, plain")
        return Settings(
            tuple(collections),
            tuple(contexts),
            self._text(top, "editor_uri"),
            {str(role): model for role in models if (model := self._text(models, role))},
            tokens,
            float(overlap),
            strategy,
            self._flag(top, "query_log", default=True),
        )

    def _collection(
        self,
        entries: Any,
        key: object,
        entry: object,
    ) -> tuple[Collection, list[Context]]:
        known = (
            "path",
            "pattern",
            "ignore",
            "update",
            "includeByDefault",
            "context",
            "gitignore",
            "follow_symlinks",
        )
        name = str(key)
        here = self._mapping(entry, known, f"collection '{name}'", parent=entries, key=key)
        with self._failing(entries, key):
            check_name(name)
        path = self._text(here, "path")
        if not path:
            self._fail(entries, key, f"collection '{name}' needs a path")
        mask = self._text(here, "pattern") or DEFAULT_MASK
        with self._failing(here, "pattern"):
            check_mask(mask)
        described = self._mapping(
            here.get("context"), None, f"context of '{name}'", parent=here, key="context"
        )
        home = self._place.home or Path.home()
        with self._failing(here, "path"):
            root = (self._place.project or home) / _expanded(path, home)
        return (
            Collection(
                name,
                os.path.normpath(root),
                mask,
                self._texts(here, "ignore"),
                self._text(here, "update"),
                self._flag(here, "includeByDefault", default=True),
                self._flag(here, "follow_symlinks", default=False),
                self._flag(here, "gitignore", default=False),
            ),
            [
                Context(name, str(prefix).strip("/"), self._text(described, prefix) or "")
                for prefix in described
            ],
        )

    def _mapping(
        self,
        value: object,
        known: tuple[str, ...] | None,
        what: str,
        *,
        parent: Any,
        key: object,
    ) -> Any:
        if value is None:
            return {}
        if not isinstance(value, dict):
            self._fail(parent, key, f"{what} has to be a list of 'key: value' lines")
        for name in value:
            if known is not None and name not in known:
                self._fail(
                    value, name, f"unknown key '{name}' in {what}. Known: {', '.join(known)}."
                )
        return value

    def _text(self, mapping: Any, key: str) -> str | None:
        value = mapping.get(key)
        if value is None:
            return None
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            self._fail(mapping, key, f"'{key}' has to be text")
        return str(value)

    def _texts(self, mapping: Any, key: str) -> tuple[str, ...]:
        value = mapping.get(key)
        if value is None:
            return ()
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            self._fail(mapping, key, f"'{key}' has to be text or a list of text")
        return tuple(str(text) for text in texts if text)

    def _flag(self, mapping: Any, key: str, *, default: bool) -> bool:
        value = mapping.get(key, default)
        if not isinstance(value, bool):
            self._fail(mapping, key, f"'{key}' has to be true or false")
        return bool(value)

    @contextmanager
    def _failing(self, mapping: Any, key: object) -> Iterator[None]:
        """Tells of a usage error as a mistake in the file."""
        try:
            yield
        except UsageError as error:
            self._fail(mapping, key, str(error).split("\n")[0])

    def _fail(self, mapping: Any, key: object, problem: str) -> NoReturn:
        position = getattr(mapping, "lc", None)
        line = None
        if position is not None:
            line = (position.data or {}).get(key, [position.line])[0] + 1
        raise ConfigError(self._place.config, problem, line=line)


def check_name(name: str) -> None:
    """Refuse a collection name that could not be written in a path, or is not to be had.

    Raises:
        UsageError: it is empty, has a `/`, `:` or a line break, begins with `.`, `#` or `-`, or
            is that of the experience records.
    """
    if not name or name[0] in ".#-" or any(mark in name for mark in "/:?\n\r\t\0"):
        raise UsageError(
            f"'{name}' cannot be the name of a collection.\n\n"
            "A name is a word such as 'notes': no '/', ':' or '?', and no '.', '#' or '-' in front."
        )
    if name == EXPERIENCES:
        raise UsageError(
            f"The name '{name}' is kept for the records that agents submit: choose another for "
            "this collection."
        )
