"""Files of a model are exactly what the manifest says, or nothing is loaded."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import pytest

from service.adapters.onnx.deberta import build_encoder, position_rows
from service.adapters.onnx.derived import MINILM, deberta_recipe, derived_graph
from service.adapters.onnx.loading import ModelSettings, entry_for, load_entailment
from service.adapters.onnx.manifest import (
    file_sha256,
    read_manifest,
    verified_files,
)
from service.adapters.onnx.session import TokenSession
from service.adapters.onnx.windows import WindowTokenizer
from service.domain.errors import Unavailable
from service.modelkit.inventory import list_models, verify_models

PAIRS = [
    ("I moved to Lisbon in May.", "The user lives in Lisbon."),
    ("No.", "Yes."),
    ("We talked about " + "many things and " * 30, "The user talked."),
]


def test_packaged_files_match() -> None:
    for entry in read_manifest():
        assert set(verified_files(entry)) >= {"graph", "tokenizer"}
    assert {model.role for model in list_models()} == {"nli", "embedder"}
    assert [file for file in verify_models() if file.problem] == []


def test_changed_file_is_named(tmp_path: Path) -> None:
    entry = entry_for("nli", None)
    head = next(f for f in entry.files if f.part == "head")
    (tmp_path / head.path).write_bytes(b"something else")
    with pytest.raises(Unavailable, match=r"nli model: .*nli_head\.npz: sha256 is"):
        load_entailment(replace(entry, folder=tmp_path), ModelSettings(tmp_path))


def test_missing_file_is_named(tmp_path: Path) -> None:
    entry = replace(entry_for("nli", None), folder=tmp_path)
    with pytest.raises(Unavailable, match=r"nli_head\.npz: cannot be read"):
        verified_files(entry)


def test_missing_package_is_named() -> None:
    entry = entry_for("embedder", None)
    files = tuple(replace(f, package="no_such_package") for f in entry.files)
    with pytest.raises(Unavailable, match="no_such_package is not installed"):
        verified_files(replace(entry, files=files))


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"models": [{}]}', '{"models": [{"files": 1, "labels": []}]}']
)
def test_malformed_manifest_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(Unavailable, match=r"manifest\.json"):
        read_manifest(tmp_path / "manifest.json")


def test_folder_without_the_role(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"models": []}')
    with pytest.raises(Unavailable, match="nli model"):
        entry_for("nli", tmp_path)
    with pytest.raises(Unavailable, match="manifest"):
        entry_for("nli", tmp_path / "nowhere")


def test_verify_reports_every_problem(tmp_path: Path) -> None:
    row = {
        "id": "m", "role": "nli", "kind": "k", "source": "s", "revision": "1", "licence": "l",
        "window": 8, "batch": 1, "labels": [],
        "files": [
            {"part": "graph", "path": "g", "sha256": "0"},
            {"part": "tokenizer", "path": "t", "sha256": "0"},
            {"part": "head", "package": "no_such_package", "path": "h", "sha256": "0"},
        ],
    }  # fmt: skip
    (tmp_path / "manifest.json").write_text(json.dumps({"models": [row]}))
    (tmp_path / "g").write_text("x")
    problems = [file.problem for file in verify_models(tmp_path)]
    assert problems[0].startswith("sha256 is")
    assert "cannot be read" in problems[1]
    assert "not installed" in problems[2]


def test_identity_follows_every_hash() -> None:
    entry = entry_for("nli", None)
    changed = tuple(replace(f, sha256="0" * 64) if f.part == "head" else f for f in entry.files)
    assert replace(entry, files=changed).identity() != entry.identity()
    assert entry.identity().digest.startswith("sha256:")
    assert len(entry.identity().digest) == len("sha256:") + 64


def test_derived_graph_is_rebuilt_when_it_was_changed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = verified_files(entry_for("nli", None))["graph"]
    origin = (deberta_recipe((1,)), source, file_sha256(source), tmp_path)
    graph = derived_graph(*origin)
    expected = file_sha256(graph)
    graph.write_bytes(b"broken")
    assert file_sha256(derived_graph(*origin)) == expected
    assert "built again" in caplog.text
    graph.with_suffix(".json").write_text("{")
    assert file_sha256(derived_graph(*origin)) == expected
    assert {p.suffix for p in tmp_path.iterdir()} <= {".onnx", ".json", ".lock"}


def test_models_dir_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="cannot be written"):
        derived_graph(MINILM, tmp_path / "none", "0" * 64, tmp_path / "file" / "models")


def test_derivation_is_deterministic() -> None:
    source = onnx.load(verified_files(entry_for("nli", None))["graph"])
    first, second = (build_encoder(source, (1,)).SerializeToString() for _ in range(2))
    assert first == second


def test_last_layer_gives_what_it_would_give_in_the_middle(models_dir: Path) -> None:
    """The last layer works on the first token only; in the middle, all tokens go on."""
    entry = entry_for("nli", None)
    files = verified_files(entry)
    tokenizer = WindowTokenizer(files["tokenizer"], entry.window)
    batch = [e for pair in PAIRS for e in tokenizer.pair(*pair)]
    source = (files["graph"], file_sha256(files["graph"]), models_dir)
    ending, passing = (
        TokenSession(derived_graph(deberta_recipe(layers), *source), 1).run(batch)
        for layers in ((2,), (2, 3))
    )
    width = ending.shape[1]
    assert passing.shape == (len(batch), 2 * width)
    assert np.array_equal(ending, passing[:, :width])


def test_position_rows_are_exact_near_and_logarithmic_far() -> None:
    rows = position_rows()
    middle = len(rows) // 2
    assert rows[middle] == 256
    assert [rows[middle + d] for d in (-128, -1, 1, 127)] == [128, 255, 257, 383]
    assert rows[0] == 256 - 192
    assert rows[-1] == 256 + 192
    assert all(a <= b for a, b in pairwise(rows))
