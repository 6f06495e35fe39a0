"""Model selection for each role, and the fingerprint of its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from qmd.errors import ModelMissing, UsageError
from qmd.models import hub
from qmd.models.registry import (
    E5_SPACE,
    EMBEDDED_SPACE,
    EMBEDDING_GEMMA,
    MINILM,
    QUERY_EXPANSION,
    QWEN3_RERANKER,
    Model,
    Role,
    can_run,
    check_gguf,
    find,
)
from qmd.named_tuple import NamedTuple
from qmd.settings.environment import Machine
from qmd.settings.schema import Settings

if TYPE_CHECKING:
    from qmd.models.endpoint import Endpoint
    from qmd.models.llama import Llama
    from qmd.models.protocols import Embedder, Generator, Reranker

PREFERRED: Mapping[Role, Model] = {
    "embed": EMBEDDING_GEMMA,
    "rerank": QWEN3_RERANKER,
    "generate": QUERY_EXPANSION,
}
"""Model of each role that is used once its file has been downloaded."""

WORKING_LIMIT = 4096
"""Tokens of a reranker's or generator's context, at most: memory grows with it."""

CUT = "1"
"""Version of the chunking: changes whenever the same text would give other chunks."""

SAMPLE, SAMPLES = 1 << 16, 16
"""Bytes of a sample, and samples of a file, that identify it among others of its size."""


class Space(NamedTuple):
    """Vector space: the vectors of one model over texts with the same chunking.

    Attributes:
        fingerprint: of all that a vector depends on, besides its text.
        tokens: of a chunk at most.
        overlap: share of a chunk that the next one repeats.
        strategy: see `Settings`.
    """

    model: Model
    fingerprint: str
    tokens: int
    overlap: float
    strategy: str


def chosen(role: Role, settings: Settings, machine: Machine, *, folder: Path) -> Model | None:
    """Select the model of a role: from the environment, else index.yml, else a default.

    Without a word from the user, it is the preferred one if its file is here; if not, the
    embedded one for vectors, and none for the rest.

    Args:
        folder: what a relative path in index.yml begins at.

    Raises:
        UnknownModel: the name is none.
    """
    if role in machine.chosen:
        return find(machine.chosen[role], role)
    if role in settings.models:
        return find(settings.models[role], role, folder=folder)
    preferred = PREFERRED[role]
    if hub.cached(preferred.uri, machine.hub) is not None:
        return preferred
    return MINILM if role == "embed" else None


def located(model: Model, machine: Machine) -> Model:
    """Return the model with the path of its local file as URI.

    A remote model and the one in the package are unchanged.

    Raises:
        ModelMissing: its file has not been fetched, or is gone.
        ModelUnusable: its file is something else.
    """
    if model.is_remote or model.is_embedded:
        return model
    if model.is_in_package:
        from qmd.models import e5

        return model._replace(uri=str(e5.model_folder(machine.hub)))
    if model.is_on_hub:
        try:
            path = hub.cached(model.uri, machine.hub)
        except UsageError as error:
            problem = str(error).split("\n")[0]
            raise ModelMissing(model.name, problem, pull=False) from error
        if path is None:
            raise ModelMissing(model.name, f"{model.uri} has not been fetched.")
        model = model._replace(uri=str(path))
    check_gguf(model)
    return model


def space(model: Model, settings: Settings, machine: Machine) -> Space:
    """Return the vector space of a model with the current settings.

    Raises:
        ModelMissing: its file is not here.
    """
    import xxhash

    here = located(model, machine)
    tokens = min(settings.chunk_tokens, model.context or settings.chunk_tokens)
    parts = (
        identity(model, machine),
        tokens,
        settings.chunk_overlap,
        settings.chunk_strategy,
        CUT,
    )
    fingerprint = xxhash.xxh3_128_hexdigest("\0".join(map(str, parts)).encode())
    return Space(here, fingerprint, tokens, settings.chunk_overlap, settings.chunk_strategy)


def identity(model: Model, machine: Machine) -> str:
    """Compute the fingerprint of a model: its file or endpoint, and its prompts.

    Raises:
        ModelMissing, ModelUnusable: its file is not here, or is something else.
    """
    if model.is_remote:
        place = f"{machine.endpoint} {model.uri}"
    elif model.is_embedded:
        place = EMBEDDED_SPACE
    elif model.is_in_package:
        place = E5_SPACE
    else:
        path = Path(located(model, machine).uri)
        info = path.stat()
        place = _sampled(path, info.st_size, info.st_mtime_ns, info.st_ino)
    parts = (place, model.pooling, model.dimensions, model.query, model.document)
    return "\0".join(map(str, parts))


@lru_cache(maxsize=16)
def _sampled(path: Path, size: int, mtime_ns: int, inode: int) -> str:
    """Hash the size of a file and samples of its bytes, in a millisecond."""
    import xxhash

    digest = xxhash.xxh3_128()
    with path.open("rb") as file:
        digest.update(str(size).encode())
        last = max(0, size - SAMPLE)
        for sample in range(SAMPLES):
            file.seek(last * sample // (SAMPLES - 1))
            digest.update(file.read(SAMPLE))
    return digest.hexdigest()


def embedder(model: Model, machine: Machine, *, limit: int) -> Embedder:
    """Load an embedder.

    Args:
        model: located.
        limit: tokens of a text, at most.

    Raises:
        RuntimeMissing, ModelMissing, ModelUnusable: it cannot run here.
    """
    if model.is_remote:
        from qmd.models.remote import RemoteEmbedder

        return RemoteEmbedder(model, _endpoint(machine))
    if model.pieces is not None:
        from qmd.models.encoder import Encoder

        notes = machine.notes if machine.gpu else None
        return Encoder(model, limit=limit, device=partial(_device, notes))
    return _llama(model, machine, limit)


def _device(notes: Path | None) -> str | None:
    """Choose the GPU for the included model, if one is faster."""
    if notes is None:
        return None
    from qmd.models import devices

    return devices.worthwhile(notes)


def reranker(model: Model, machine: Machine) -> Reranker:
    """Load a reranker. See `embedder`."""
    if model.is_remote:
        from qmd.models.remote import RemoteReranker

        return RemoteReranker(model, _endpoint(machine))
    return _llama(model, machine, WORKING_LIMIT)


def generator(model: Model, machine: Machine) -> Generator:
    """Load a generator. See `embedder`."""
    if model.is_remote:
        from qmd.models.remote import RemoteGenerator

        return RemoteGenerator(model, _endpoint(machine))
    return _llama(model, machine, WORKING_LIMIT)


def _endpoint(machine: Machine) -> Endpoint:
    from qmd.models.endpoint import Endpoint

    return Endpoint(machine.endpoint, machine.key)


def _llama(model: Model, machine: Machine, limit: int) -> Llama:
    from qmd.models.llama import Llama
    from qmd.models.llama_bindings import tiles_work

    tiles = can_run(model) and machine.notes is not None and tiles_work(machine.notes, model)
    return Llama(model, limit=limit, gpu=machine.gpu, tiles=tiles)
