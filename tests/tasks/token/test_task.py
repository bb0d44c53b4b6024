"""Targets of a tag for every token; a tiny model learns its data by heart and is exported."""

import pytest

from workbench.exporters.model.base import save_model
from workbench.exporters.model.onnx import exporter as onnx
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.tasks.base import IGNORED
from workbench.tasks.heads.info import SpanGold
from workbench.tasks.predictor import Predictor
from workbench.tasks.token.info import INFO
from workbench.tasks.token.task import TokenTags
from workbench.text.dataset import Dataset, Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span
from workbench.training import loop
from workbench.training.spec import TrainSpec

TAGS = {"the": "DET", "tram": "NOUN", "is": "VERB", "late": "ADJ", "full": "ADJ", "bob": "NOUN"}
TEXTS = ("the tram is late", "bob is late", "the tram is full", "bob is full")


def data():
    records = []
    for number in range(24):
        text = TEXTS[number % 4]
        document = Document(
            str(number), (("text", text),), ("train", "train", "dev")[number // 8], id=number + 1
        )
        spans, start = [], 0
        for word in text.split():
            spans.append(Span(start, start + len(word), TAGS[word]))
            start += len(word) + 1
        records.append(Record(document, {"pos": "submitted"}, {}, {"pos": tuple(spans)}))
    labels = tuple(Label(name, position=n) for n, name in enumerate(("DET", "NOUN", "VERB", "ADJ")))
    return Dataset((Layer("pos", "tag", labels),), tuple(records))


@pytest.fixture(scope="module")
def run(flat_model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("token")
    options = {
        "epochs": 12, "learning_rate": 0.02, "batch_size": 8, "device": "cpu", "precision": "fp32",
    }  # fmt: skip
    work = loop.train(
        TrainSpec("token", "pos", str(flat_model), "tiny", 1, options), data(), folder
    )
    try:
        while True:
            next(work)
    except StopIteration as end:
        return folder / "model", end.value


def test_a_target_is_at_the_first_subword_of_each_tagged_token(run):
    predictor = Predictor.load(run[0], "cpu")
    document = Document("1", (("text", "tram zzz"),))
    prepared = predictor.prepare([document])

    (tag,) = TokenTags().targets(prepared, [SpanGold((Span(5, 8, "NOUN"),))], predictor.labels, {})[
        "tags"
    ]

    assert tag.tolist() == [IGNORED, IGNORED, 1, *[IGNORED] * (len(tag) - 3)]
    assert len(tag) > 4  # zzz has several subwords


def test_its_data_is_learned_by_heart_and_the_exported_graph_answers_alike(run, tmp_path):
    folder, result = run
    predictor = Predictor.load(folder, "cpu")
    documents = [Document(str(n), (("text", text),)) for n, text in enumerate(TEXTS)]

    save_model(predictor, folder, tmp_path / "hf")
    onnx.write(predictor, tmp_path / "hf", tmp_path / "onnx")

    assert result.evaluations["dev"].scores == {"accuracy": 1.0, "macro_f1": 1.0}
    expected = [[TAGS[word] for word in text.split()] for text in TEXTS]
    for predictions in (
        predictor.predict(documents),
        OnnxPredictor.load(tmp_path / "onnx").predict(documents),
    ):
        assert [[word.label for word in prediction.words] for prediction in predictions] == expected


def test_the_outputs_of_the_network_are_the_tags():
    assert INFO.output_names(("NOUN", "VERB")) == ("NOUN", "VERB")
