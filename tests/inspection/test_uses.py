"""Uses of a word by similarity, their senses, and the nearest documents, from an index."""

import json

import numpy as np
import pytest
import torch

from workbench.base.errors import SpecError
from workbench.base.paths import resource
from workbench.inspection.corpus import index, job
from workbench.inspection.corpus.spec import DOCUMENTS, USES, IndexFiles
from workbench.inspection.serve import Inspecting
from workbench.inspection.subject import Subject
from workbench.inspection.uses import inspector
from workbench.runtime.inputs import stack
from workbench.text import dataset
from workbench.text.document import Document

TEXTS = (
    "Ada met Bob in Paris, the tram.",
    "The bus is late. Tram 42!",
    "Thank you, driver. A lift to the gate.",
    "ترام the tram قطار",
)


@pytest.fixture(scope="module")
def subject(tiny_model):
    return Subject(tiny_model)


def build(subject, root, kind, places=None):
    """An index of TEXTS; places: those of uses by document."""
    documents = [
        dataset.Record(Document(f"d{number}", (("text", text),), id=number))
        for number, text in enumerate(TEXTS, 1)
        if places is None or str(number) in places
    ]
    given, where = root / "asked.jsonl", root / "places.json"
    dataset.write(given, (), documents, ids=True)
    where.write_text(json.dumps(places))
    count = len(documents) if places is None else sum(map(len, places.values()))
    params = {"model": str(subject.folder), "device": "cpu", "root": str(root), "key": "k"}
    params |= {"kind": kind, "input": str(given), "places": str(where)}
    events = list(job.run({**params, "count": count, "total": count}, root))
    last = {"kind": "progress", "done": count, "total": count, "seconds_left": 0.0}
    assert events[-1] == last
    return str(IndexFiles(root, "k").about)


@pytest.fixture(scope="module")
def uses(subject, tmp_path_factory):
    """An index of the uses of "tram"."""
    places = {"1": [[26, 30]], "2": [[17, 21]], "4": [[9, 13]]}
    return build(subject, tmp_path_factory.mktemp("uses"), USES, places)


def ask(subject, inspector, text, **options):
    request = {"inspector": inspector, "documents": [{"texts": {"text": text}}]}
    return Inspecting(subject).answer({**request, "options": options}).result


def test_the_same_use_in_another_copy_of_the_text_is_nearest_at_every_layer(subject, uses):
    found = ask(subject, "uses", f"{TEXTS[1]} ", word="tram", index=uses)

    assert (found.layers, found.count, found.total) == ((0, 1, 2), 3, 3)
    for ranking in found.rankings:
        assert ranking.numbers[0] == 1
        assert ranking.cosines[0] == pytest.approx(1.0, abs=2e-3)  # of float16


def test_the_use_itself_is_left_out(subject, uses):
    found = ask(subject, "uses", TEXTS[1], word="tram", index=uses)

    assert all(set(ranking.numbers) == {0, 2} for ranking in found.rankings)


def test_a_use_is_shown_with_its_offsets_and_what_stands_around_it(subject, uses):
    found = ask(subject, "uses", "a tram", word="tram", index=uses)

    last = found.uses[2]
    assert (last.document, last.key, last.start, last.end) == (4, "d4", 9, 13)
    assert (last.left, last.word, last.right) == ("ترام the ", "tram", " قطار")


def test_without_the_word_in_the_text_a_use_of_the_documents_is_compared(subject, uses):
    found = ask(subject, "uses", "the bus", word="tram", index=uses, use=2)

    assert (found.asked, found.of) == (-1, 2)
    assert set(found.rankings[0].numbers) == {0, 1}


@pytest.mark.parametrize(("name", "value"), [("use", 3), ("start", 0), ("start", 99)])
def test_a_use_that_does_not_exist_is_refused(subject, uses, name, value):
    with pytest.raises(SpecError, match=f"{name} is {value}"):
        ask(subject, "uses", "the tram", word="tram", index=uses, **{name: value})


def test_the_static_vector_is_named_by_its_model(subject, uses):
    vectors = resource("models") / "starter-glove" / "glove.txt"

    found = ask(subject, "uses", "the tram", word="tram", index=uses, static=str(vectors))

    assert found.static_name == "starter-glove" and len(found.static) == 12


