"""A trained folder answers documents in their order, whatever they are."""

import numpy as np
import pytest

from workbench.base.errors import ModelError
from workbench.tasks.answers import read_documents
from workbench.tasks.predictor import Predictor
from workbench.text.document import Document

ODD = ["the tram is late", "", "😀", "¿Qué?", "word " * 300, "\ud800", "a\x00b"]


def documents(texts):
    return [
        Document(str(number), (("text", text),), id=number) for number, text in enumerate(texts)
    ]


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


def test_batches_that_do_not_fit_into_memory_are_halved(trained, monkeypatch):
    texts = documents([f"the tram {'is late ' * (number % 7)}" for number in range(40)])
    loaded = Predictor.load(trained["classify"], "cpu")
    expected = loaded.predict(texts)
    forward = type(loaded.task).forward

    def limited(self, model, batch):
        if len(batch.inputs["input_ids"]) > 3:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to …")
        return forward(self, model, batch)

    monkeypatch.setattr(type(loaded.task), "forward", limited)

    assert np.allclose(
        [a.classes.scores for a in loaded.predict(texts)],
        [a.classes.scores for a in expected],
        atol=1e-6,
    )


def test_a_folder_that_is_no_run_and_a_line_that_is_no_document_are_named(
    trained, tiny_model, tmp_path
):
    with pytest.raises(ModelError, match="glossbench.json"):
        Predictor.load(tiny_model)
    (tmp_path / "bad.jsonl").write_text('{"text": "a"}\n[1]\n')
    with pytest.raises(ModelError, match="line 2"):
        list(read_documents(tmp_path / "bad.jsonl"))
