"""Links that lead out of a folder."""

import os
import shutil

import pytest

from workbench.base import paths, untrusted
from workbench.base.errors import ModelError
from workbench.base.untrusted import companion_leads_out, leads_out
from workbench.models import folder as folders
from workbench.models import spec
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.runtime.tokenizer import Tokenizer


def test_a_file_in_a_folder_that_is_a_link_leads_out(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.txt").write_text("")
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "inner").symlink_to(tmp_path / "other")

    assert leads_out(folder / "inner" / "a.txt", folder)


def test_a_companion_may_lie_where_its_file_leads(tmp_path):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "links").mkdir()
    for name in ("a.ann", "a.txt"):
        (tmp_path / "corpus" / name).write_text("")
        (tmp_path / "links" / name).symlink_to(tmp_path / "corpus" / name)
    own = tmp_path / "links" / "b.ann"
    own.write_text("")

    assert not companion_leads_out(tmp_path / "links" / "a.txt", tmp_path / "links" / "a.ann")
    assert companion_leads_out(tmp_path / "links" / "a.txt", own)


pytestmark = [
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes"),
    pytest.mark.timeout(30),
]
FILES = "tokenizer_config.json config.json tokenizer.json glossbench.json labels.json x/1.json"


@pytest.fixture(params=FILES.split())
def model(request, tmp_path):
    """The folder of a starter, in which one file is a pipe."""
    folder = shutil.copytree(paths.resource("models") / "starter-bert", tmp_path / "model")
    file = folder / request.param
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    return folder


@pytest.mark.parametrize("read", [folders.description, OnnxPredictor.load, Tokenizer.load])
def test_it_is_refused_where_a_model_is_read(read, model):
    with pytest.raises(ModelError):
        read(model)


def test_the_card_names_it(model):
    assert any("is a pipe or a device" in problem for problem in spec.card(model).problems)


def test_a_link_to_a_device_is_one(tmp_path):
    (tmp_path / "vocab.txt").symlink_to("/dev/zero")

    with pytest.raises(ModelError, match="vocab.txt is a pipe or a device"):
        untrusted.refuse_special_files(tmp_path)


def test_a_pipe_in_place_of_a_model_is_refused(tmp_path):
    os.mkfifo(tmp_path / "vectors.vec")

    assert "is a pipe or a device" in spec.card(tmp_path / "vectors.vec").problems[0]


def test_the_lists_of_a_cache_may_be_pipes(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    repository = tmp_path / "models--ada--tiny"
    (repository / "refs").mkdir(parents=True)
    (repository / "snapshots" / "1").mkdir(parents=True)
    os.mkfifo(repository / "refs" / "main")

    assert spec.cached() is not None