def test_cosines_are_those_of_the_states_of_the_model(subject, uses):
    found = ask(subject, "uses", "thank the tram", word="tram", index=uses)

    def state(text, place):
        piece = subject.encoder.preparer.windows([Document("", (("text", text),))], 64).inputs[0]
        (at,) = np.flatnonzero((piece.offsets == place).all(-1))
        arrays = stack([piece], subject.encoder.input_names, subject.encoder.preparer.fill)
        device = next(subject.encoder.parameters()).device
        given = {name: torch.from_numpy(value).to(device) for name, value in arrays.items()}
        return [layer[0, at].detach().cpu().numpy() for layer in subject.encoder(given).layers]

    for layer, (a, b) in enumerate(
        zip(state("thank the tram", (10, 14)), state(TEXTS[0], (26, 30)), strict=True)
    ):
        expected = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
        ranking = found.rankings[layer]
        assert ranking.cosines[ranking.numbers.index(0)] == pytest.approx(expected, abs=2e-3)


def test_labels_of_uses_give_scores_of_senses(subject, uses):
    labels = json.dumps(["a", "a", ""])
    found = ask(subject, "uses", "a tram", word="tram", index=uses, senses="s", labels=labels)

    assert found.senses.counts == {"a": 2}
    assert found.senses.layers == ()  # one sense cannot be told from another
    assert [use.label for use in found.uses] == ["a", "a", ""]


def test_centroids_leave_the_use_out_as_a_loop_does():
    random = np.random.default_rng(0)
    gold = np.array([0] * 12 + [1] * 9 + [2])
    vectors = index.unit(random.normal(size=(22, 8)) + 0.8 * np.eye(8)[gold])

    expected = []
    for at in range(22):
        others = np.arange(22) != at
        scores = [
            float(index.unit(vectors[others & (gold == sense)].sum(0)) @ vectors[at])
            if (others & (gold == sense)).any()
            else -np.inf
            for sense in range(3)
        ]
        expected.append(int(np.argmax(scores)))

    assert inspector.centroid_predictions(vectors, gold).tolist() == expected


def test_macro_f1_is_that_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(1)
    gold, predicted = random.integers(0, 4, 60), random.integers(0, 3, 60)

    expected = metrics.f1_score(gold, predicted, average="macro", zero_division=0)
    assert inspector.macro_f1(gold, predicted, 4) == pytest.approx(expected)


def test_separated_senses_score_one_and_equal_vectors_as_a_static_vector():
    gold = np.array([0] * 20 + [1] * 20)
    apart = index.unit(np.eye(2)[gold] + 0.01)
    assert inspector.macro_f1(gold, inspector.centroid_predictions(apart, gold), 2) == 1.0
    assert inspector.same_among_nearest(apart, gold) == 1.0
    assert inspector.pair_accuracy(apart, gold) == 1.0
    assert inspector.same_at_random(gold) == pytest.approx(19 / 39)


def test_a_copy_of_a_document_is_nearest(subject, tmp_path):
    path = build(subject, tmp_path, DOCUMENTS)
    found = ask(subject, "near_documents", TEXTS[2], index=path, top=2)

    assert (found.layer, found.count, len(found.documents)) == (2, 4, 2)
    assert found.documents[0].key == "d3" and found.documents[0].text == TEXTS[2]
    assert found.documents[0].cosine == pytest.approx(1.0, abs=2e-3)


def test_lower_layers_are_left_out_of_an_index_that_would_be_too_large(monkeypatch):
    monkeypatch.setattr(index, "MAX_BYTES", 2 * 100 * 16 * 2)

    assert index.stored_layers((16, 16, 16, 16), 100) == (2, 3)
    assert index.stored_layers((16, 16, 16, 16), 1_000_000) == (3,)


def test_a_missing_index_is_reported(subject, tmp_path):
    from workbench.base.errors import ModelError

    with pytest.raises(ModelError, match="cannot be read"):
        ask(subject, "near_documents", "a", index=str(tmp_path / "none.json"))
