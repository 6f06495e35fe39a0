"""Limits of the YAML reader: hostile texts are told of, and no parser is given them."""

from __future__ import annotations

import pytest

from qmd.errors import ConfigError
from qmd.settings import commented_yaml as commented
from qmd.settings import config, edit
from qmd.settings.environment import Place
from qmd.text import markdown, yaml_reader
from qmd.text.yaml_reader import FRONTMATTER, SETTINGS, LimitExceeded, YamlError, read

MANY = 100_000


def bomb(items, aliases, levels):
    """Lists of aliases of lists: items * aliases ** levels values."""
    lines = [f"a0: &a0 [{'x, ' * items}]"]
    for level in range(1, levels + 1):
        lines.append(f"a{level}: &a{level} [{f'*a{level - 1}, ' * aliases}]")
    return "\n".join(lines)


UNPARSED = {
    "a: " + "[" * MANY: "brackets in",
    "a: " + "[" * MANY + "]" * MANY: "brackets in",
    "a: " + "{" * MANY: "brackets in",
    "a: " + "[{" * (MANY // 2): "brackets in",
    "a: " + "[" * 2000 + "x, " * MANY: "brackets in",
    "a: b\n" * 3 * MANY: "characters, and at most",
    bomb(500, 10, 4): "aliases (*name) that stand for 5,567,851 values",
    bomb(1, 2, 40): "aliases (*name) that stand for",
    f"a: &a [{'x, ' * 3000}]\nb: [{'*a, ' * 3000}]": "too many",
}


@pytest.fixture
def place(tmp_path):
    return Place("index", tmp_path / "index.yml", tmp_path / "i", None, tmp_path / "trusted.json")


@pytest.fixture
def unparsed(monkeypatch):
    """No text is parsed."""
    monkeypatch.setattr("ryaml.loads", lambda _: pytest.fail("ryaml was given the text"))
    monkeypatch.setattr(
        "qmd.settings.commented_yaml.yaml", lambda: pytest.fail("ruamel.yaml was given the text")
    )


@pytest.mark.parametrize(("text", "problem"), UNPARSED.items(), ids=range(len(UNPARSED)))
def test_a_text_that_takes_too_long_is_refused_before_it_is_parsed(place, unparsed, text, problem):
    place.config.write_text(text)
    for work in (lambda: config.load(place), lambda: edit.edit(place, lambda _: None)):
        with pytest.raises(ConfigError, match=r"index\.yml: the file has ") as refused:
            work()
        # A settings file of that size is refused for its characters first.
        assert problem in str(refused.value) or len(text) > SETTINGS.characters
    matter = markdown.frontmatter(f"---\n{text}\n---\n# Tea")
    assert matter.metadata == {}
    assert matter.problem.startswith("frontmatter has ")
    assert problem in matter.problem
    assert place.config.read_text() == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# c\n" * 20_001, "lines, and at most 20,000"),
        ("a: b\n" + "\n" * 20_001, "lines, and at most 20,000"),
        ("a: b\n" + "\r" * 20_001, "lines, and at most 20,000"),
        ("".join(f"a{number}:\n  <<: *b\n" for number in range(201)), "has 201 merges (<<)"),
        (f"a: [{'x, ' * 10_001}]", "more than 10,000 keys and values"),
        ("".join(f"a{number}: b\n" for number in range(5_001)), "more than 10,000 keys and values"),
        (f"a: {'[' * 17}{']' * 17}", "nests lists and mappings in more than 16 levels"),
        (f"{'- ' * 200}a", "nests lists and mappings in more than 128 levels"),
        (f"{'? ' * 200}a", "nests lists and mappings in more than 128 levels"),
        ("".join(" " * n + "a:\n" for n in range(20)), "in more than 16 levels"),
        ("".join(" " * n + "a:\n" for n in range(200)), "in more than 128 levels"),
    ],
)
def test_a_settings_file_has_limits_for_what_ruamel_takes_long_for(
    place, monkeypatch, text, problem
):
    monkeypatch.setattr(
        "qmd.settings.commented_yaml.yaml", lambda: pytest.fail("ruamel.yaml was given the text")
    )
    place.config.write_text(text, newline="")
    with pytest.raises(ConfigError) as refused:
        commented.parse_commented(text, place.config)
    assert problem in str(refused.value)
    with pytest.raises(ConfigError) as refused:
        edit.edit(place, lambda _: None)
    assert problem in str(refused.value)
    assert place.config.read_bytes() == text.encode()


def test_a_settings_file_of_any_size_is_not_read_to_its_end(place):
    with place.config.open("wb") as file:
        file.truncate(1 << 40)
    for work in (config.digest, config.load, config.is_blank):
        with pytest.raises(ConfigError, match="more than 1,048,576 bytes, which is the limit"):
            work(place)


def test_a_large_settings_file_with_a_mistake_is_told_of_without_ruamel(place, monkeypatch):
    monkeypatch.setattr(
        "qmd.settings.commented_yaml.yaml", lambda: pytest.fail("ruamel.yaml was given the text")
    )
    long = f"global_context: {'x ' * 20_000}\n"
    place.config.write_text(f"{long}colections: {{}}\n")
    with pytest.raises(ConfigError, match=r"index\.yml: unknown key 'colections' in index\.yml"):
        config.load(place)
    place.config.write_text(f"{long}collections: [\n")
    with pytest.raises(ConfigError, match=r"index\.yml:3: did not find expected node content"):
        config.load(place)


def test_settings_within_the_limits_are_read_and_written(place):
    entries = "".join(f"  c{n}: {{path: /c{n}, ignore: [a, b]}}\n" for n in range(900))
    place.config.write_text(f"collections:\n{entries}")
    assert len(config.load(place).collections) == 900
    shared = "collections:\n  a: &a\n    path: /a\n"
    shared += "".join(f"  c{n}:\n    <<: *a\n    path: /c{n}\n" for n in range(100))
    place.config.write_text(shared)
    assert len(config.load(place).collections) == 101


@pytest.mark.parametrize("limits", [FRONTMATTER, SETTINGS])
def test_aliases_that_stand_for_little_are_read(limits):
    text = f"a: &a [1, 2]\nb: [{'*a, ' * 40}]\nc: 'R&D *x*'"
    assert read(text, limits) == {"a": [1, 2], "b": [[1, 2]] * 40, "c": "R&D *x*"}


@pytest.mark.parametrize(
    "text",
    [
        f"a: &a [1]\nb: [{'*a, ' * 40}*c]",
        f"a: &a [*a, {'*a, ' * 40}]",
        f"a: &a:b [1]\nb: [{'*a:b, ' * 40}]",
        f"a: &a [1]\nb: [{'*a, ' * 40}",
    ],
)
def test_aliases_that_cannot_be_counted_are_no_yaml(monkeypatch, text):
    monkeypatch.setattr("ryaml.loads", lambda _: pytest.fail("ryaml was given the text"))
    with pytest.raises(YamlError) as refused:
        read(text, FRONTMATTER)
    assert not isinstance(refused.value, LimitExceeded)


def test_no_library_is_imported_with_the_reader():
    assert not {"ryaml", "YAML"} & vars(yaml_reader).keys()
