"""A word segmenter from a plugin: training, prediction and the exported folder use it."""

import json

import pytest

torch = pytest.importorskip("torch")

from tests import a_plugin  # noqa: E402
from workbench.base import paths, registry  # noqa: E402
from workbench.base.errors import ModelError, SpecError  # noqa: E402
from workbench.models import folder as folders  # noqa: E402
from workbench.operations.application import plugin_checks, plugins  # noqa: E402
from workbench.runtime.onnx_predictor import OnnxPredictor  # noqa: E402
from workbench.tasks.predictor import Predictor  # noqa: E402
from workbench.text.dataset import Dataset, Record  # noqa: E402
from workbench.text.document import Document  # noqa: E402
from workbench.text.labels import Label, Layer  # noqa: E402
from workbench.training import loop  # noqa: E402
from workbench.training.spec import TrainSpec  # noqa: E402

CODE = '''
class Pairs:
    """Words of two characters."""

    def words(self, text):
        return [(at, at + 2) for at in range(0, len(text) - 1, 2)]
'''
ENTRY = {"id": "pairs.two", "title": "Two characters", "object": "pairs.code:Pairs"}
NEW = str(paths.resource("models") / "bilstm")
GOOD, BAD = "准时很好", "晚点太慢"
SETTINGS = {
    "segmenter": "pairs.two", "epochs": 8, "batch_size": 4, "device": "cpu", "word_width": 8,
    "lstm_width": 8, "embeddings": "words", "learning_rate": 0.02,
}  # fmt: skip


@pytest.fixture
def enable(tmp_path):
    """`enable()` → the plugin, enabled in a registry of its own."""
    registry.registry.cache_clear()

    def enabled(code=CODE):
        entries = {"segmenter": [ENTRY]}
        folder = a_plugin.make(tmp_path, id="pairs", package="pairs", entries=entries, code=code)
        plugin = plugins.find(str(folder))
        plugins.enable(plugin)
        return plugin

    yield enabled
    a_plugin.forget("pairs")
    registry.registry.cache_clear()


def data():
    records = []
    for number in range(24):
        text = (GOOD, BAD)[number % 2] + "地铁" * (number % 3)
        split = "train" if number < 16 else "dev"
        document = Document(str(number), (("text", text),), split, id=number + 1)
        mark = ("good", "bad")[number % 2]
        records.append(Record(document, {"tone": "submitted"}, {"tone": (mark,)}))
    return Dataset((Layer("tone", "class", (Label("good"), Label("bad"))),), tuple(records))


def trained(folder):
    spec = TrainSpec("classify", "tone", NEW, options=SETTINGS, family="bilstm")
    lines = [getattr(event, "line", "") for event in loop.train(spec, data(), folder)]
    return folder / "model", lines


def test_the_check_finds_it_whole_and_names_what_it_lacks(enable):
    (found,) = plugin_checks.check(enable())

    assert (found.kind, found.error) == ("segmenter", "")


def test_training_and_prediction_read_the_same_words(enable, tmp_path):
    plugin = enable()
    folder, lines = trained(tmp_path / "run")
    predictor = Predictor.load(folder, "cpu")
    given = [Document("1", (("text", BAD),))]

    assert not any("no spaces between words" in line for line in lines)
    assert "晚点" in (folder / "words.json").read_text("utf-8")
    assert predictor.prepare(given).inputs[0].offsets.tolist() == [[0, 2], [2, 4]]
    assert predictor.predict(given)[0].labels == ("bad",)

    plugins.disable(plugin)
    with pytest.raises(ModelError, match=r"'pairs\.two' is not installed"):
        Predictor.load(folder, "cpu")
    with pytest.raises(SpecError, match="segmenter"):
        TrainSpec("classify", "tone", NEW, options=SETTINGS, family="bilstm")


class NoSession:
    """An ONNX model without inputs and outputs: only the preparation is tested."""

    def get_inputs(self):
        return []

    get_outputs = get_inputs


def test_an_exported_folder_reads_the_same_words_or_says_what_is_missing(enable, tmp_path):
    from workbench.exporters.model.onnx import exporter
    from workbench.models import spec as models

    plugin = enable()
    folder, _lines = trained(tmp_path / "run")
    predictor = Predictor.load(folder, "cpu")
    description = exporter.description(predictor)
    preparer = models.preparer(folder)
    given = [Document("1", (("text", BAD),))]

    exported = OnnxPredictor(NoSession(), preparer, json.loads(json.dumps(description)))

    assert exported.prepare(given).inputs[0].arrays["part0_ids"].tolist() == (
        predictor.prepare(given).inputs[0].arrays["part0_ids"].tolist()
    )
    plugins.disable(plugin)
    with pytest.raises(ModelError, match=r"'pairs\.two' is not installed"):
        OnnxPredictor(NoSession(), preparer, description)


def test_without_a_segmenter_the_run_says_that_letters_are_words(tmp_path):
    options = {**SETTINGS, "segmenter": "rules", "epochs": 1}
    spec = TrainSpec("classify", "tone", NEW, options=options, family="bilstm")

    lines = [getattr(event, "line", "") for event in loop.train(spec, data(), tmp_path / "run")]

    assert any("no spaces between words" in line and ": icu." in line for line in lines)
    assert "晚点" not in (tmp_path / "run/model/words.json").read_text("utf-8")
    assert folders.description(tmp_path / "run/model")["options"]["segmenter"] == "rules"
