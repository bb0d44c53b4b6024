"""The check of an exported folder compares the inputs of documents one to one."""

import pytest

torch = pytest.importorskip("torch")

from workbench.exporters.model import proof, verify  # noqa: E402
from workbench.models import folder as folders  # noqa: E402
from workbench.models import spec  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.tasks import model as networks  # noqa: E402
from workbench.tasks import spec as tasks  # noqa: E402
from workbench.tasks.predictor import Predictor  # noqa: E402
from workbench.text.document import Document  # noqa: E402

TEXT = "the tram to harbour gate was late again, and nobody knew why it was. " * 6


@pytest.fixture
def answering(tiny_run, tmp_path):
    """The model folder of a run that answers questions with a head of ours."""
    place, options = tmp_path / "model", {"layers": "mean"}
    place.mkdir()
    setting = networks.Setting(networks.task_of("answer"), (), options)
    model = networks.build(spec.read_folder(tiny_run("classify")), setting, LoadOptions())
    networks.save(model, place)
    described = {"task": "answer", "labels": [], "max_length": 32, "layer": "answers"}
    folders.describe(place, {**described, "options": options, "own_head": True})
    return place


def test_questions_about_a_text_of_several_windows_are_compared_window_by_window(answering):
    predictor = Predictor.load(answering, "cpu")
    document = Document("", (("text", TEXT),), questions=("why was it late?", "who met bob?"))
    prepared = predictor.prepare([document])
    assert len(prepared.inputs) > len(prepared.firsts(0)) == 2

    work = verify.check_folder(predictor, answering, [document])
    while True:
        try:
            next(work)
        except StopIteration as end:
            found = end.value
            break

    assert found.labels == 2  # all windows, so both answers
    assert found.equal_labels == 1.0 and found.largest_difference < 1e-4


def test_unusual_texts_have_spans_where_the_model_connects_them():
    unusual = proof.extremes(tasks.info("relations"), [], 32)

    spans = [len(document.input_spans) for document in unusual]
    assert (spans[0], spans[1]) == (0, 2) and all(count >= 2 for count in spans[1:])
    assert not any(document.input_spans for document in proof.extremes(tasks.info("tag"), [], 32))
