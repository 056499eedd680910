"""YAML files are read safely, and what is wrong has its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.yaml_file import read_yaml


@pytest.mark.parametrize(
    ("content", "where", "what"),
    [
        (b"a: 1\nb: {c: 1}\na: 2\n", ":3", "the key 'a' occurs twice in one mapping"),
        (b"a:\n  - {b: 1,\n     b: 2}\n", ":3", "the key 'b' occurs twice"),
        (b"a: 1\nb: [1\n", ":3", "the table is not valid YAML"),
        (b"a: 1\nb: !!python/object:os.system {}\n", ":2", "the table is not valid YAML (could not determine a constructor"),
        (b"a: \xff", "", "the table is not UTF-8 (byte 4)"),
        (b"a: \x00", "", "the table is not valid YAML"),
        (b"[" * 5_000, ":1", "the table is not valid YAML"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, content: bytes, where: str, what: str) -> None:
    path = tmp_path / "table.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_yaml(path, "the table")
    assert str(caught.value).startswith(f"{path}{where}: ")
    assert what in str(caught.value)


def test_a_file_that_is_not_there_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.yaml: the table can't be read .*; name one"):
        read_yaml(tmp_path / "none.yaml", "the table", remedy="name one")


def test_values_and_json_are_read(tmp_path: Path) -> None:
    path = tmp_path / "table.yaml"
    path.write_text('a: &one {b: 1, "1": 2}\nc: {<<: *one, b: 2}\n')
    assert read_yaml(path) == {"a": {"b": 1, "1": 2}, "c": {"b": 2, "1": 2}}
    path.write_bytes(b'\xef\xbb\xbf{"a": [1, null, "\\u00e9"]}')
    assert read_yaml(path) == {"a": [1, None, "é"]}
