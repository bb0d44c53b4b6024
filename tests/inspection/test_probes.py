"""Probes against scikit-learn and by hand; the control task of Hewitt and Liang."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests import tiny_models  # noqa: E402
from tests.inspection.test_layer_similarity import finished  # noqa: E402
from workbench.base.errors import WorkbenchError  # noqa: E402
from workbench.inspection.probes.info import INFO  # noqa: E402
from workbench.inspection.probes.inspector import (  # noqa: E402
    ProbesInspector,
    control_labels,
    probe,
)
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.text.dataset import Dataset, Record  # noqa: E402
from workbench.text.document import Document  # noqa: E402
from workbench.text.labels import Label, Layer  # noqa: E402
from workbench.text.spans import Span  # noqa: E402

DEFAULTS = {option.name: option.default for option in INFO.options}
TEXTS = ("ada met bob", "the tram was late", "bob thanks ada", "a bus in paris") * 4
LAYERS = (
    Layer("tone", "class", (Label("person"), Label("transport"))),
    Layer("names", "span", (Label("PER"),)),
)


def records():
    found = []
    for number, text in enumerate(TEXTS):
        people = [
            Span(start, start + 3, "PER")
            for name in ("ada", "bob")
            if (start := text.find(name)) >= 0
        ]
        split = "dev" if number % 4 >= 2 else "train"
        found.append(
            Record(
                Document(str(number), (("text", text),), split),
                {"tone": "submitted", "names": "submitted"},
                {"tone": ("person" if people else "transport",)},
                {"names": tuple(people)},
            )
        )
    return tuple(found)


def examine(folder, task, layer, given=None, **options):
    subject = Subject(folder, device="cpu")
    data = Dataset(LAYERS, records() if given is None else given)
    return finished(
        ProbesInspector().examine(subject, data, task, {**DEFAULTS, "layer": layer, **options})
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_models.make(tmp_path_factory.mktemp("probes") / "bert", "bert")


def test_a_probe_is_a_logistic_regression_on_standardized_states():
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    draw = np.random.default_rng(3)
    train, dev = draw.normal(size=(60, 5)) * 9 + 4, draw.normal(size=(30, 5)) * 9 + 4
    labels = ["left" if row[0] < 4 else "right" for row in train]

    scaler = StandardScaler().fit(train)
    fitted = LogisticRegression(max_iter=100, tol=1e-3).fit(scaler.transform(train), labels)

    assert probe(train, labels, dev).tolist() == fitted.predict(scaler.transform(dev)).tolist()


def test_equal_types_have_equal_random_labels_distributed_as_the_gold_ones():
    types = [f"w{number % 3000}" for number in range(9000)]
    labels = control_labels(types, ["O"] * 3 + ["B"], types, seed=1)

    assert labels[:3000] == labels[3000:6000] == labels[6000:]
    assert labels.count("B") / 9000 == pytest.approx(0.25, abs=0.03)
    assert labels != control_labels(types, ["O"] * 3 + ["B"], types, seed=2)


def test_classes_are_read_from_the_vectors_of_documents(folder):
    result = examine(folder, "classify", "tone")

    (model,) = result.models
    assert not result.by_word and len(model.layers) == 3 and not model.before
    assert (result.labels, result.train, result.dev, result.majority) == (2, 8, 8, 0.5)
    for layer in model.layers:
        difference = layer.accuracy.value - layer.control.value
        assert layer.selectivity.value == pytest.approx(difference)
        assert layer.accuracy.low <= layer.accuracy.value <= layer.accuracy.high
    assert model.layers[model.best].accuracy.value == max(
        layer.accuracy.value for layer in model.layers
    )


def test_spans_are_read_from_the_vectors_of_words(folder):
    result = examine(folder, "tag", "names")

    assert result.by_word and (result.train, result.dev, result.labels) == (28, 28, 2)
    assert result.majority == pytest.approx(20 / 28)
    assert max(layer.accuracy.value for layer in result.models[0].layers) > result.majority


def test_a_run_is_probed_beside_the_model_that_it_was_trained_from(tiny_run, folder):
    run = tiny_run("classify")
    described = json.loads((run / "glossbench.json").read_text())
    (run / "glossbench.json").write_text(json.dumps({**described, "model": str(folder)}))

    result = examine(run, "classify", "tone")

    assert [model.before for model in result.models] == [True, False]
    assert all(len(model.layers) == 3 for model in result.models)


def test_without_dev_there_is_no_probe(folder):
    train = tuple(record for record in records() if record.document.split == "train")

    with pytest.raises(WorkbenchError, match="in train and dev"):
        examine(folder, "classify", "tone", train)
