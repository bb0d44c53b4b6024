"""A trained folder answers documents in their order, whatever they are."""

import json

import numpy as np
import pytest

from workbench.base.errors import ModelError
from workbench.models import folder as folders
from workbench.models.base import LoadOptions
from workbench.models.families.transformer.family import TransformerFamily
from workbench.models.loading import load
from workbench.tasks import predictor
from workbench.tasks.predictor import Predictor
from workbench.text.dataset import Record, write
from workbench.text.document import Document
from workbench.text.labels import Layer

ODD = ["the tram is late", "", "😀", "¿Qué?", "word " * 300, "\ud800", "a\x00b"]


@pytest.fixture(scope="module")
def trained(tiny_model, tmp_path_factory):
    """Folders of models with a random head: only the form of their predictions is tested."""
    result = {}
    for task, head, outputs, labels in (
        ("classify", "sequence", ("x", "y"), ["x", "y"]),
        ("tag", "token", ("O", "B-P", "I-P"), ["P"]),
    ):
        folder = tmp_path_factory.mktemp("trained") / task
        folder.mkdir()
        options = LoadOptions(head=head, outputs=outputs, seed=5)
        TransformerFamily().save(load(tiny_model, options), folder)
        folders.describe(folder, {"task": task, "labels": labels, "max_length": 32})
        result[task] = folder
    return result


def documents(texts):
    return [
        Document(str(number), (("text", text),), id=number) for number, text in enumerate(texts)
    ]


def finish(work, commands=None):
    events, command = [], None
    try:
        while True:
            events.append(work.send(command))
            command = (commands or {}).get(len(events))
    except StopIteration as end:
        return events, end.value


def test_odd_texts_get_an_answer_each_and_long_ones_are_marked_as_cut(trained):
    answers = Predictor.load(trained["classify"], "cpu").predict(documents(ODD))

    assert [answer.cut for answer in answers] == [False, False, False, False, True, False, False]
    assert all(
        sum(answer.classes.scores) == pytest.approx(1, abs=1e-9) and answer.label in "xy"
        for answer in answers
    )


def test_tags_read_a_long_text_whole(trained):
    answers = Predictor.load(trained["tag"], "cpu").predict(documents(ODD))

    assert len(answers[4].words) == 300 and not any(answer.cut for answer in answers)
    for text, answer in zip(ODD, answers, strict=True):
        assert all(
            text[span.start : span.end].strip() == text[span.start : span.end] != ""
            for span in answer.spans
        )


def test_batches_change_no_answer(trained):
    texts = documents([f"the tram {'is late ' * (number % 7)}" for number in range(40)])
    loaded = Predictor.load(trained["classify"], "cpu")

    predictions, many = (
        loaded.predict(texts, batch_tokens=1),
        loaded.predict(texts, batch_tokens=2000),
    )

    assert np.allclose(
        [a.classes.scores for a in predictions], [a.classes.scores for a in many], atol=1e-6
    )


def test_the_job_answers_records_and_plain_texts_in_their_order(trained, tmp_path):
    records = [Record(document) for document in documents(["the tram", "a bus"])]
    write(tmp_path / "records.jsonl", (Layer("c", "class"),), records, ids=True)
    (tmp_path / "texts.jsonl").write_text(
        '{"text": "late"}\n{"text": "a\\u2028b", "id": 7, "key": "k"}\n'
    )

    for name, ids in (("records", [0, 1]), ("texts", [None, 7])):
        params = {
            "model": str(trained["classify"]),
            "input": str(tmp_path / f"{name}.jsonl"),
            "output": str(tmp_path / "out.jsonl"),
            "device": "cpu",
        }
        events, result = finish(predictor.run(params, tmp_path))
        lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
        assert [line["document_id"] for line in lines] == ids and result["documents"] == 2
        assert (
            events[-1] == {"kind": "progress", "done": 2}
            and lines[0]["prediction"]["label"] in "xy"
        )


def test_one_long_document_reports_how_far_it_is(trained, tmp_path):
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": "tram " * 20_000}) + "\n")
    params = {
        "model": str(trained["tag"]),
        "input": str(tmp_path / "in.jsonl"),
        "output": str(tmp_path / "out.jsonl"),
        "device": "cpu",
    }

    events, result = finish(predictor.run(params, tmp_path))

    output = [event["done"] for event in events]
    assert (
        len(output) > 4
        and output == sorted(output)
        and sum(0 < message < 1 for message in output) > 2
    )
    assert output[-1] == result["documents"] == 1


def test_stop_ends_after_the_documents_at_hand(trained, tmp_path):
    with open(tmp_path / "in.jsonl", "w") as file:
        file.writelines(json.dumps({"text": f"tram {number}"}) + "\n" for number in range(1200))
    params = {
        "model": str(trained["classify"]),
        "input": str(tmp_path / "in.jsonl"),
        "output": str(tmp_path / "out.jsonl"),
        "device": "cpu",
    }

    _, result = finish(predictor.run(params, tmp_path), {2: "stop"})

    assert result == {**result, "documents": 512, "stopped": True}


def test_a_folder_that_is_no_run_and_a_line_that_is_no_document_are_named(
    trained, tiny_model, tmp_path
):
    with pytest.raises(ModelError, match="glossbench.json"):
        Predictor.load(tiny_model)
    (tmp_path / "bad.jsonl").write_text('{"text": "a"}\n[1]\n')
    with pytest.raises(ModelError, match="line 2"):
        list(predictor.read_documents(tmp_path / "bad.jsonl"))
