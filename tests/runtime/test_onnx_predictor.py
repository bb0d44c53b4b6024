"""Batches, padding and missing files around a graph; tests/exporters/model runs real graphs."""

import json

import numpy as np
import pytest

from workbench.base.errors import ModelError
from workbench.base.paths import resource
from workbench.runtime.onnx_predictor import BATCH_TOKENS, OnnxPredictor
from workbench.runtime.preparers.subwords import Subwords
from workbench.text.document import Document


class Graph:
    """In place of a session: tags subwords with an even id B-P, others O.

    Texts of more than 6 subwords are "long", others "short".
    """

    def __init__(self, task, names=("input_ids", "attention_mask", "token_type_ids")):
        self.task, self.names, self.calls = task, names, []

    def get_inputs(self):
        return [type("Input", (), {"name": name}) for name in self.names]

    def get_outputs(self):
        return [type("Output", (), {"name": "logits"})]

    def run(self, wanted, feed):
        assert wanted == ["logits"] and tuple(feed) == self.names
        assert {array.dtype for array in feed.values()} == {np.dtype("int64")}
        self.calls.append(feed)
        if self.task == "tag":
            even = (feed["input_ids"] % 2 == 0)[..., None]
            return [
                np.where(even, [0.0, 9.0, 0.0], [9.0, 0.0, 0.0]).astype(np.float32)
            ]  # (B, T, 3)
        count = feed["attention_mask"].sum(axis=1)
        return [np.stack([count - 6, 6 - count], axis=1).astype(np.float32)]  # (B, 2)


@pytest.fixture(scope="module")
def subwords():
    return Subwords.load(resource("models") / "starter-bert")


def predictor(task, subwords, **more):
    labels = ["P"] if task == "tag" else ["long", "short"]
    outputs = ["O", "B-P", "I-P"] if task == "tag" else labels
    graph = Graph(task, **more)
    description = {"task": task, "labels": labels, "id2label": outputs, "max_length": 32}
    return OnnxPredictor(graph, subwords, description), graph


def documents(*texts):
    return [Document(str(n), (("text", text),)) for n, text in enumerate(texts)]


def test_texts_are_answered_in_their_order_padded_and_cut(subwords):
    made, graph = predictor("classify", subwords)

    answers = made.predict(documents("late", "word " * 90, "", "the tram is late again and again"))

    assert [answer.label for answer in answers] == ["short", "long", "short", "long"]
    assert [answer.cut for answer in answers] == [False, True, False, False]
    lengths = [feed["attention_mask"].sum(axis=1).tolist() for feed in graph.calls]
    assert [feed["input_ids"].shape[1] for feed in graph.calls] == [max(each) for each in lengths]
    assert sum(lengths, []) == sorted(sum(lengths, []), reverse=True) and lengths[0][0] == 32
    for feed in graph.calls:  # a long text apart: padding would cost more than a call
        assert (feed["input_ids"][feed["attention_mask"] == 0] == subwords.tokenizer.pad).all()


def test_a_batch_holds_no_more_subwords_than_it_may(subwords):
    made, graph = predictor("classify", subwords, names=("input_ids", "attention_mask"))

    answers = made.predict(documents(*["word " * 60] * 200, *["late"] * 50))

    assert (
        len(answers) == 250
        and [answer.label for answer in answers] == ["long"] * 200 + ["short"] * 50
    )
    assert len(graph.calls) > 1 and all(
        feed["input_ids"].size <= BATCH_TOKENS for feed in graph.calls
    )


def test_a_long_text_is_tagged_in_windows_with_an_answer_for_each_word_of_it(subwords):
    made, _graph = predictor("tag", subwords)
    text = "tram late again " * 60

    (answer,) = made.predict(documents(text))

    assert len(answer.words) == 180 and not answer.cut
    by_word = {}
    for word in answer.words:
        by_word.setdefault(text[word.start : word.end], set()).add(word.label)
    assert all(len(labels) == 1 for labels in by_word.values())  # the same in every window
    expected = {
        word: subwords.tokenizer.backend.encode(word, add_special_tokens=False).ids[0] % 2 == 0
        for word in by_word
    }
    assert {word: labels == {"P"} for word, labels in by_word.items()} == expected


def test_a_pair_goes_in_as_two_texts_and_a_single_one_with_an_empty_second(subwords):
    made, graph = predictor("pairs", subwords)

    made.predict([Document("1", (("text", "one"), ("text_b", "two three"))), *documents("one")])

    (feed,) = graph.calls
    # the second text with its closing separator
    assert sorted(feed["token_type_ids"].sum(axis=1).tolist()) == [1, 3]


@pytest.mark.parametrize("files", [(), ("a.onnx", "b.onnx")])
def test_a_folder_without_its_one_graph_is_named(tmp_path, files):
    pytest.importorskip("onnxruntime")
    for name in files:
        (tmp_path / name).write_bytes(b"")

    with pytest.raises(ModelError, match=f"holds {len(files)} .onnx files"):
        OnnxPredictor.load(tmp_path)


def test_a_graph_or_description_that_is_broken_is_named(tmp_path):
    from workbench.runtime import onnx_predictor

    pytest.importorskip("onnxruntime")
    (tmp_path / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ModelError, match=r"model\.onnx cannot be loaded"):
        OnnxPredictor.load(tmp_path)
    for content, word in (
        (None, "cannot be read"),
        ("{", "cannot be read"),
        (json.dumps({"task": "tag"}), "does not describe"),
    ):
        if content is not None:
            (tmp_path / "labels.json").write_text(content)
        with pytest.raises(ModelError, match=word):
            onnx_predictor._description(tmp_path)


@pytest.mark.parametrize(
    ("limit", "asked", "used"), [("3", 0, 3), ("3", 2, 2), ("", 0, 0), ("many", 0, 0)]
)
def test_a_session_has_the_threads_asked_for_or_those_of_the_environment(
    tmp_path, monkeypatch, limit, asked, used
):
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    (tmp_path / "model.onnx").write_bytes(b"")
    given = []

    def session(_path, options, **_named):
        given.append(options.intra_op_num_threads)
        raise RuntimeError("no graph")

    monkeypatch.setattr("onnxruntime.InferenceSession", session)
    with pytest.raises(ModelError, match="no graph"):
        OnnxPredictor.load(tmp_path, threads=asked)

    assert given == [used]
