"""Examples come from the training split only, by vectors, by uncertainty, or by hand."""

import random
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.prompt_runs import add_prompt_run
from workbench.active import job as order_job
from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.paths import resource
from workbench.inspection.corpus.index import Writer
from workbench.operations.inspecting import corpus_index
from workbench.operations.prompts import prompt_examples, prompt_fill
from workbench.prompting.shots import Shots
from workbench.prompting.spec import SELECTIONS, PromptSpec
from workbench.storage.documents import documents
from workbench.storage.runs import runs

pytestmark = pytest.mark.process  # the worker that renders templates

TEMPLATE = (
    "{% for example in examples %}{{ example.text }} => {{ example.label }}\n{% endfor %}"
    "{{ text }} => {{ label }}"
)
STARTER = str(resource("models") / "starter-bert")


def spec(**more):
    more = {"template": TEMPLATE, "model": STARTER, "shots": 3, "vectors": "starter-bert", **more}
    return PromptSpec(**more)


@pytest.fixture
def index(project):
    """index(ids, rows) writes the vectors of starter-bert for documents."""

    def make(ids, rows):
        need = corpus_index.of_documents(project, prompt_examples.vector_model("starter-bert"))
        writer = Writer(need.files, [len(rows[0])], len(ids))
        for id, row in zip(ids, rows, strict=True):
            writer.add((id, 0, 1), {"key": str(id), "text": ""}, [np.asarray(row)])
        writer.finish(total=len(ids))

    return make


@pytest.fixture
def examples(project, queue):
    """examples(spec, document id) → the rows of its examples."""
    with prompt_fill.Fillers(project, queue=queue) as fillers:

        def of(spec, id, limit=None):
            filler = fillers.filler(spec)
            filler.budget.limit = limit or filler.budget.limit
            return prompt_fill.examples(filler, documents.get(project.db, id))

        yield of


def store_predictions(project, layer, ids, probabilities):
    """A run that has predicted documents: P(praise) by id."""
    with project.write():
        run = runs.add(
            project.db, "train", "uncertain", layer_id=layer.id, spec={"task": "classify"}
        )
        payloads = [
            (
                id,
                documents.get(project.db, id).asked_hash,
                {"label": "praise", "scores": {"praise": p, "complaint": 1 - p}},
            )
            for id, p in zip(ids, probabilities, strict=True)
        ]
        runs.save_predictions(project.db, run.id, payloads)
        runs.update(project.db, run.id, status="done")
    return run.id


@pytest.mark.parametrize("seed", range(4))
def test_only_documents_of_the_training_split_are_ever_examples(
    project, queue, index, add_layer, add_documents, monkeypatch, seed
):
    """Random projects: splits, states, copies of a text in several splits."""
    draw = random.Random(seed)
    add_layer("topic")
    words = [f"w{n}" for n in range(30)]
    rows = []
    for _n in range(40):
        text = " ".join(draw.choices(words, k=draw.randint(3, 12)))
        for _copy in range(draw.choice((1, 1, 2))):
            split, state = draw.choice(("train", "train", "dev", "test", None)), "submitted"
            state = draw.choice(("submitted", "submitted", "draft"))
            rows.append((text, split, state, "topic", draw.choice(("praise", "complaint"))))
    ids = add_documents(rows)
    index(ids, np.random.default_rng(seed).normal(size=(len(ids), 4)))
    monkeypatch.setattr(
        prompt_examples, "_entropies", lambda *_args: {id: draw.random() for id in ids}
    )
    monkeypatch.setattr(prompt_examples, "source_run", lambda *_args: SimpleNamespace(id=1))
    usable = {id for id, row in zip(ids, rows, strict=True) if row[1:3] == ("train", "submitted")}

    with prompt_fill.Fillers(project, queue=queue) as fillers:
        for order in SELECTIONS:
            filler = fillers.filler(spec(order=order, shots=64, pinned=tuple(ids), seed=seed))
            for at, id in enumerate(ids):
                document = documents.get(project.db, id)
                chosen = prompt_fill.selected(filler.shots, filler.spec, document)
                texts = {item.shot.example.text for item in chosen}
                assert {item.shot.document_id for item in chosen} <= usable
                assert rows[at][0] not in texts


def test_the_nearest_examples_are_listed_with_split_similarity_and_reason(
    project, topics, index, examples
):
    ids = topics[1]
    angles = np.linspace(0, 3, len(ids))
    index(ids, np.stack([np.cos(angles), np.sin(angles)], axis=1))
    dev = ids[8]

    result = examples(spec(order="nearest", arrangement="nearest-last"), dev)

    assert [row.key for row in result] == ["d7", "d6", "d5"]
    assert [row.place for row in result] == [3, 2, 1]
    step = 3 / (len(ids) - 1)
    assert [row.similarity for row in result] == pytest.approx(
        [np.cos(step * n) for n in (1, 2, 3)], abs=1e-3
    )
    assert result[0].reason == "most similar, 0.99" and result[0].split == "train"
    assert result[0].label == "praise" and "train 7" in result[0].text


