"""Features of frozen models: computed once, equal up to rounding, computed again if damaged."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests import stacked  # noqa: E402
from tests.models.test_every_family import data, finish  # noqa: E402, F401
from workbench.base import paths  # noqa: E402
from workbench.models import device as devices  # noqa: E402
from workbench.models.base import FeatureSource  # noqa: E402
from workbench.models.families.bilstm.embeddings import FrozenModel  # noqa: E402
from workbench.models.families.elmo.encoder import ElmoEncoder  # noqa: E402
from workbench.tasks.predictor import Predictor  # noqa: E402
from workbench.training import features, loop  # noqa: E402
from workbench.training.events import FeatureProgress, LogMessage, Saved, Step  # noqa: E402
from workbench.training.spec import TrainSpec  # noqa: E402


@pytest.fixture(scope="module")
def elmo(tmp_path_factory):
    return stacked.models(tmp_path_factory.mktemp("parts") / "models")["elmo"]


@pytest.fixture
def calls(monkeypatch):
    """The calls of the frozen ELMo, one string each."""
    found, forward = [], ElmoEncoder.forward

    def counted(self, inputs):
        found.append("training" if self.training else "eval")
        return forward(self, inputs)

    monkeypatch.setattr(ElmoEncoder, "forward", counted)
    return found


def steps(work, calls):
    """The number of calls until each step, without those for one batch of a saved checkpoint, with
    which it is compared when it is loaded again.
    """
    saved, found = 0, []
    for event in work:
        saved += isinstance(event, Saved)
        if isinstance(event, Step):
            found.append(len(calls) - saved)
    return found


@pytest.fixture
def spec(elmo):
    def make(**settings):
        given = {"epochs": 3, "device": "cpu", "batch_size": 8, "lstm_width": 8, **settings}
        given["embeddings"] = f"words+{elmo}"
        new = str(paths.resource("models") / "bilstm")
        return TrainSpec("tag", "places", new, options=given, family="bilstm")

    return make


def test_later_epochs_and_runs_do_not_call_the_model(spec, data, tmp_path, calls):  # noqa: F811
    seen = steps(loop.train(spec(), data, tmp_path / "run"), calls)

    assert seen[0] == seen[-1] > 0
    del calls[:]
    finish(loop.train(spec(), data, tmp_path / "again"))
    # of the saved checkpoint, of the CPU time of predictions, of the checkpoint loaded again
    assert calls == ["eval"] * 3


def test_scores_are_those_without_a_cache(spec, data, tmp_path, monkeypatch):  # noqa: F811
    losses = []
    for fits in (True, False):
        monkeypatch.setattr(features.FeatureCache, "fits", lambda self, rows, fits=fits: fits)
        work = loop.train(spec(), data, tmp_path / str(fits))
        losses.append([sum(event.losses.values()) for event in work if isinstance(event, Step)])

    np.testing.assert_allclose(*losses, rtol=2e-3)


def test_progress_is_reported_and_stopping_ends_the_computation(spec, data, tmp_path):  # noqa: F811
    work, found, command = loop.train(spec(), data, tmp_path / "run"), [], None
    with pytest.raises(StopIteration):
        while True:
            found.append(work.send(command))
            command = "stop" if isinstance(found[-1], FeatureProgress) else None

    progress = [item for item in found if isinstance(item, FeatureProgress)]
    assert [item.done for item in progress] == [0] and progress[0].total == 16
    assert "Computing features" in " ".join(
        item.line for item in found if isinstance(item, LogMessage)
    )


def test_damaged_features_are_computed_again(spec, data, tmp_path, calls):  # noqa: F811
    finish(loop.train(spec(epochs=1), data, tmp_path / "run"))
    for path in (paths.cache_folder() / features.FOLDER).glob("*/*.rows"):
        path.write_bytes(b"\0" * path.stat().st_size)
    del calls[:]

    finish(loop.train(spec(epochs=1), data, tmp_path / "again"))

    assert calls


def test_random_weights_have_features_of_their_own(spec, data, tmp_path, calls):  # noqa: F811
    finish(loop.train(spec(epochs=1), data, tmp_path / "run"))
    del calls[:]

    finish(loop.train(spec(epochs=1, init="random"), data, tmp_path / "random"))

    assert calls


def test_features_that_cannot_be_stored_are_computed(spec, data, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr(features.paths, "cache_folder", lambda: tmp_path / "file")
    (tmp_path / "file").write_text("not a folder")

    found = list(loop.train(spec(epochs=1), data, tmp_path / "run"))

    assert any(isinstance(item, Step) for item in found)
    assert "cannot be stored" in " ".join(
        item.line for item in found if isinstance(item, LogMessage)
    )


@pytest.mark.parametrize("task", ["tag", "classify"])
def test_feature_extraction_reads_a_frozen_encoder_once(elmo, data, tmp_path, calls, task):  # noqa: F811
    given = {"epochs": 3, "device": "cpu", "batch_size": 8, "method": "frozen"}
    layer = {"tag": "places", "classify": "tone"}[task]
    spec = TrainSpec(task, layer, str(elmo), options=given)

    seen = steps(loop.train(spec, data, tmp_path / "run"), calls)

    assert seen[0] == seen[-1] > 0
    predicted = Predictor.load(tmp_path / "run" / "model", "cpu").predict(
        [record.document for record in data.records[:2]]
    )
    assert len(predicted) == 2


def test_all_layers_are_kept_for_a_head_that_combines_them(elmo, data, tmp_path, calls):  # noqa: F811
    given = {"epochs": 2, "device": "cpu", "method": "frozen", "layers": "mix"}
    spec = TrainSpec("tag", "places", str(elmo), options=given)

    seen = steps(loop.train(spec, data, tmp_path / "run"), calls)

    assert seen[0] == seen[-1] > 0


def test_static_vectors_are_looked_up_instead():
    encoder = stacked.new("words+chars")

    assert encoder.sources() == () and not isinstance(encoder.embeddings[0], FrozenModel)


def test_bf16_features_are_close_and_have_a_key_of_their_own():
    layer = torch.nn.Linear(4, 3)

    def compute(inputs):
        with torch.no_grad():
            return layer(inputs["x"])

    source, given = FeatureSource("y", ("x",), "key", 3, compute), {"x": torch.randn(2, 5, 4)}

    lower = features.in_bf16(source, torch.device("cpu"))

    torch.testing.assert_close(lower.compute(given).float(), compute(given), atol=0.03, rtol=0.03)
    assert lower.compute(given).dtype == torch.bfloat16 and lower.key != source.key


def test_only_the_training_texts_of_a_run_in_bf16_have_its_features(
    spec,
    data,  # noqa: F811
    tmp_path,
    monkeypatch,
):
    asked = []
    monkeypatch.setattr(
        features, "in_bf16", lambda source, device: asked.append(source.key) or source
    )
    monkeypatch.setattr(devices, "has_bf16", lambda device: True)
    work = loop.train(spec(epochs=1, precision="bf16"), data, tmp_path / "run")
    assert isinstance(next(event for event in work if isinstance(event, Step)), Step)

    assert len(asked) == 1  # dev has those of later predictions
    work.close()
