"""What a model takes, and what becomes of the vectors of another one."""

from __future__ import annotations

import numpy as np
import pytest

from qmd.embedding import vectors as embeddings
from qmd.embedding.passages import TITLE_SHARE
from qmd.errors import ModelUnusable, NotEmbedded, TextTooLong
from qmd.models.registry import EMBEDDING_GEMMA
from qmd.settings.environment import Machine
from tests.embedding.embedding import SMALL, assert_whole, counted, vectors, write_many
from tests.library import FakeEmbedder, Library, drawn

# -- the model and its limits --------------------------------------------------


def test_no_text_has_more_tokens_than_the_model_takes(faked, fake):
    fake.limit = 24
    faked.write("long.md", "# Long\n\n" + "word " * 500)
    faked.update()
    assert faked.embed().failed == []
    assert max(fake.count(fake.made)) <= 24


def test_a_model_is_prompted_as_it_wants_and_a_title_leaves_room_for_the_passage(tmp_path, fake):
    """A heading may be as long as a document. The first note here has nothing else."""
    hub = tmp_path / "hub" / "models--ggml-org--embeddinggemma-300M-GGUF"
    file = hub / "snapshots" / "c0ffee" / "embeddinggemma-300M-Q8_0.gguf"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"GGUF")
    (hub / "refs").mkdir()
    (hub / "refs" / "main").write_text("c0ffee")
    library = Library(tmp_path, Machine(hub=tmp_path / "hub"))
    library.configure(more="chunk: {tokens: 40}")
    library.write("line.md", "# " + "word " * 3000)
    library.write("tea.md", "# Tea\n\nWith milk.")
    library.update()
    assert library.engine.models.space().model.name == EMBEDDING_GEMMA.name
    report = library.embed()
    assert (report.lacking, report.failed) == (0, [])
    assert "title: Tea | text: # Tea\n\nWith milk." in fake.made
    title = ("word " * 3000)[: int(40 * TITLE_SHARE)]
    assert f"title: {title} | text: # word" in "\n".join(fake.made)
    assert len(fake.made) < 150
    library.nearest("is there milk")
    assert fake.made[-1] == "task: search result | query: is there milk"
    library.engine.close()


def test_a_grapheme_that_is_too_long_for_the_model_is_named_and_the_rest_is_embedded(faked, fake):
    fake.count = lambda texts: [len(text) for text in texts]
    faked.write("marks.md", "# Marks\n\ntea\n\na" + "\u0301" * 100 + "\n\nrain")
    faked.write("tea.md", "# Tea\n\nA cup of tea.")
    faked.update()
    report = faked.embed()
    assert report.failed == [("notes/marks.md:5", str(TextTooLong(101, 60)))]
    assert counted(report)[1:] == (2, 1, 1)
    assert {result.file for result in faked.nearest("tea")} == {"notes/marks.md", "notes/tea.md"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("one character", "x"),
        ("emoji", "🍵👩‍👩‍👧‍👦🇯🇵"),
        ("punctuation", "...!!! --- ???"),
        ("Chinese and Japanese", "有馬温泉は日本三古泉の一つ。山中的热水。" * 40),
        ("a single line", "tea river mountain " * 16_000),
        ("no words that the model knows", "zyxwvu " * 400),
        ("invisible", "\ufeff\u200b\u200b"),
        ("a carriage return and a form feed", "a\r\n\x0cb\r\n"),
    ],
)
def test_any_document_gets_its_vectors(meaning, name, text):
    meaning.write("odd.md", text)
    meaning.write("tea.md", "# Tea\n\nA cup of tea.")
    meaning.update()
    report = meaning.embed()
    assert (report.documents, report.lacking, report.failed) == (2, 0, [])
    lengths = [np.linalg.norm(vector) for vector in vectors(meaning).values()]
    assert lengths == pytest.approx(np.ones(len(lengths)), abs=1e-5)
    assert {result.file for result in meaning.nearest("tea")} == {"notes/odd.md", "notes/tea.md"}


@pytest.mark.parametrize("kind", ["generator", "ranker", "judge"])
def test_a_model_that_makes_no_vectors_is_refused_before_anything_is_written(
    tmp_path, request, kind
):
    file = request.getfixturevalue(f"tiny_{kind}")
    library = Library(tmp_path, Machine({"embed": str(file)}, hub=tmp_path / "hub"))
    write_many(library, 2)
    before = (tmp_path / "index.duckdb").read_bytes()
    with pytest.raises(ModelUnusable, match="makes no vectors of texts"):
        library.embed()
    assert (tmp_path / "index.duckdb").read_bytes() == before
    library.engine.close()


# -- other models, other settings ----------------------------------------------


def test_vectors_made_with_other_settings_stay_until_the_new_ones_are_complete(faked, fake):
    write_many(faked, 3)
    faked.embed()
    faked.configure(more=SMALL)
    fake.refused = {"Note 1"}
    faked.embed()
    stored = faked.engine.read(embeddings.models)
    assert sorted(each.embeddings for each in stored) == [2, 3]
    fake.refused = set()
    faked.embed()
    [only] = faked.engine.read(embeddings.models)
    assert only.fingerprint == faked.engine.models.space().fingerprint
    assert (only.chunks, only.embeddings) == (3, 3)
    assert_whole(faked)


def test_vectors_of_another_model_stay_beside_and_are_never_mixed(faked, fake):
    write_many(faked, 3)
    faked.embed()
    other = faked.folder / "other.gguf"
    other.write_bytes(b"GGUF, but another")
    second = FakeEmbedder(dimensions=8)
    library = Library(faked.folder, Machine({"embed": str(other)}, hub=faked.folder / "hub"))
    library.engine.models._loaded["embed"] = library.engine.models.space().fingerprint, second
    with pytest.raises(NotEmbedded, match=r"(?s)Run 'qmd embed' first.*vectors of fake\.gguf"):
        library.nearest("one two")
    assert library.embed().chunks == 3
    for each, dimensions in ((library, 8), (faked, 16)):
        found = each.nearest("one two")
        assert len(found) == 3
        for result in found:
            text = (each.folder / result.file).read_text()
            expected = max(0, drawn("one two", dimensions) @ drawn(text, dimensions))
            assert result.score == pytest.approx(expected, abs=1e-6)
    assert faked.problems() == []
    library.engine.close()


def test_vectors_that_got_another_width_are_made_again(faked, fake):
    """As when an endpoint puts another model in the place of one."""
    write_many(faked, 3)
    faked.embed()
    fake.dimensions = 8
    fake.vector = lambda text: drawn(text, 8)
    with pytest.raises(NotEmbedded):
        faked.nearest("one two")
    assert counted(faked.embed()) == (3, 3, 0, 0)
    assert len(faked.nearest("one two")) == 3
    assert {len(vector) for vector in vectors(faked).values()} == {8}
    assert faked.problems() == []