def test_the_least_similar_example_is_left_out_first(project, topics, index, examples):
    ids = topics[1]
    angles = np.linspace(0, 3, len(ids))
    index(ids, np.stack([np.cos(angles), np.sin(angles)], axis=1))

    result = examples(spec(order="nearest", arrangement="nearest-last"), ids[8], limit=34)

    assert [row.place for row in result] == [2, 1, None]
    assert prompt_examples.dropped_first(spec(order="nearest")) == "the least similar one"


def test_a_missing_index_is_computed_by_a_job(project, topics, index, queue, examples):
    ids = topics[1]

    def worker(job):
        assert job.spec.title.startswith("Index the documents")
        index(ids, np.eye(len(ids)))
        job.end()

    queue.worker = worker
    rows = examples(spec(order="nearest"), ids[8])
    assert [row.similarity for row in rows] == [0.0, 0.0, 0.0] and len(queue.jobs) == 1

    examples(spec(order="mmr"), ids[9])
    assert len(queue.jobs) == 1


@pytest.mark.usefixtures("topics")
def test_without_a_queue_a_missing_index_is_an_error(project):
    with (
        prompt_fill.Fillers(project) as alone,
        pytest.raises(WorkbenchError, match="vectors of the documents are not computed"),
    ):
        alone.filler(spec(order="nearest"))


def test_the_most_uncertain_documents_of_a_run_are_examples(project, topics, queue, examples):
    layer, ids = topics

    def worker(job):
        for _message in order_job.run(job.spec.params, Path(job.spec.folder)):
            pass
        job.end()

    queue.worker = worker
    run = store_predictions(project, layer, ids[:8], (0.9, 0.5, 0.99, 0.8, 1.0, 1.0, 1.0, 1.0))

    result = examples(spec(order="uncertain", source_run=run), ids[8])

    assert [row.key for row in result] == ["d1", "d3", "d0"]
    assert result[0].reason == "uncertain, entropy 0.69"


def test_a_prompt_with_uncertain_examples_does_not_ask_itself(project, topics):
    layer, ids = topics
    trained = store_predictions(project, layer, ids[:2], (0.9, 0.5))
    add_prompt_run(project, "first", layer="topic", shots=0)
    newest = add_prompt_run(project, "newest", layer="topic", order="uncertain")

    assert prompt_examples.source_run(project, layer, None).id == trained
    names = [run.name for run in prompt_examples.source_runs(project, layer)]
    assert names == ["train", "first"]
    with pytest.raises(SpecError, match="Choose a run of the layer"):
        prompt_examples.source_run(project, layer, newest.id)


def test_uncertain_examples_need_a_run_of_the_layer(topics, examples):
    with pytest.raises(SpecError, match="there is none of this layer"):
        examples(spec(order="uncertain"), topics[1][8])


def test_pinned_documents_are_those_of_the_training_split(project, topics, examples):
    layer, ids = topics
    with pytest.raises(SpecError, match="d8 cannot be an example: not in the training split"):
        prompt_examples.pin(project, layer, ["d1", "d8"])
    with pytest.raises(SpecError, match="no document 'd99'"):
        prompt_examples.pin(project, layer, ["d99"])

    pinned = prompt_examples.pin(project, layer, ["d3", "d1"])
    rows = examples(spec(order="pinned", pinned=(*pinned, ids[9])), ids[8])

    assert [(row.key, row.reason) for row in rows] == [("d3", "pinned"), ("d1", "pinned")]
    listed = prompt_examples.pinned_documents(project, layer, (ids[9], ids[3]))
    assert [(it.key, it.problem) for it in listed] == [
        ("d9", "not in the training split"),
        ("d3", ""),
    ]


def test_documents_to_pin_are_searched_in_the_training_split(project, topics):
    layer, _ids = topics

    assert len(prompt_examples.matching(project, layer, "")) == 8
    assert [it.key for it in prompt_examples.matching(project, layer, "driver")] == ["d1", "d5"]


def test_reasons_name_the_number_that_decided():
    from workbench.prompting.base import Example
    from workbench.prompting.shots import Chosen, Shot

    shot = Shot(1, "h", Example("t", "a"))
    reasons = {
        ("nearest", None, 0.826): "most similar, 0.83",
        ("of-label", None, 0.51): "best of its label, 0.51",
        ("nearest-balanced", 1, 0.51): "best of its label, 0.51",
        ("nearest-balanced", 2, 0.4): "number 2 of its label, 0.40",
        ("random", None, None): "random, seed 7",
    }
    for (kind, value, similarity), text in reasons.items():
        assert prompt_examples.reason(Chosen(shot, kind, value, similarity), 7) == text
    assert len(Shots((shot,)).take(1)) == 1
