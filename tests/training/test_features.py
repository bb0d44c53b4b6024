"""Features of frozen models: computed once, equal up to rounding, computed again if damaged."""

import os

import numpy as np
import pytest

from workbench.training.features import FeatureCache, trim

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


def digest(number):
    return number.to_bytes(16, "big")


def fill(cache, numbers, rows=3):
    with cache.writing() as pack:
        for number in numbers:
            pack.add(digest(number), np.full((rows, cache.width), number, np.float32))


def packs(folder):
    return sorted(folder.glob("*/*.rows"))


def test_features_are_found_again_by_another_process(tmp_path):
    fill(FeatureCache(tmp_path, "key", 4), [1, 2])

    cache = FeatureCache(tmp_path, "key", 4)

    np.testing.assert_array_equal(cache.get(digest(2)), np.full((3, 4), 2, np.float16))
    assert cache.get(digest(3)) is None
    assert isinstance(cache.get(digest(1)).base, np.memmap)


def test_computations_do_not_share_features(tmp_path):
    fill(FeatureCache(tmp_path, "key", 4), [1])

    assert FeatureCache(tmp_path, "other", 4).get(digest(1)) is None
    assert FeatureCache(tmp_path, "key", 2).get(digest(1)) is None


@pytest.mark.parametrize("ending", [".rows", ".npy"])
@pytest.mark.parametrize("damage", ["flip", "cut", "empty"])
def test_damaged_features_are_not_returned(tmp_path, ending, damage):
    fill(FeatureCache(tmp_path, "key", 4), [1])
    (path,) = tmp_path.glob(f"*/*{ending}")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    changed = {"flip": content, "cut": content[:-5], "empty": b""}[damage]
    path.write_bytes(changed)

    assert FeatureCache(tmp_path, "key", 4).get(digest(1)) is None


def test_features_that_were_computed_again_replace_damaged_ones(tmp_path):
    fill(FeatureCache(tmp_path, "key", 4), [1])
    (path,) = packs(tmp_path)
    path.write_bytes(b"\0" * path.stat().st_size)
    cache = FeatureCache(tmp_path, "key", 4)
    assert cache.get(digest(1)) is None

    fill(cache, [1])

    assert cache.get(digest(1))[0, 0] == 1
    assert FeatureCache(tmp_path, "key", 4).get(digest(1))[0, 0] == 1


def test_a_pack_that_was_not_finished_is_left_out(tmp_path):
    cache = FeatureCache(tmp_path, "key", 4)

    with pytest.raises(KeyboardInterrupt), cache.writing() as pack:
        pack.add(digest(1), np.ones((3, 4)))
        raise KeyboardInterrupt

    assert cache.get(digest(1)) is None and not [*cache.folder.iterdir()]


def test_the_packs_that_were_not_used_for_longest_are_deleted_beyond_the_limit(tmp_path):
    for number in range(4):
        fill(FeatureCache(tmp_path, f"key {number}", 4), [number], rows=100)
        index = max(tmp_path.glob("*/*.npy"), key=lambda path: path.stat().st_mtime_ns)
        os.utime(index, (1000 + number, 1000 + number))
    FeatureCache(tmp_path, "key 0", 4)  # it is used again

    trim(tmp_path, 2500)

    kept = [n for n in range(4) if FeatureCache(tmp_path, f"key {n}", 4).get(digest(n)) is not None]
    assert kept == [0, 3] and sum(path.stat().st_size for path in tmp_path.glob("*/*")) <= 2500


def test_features_beyond_the_limit_do_not_fit(tmp_path):
    cache = FeatureCache(tmp_path, "key", 4, most=80)

    assert cache.fits(10) and not cache.fits(11)


def test_values_beyond_the_range_stay_finite(tmp_path):
    cache = FeatureCache(tmp_path, "key", 1)
    with cache.writing() as pack:
        pack.add(digest(1), np.array([[1e9], [-1e9]]))

    assert np.isfinite(cache.get(digest(1))).all()
