"""Soft labels of a teacher in the loss of a training."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from workbench.base.errors import SpecError
from workbench.tasks import model as networks
from workbench.tasks.answers import write_answers
from workbench.text.dataset import Dataset, Record, lines
from workbench.text.document import Document
from workbench.text.fields import ClassScores, LabelScores, Prediction
from workbench.text.labels import Label, Layer
from workbench.training.distillation import FILE, SoftLabels, averaged, divergence, softened
from workbench.training.finetuning import FineTuning
from workbench.training.loop import train
from workbench.training.spec import Teaching, TrainSpec

CLASSES, LABELS = networks.task_of("classify"), networks.task_of("multilabel")
GIVEN = {"device": "cpu", "precision": "fp32", "epochs": 2, "batch_size": 8, "learning_rate": 0.001}


def result_of(work):
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


@pytest.fixture
def run(tiny_model, tmp_path):
    """run(data, name, task, layer, teaching=…, **options) → (result, folder)."""

    def start(data, name, task="classify", layer="c", *, teaching=None, **options):
        spec = TrainSpec(task, layer, str(tiny_model), "tiny", 7, {**GIVEN, **options})
        folder = tmp_path / name
        return result_of(train(spec, data, folder, teaching=teaching)), folder

    return start


def weights_of(folder):
    from safetensors.torch import load_file

    return load_file(folder / "model" / "model.safetensors")


# ---------------------------------------------------------------- the loss, by hand


def test_the_divergence_of_two_classes_is_that_of_a_calculation_by_hand():
    # teacher (0.8, 0.2), model (0.5, 0.5): 0.8 ln(0.8 / 0.5) + 0.2 ln(0.2 / 0.5) = 0.192745
    soft = torch.tensor([[0.8, 0.2]])

    total, count = divergence(torch.zeros(1, 2), soft, 1.0, CLASSES)

    assert float(total) == pytest.approx(0.8 * math.log(1.6) + 0.2 * math.log(0.4), abs=1e-6)
    assert float(total) == pytest.approx(0.192745, abs=1e-6) and int(count) == 1


def test_the_temperature_divides_the_logits_of_teacher_and_model():
    # logits ln 16 and 0 at T = 2 are ln 4 and 0: 0.8 and 0.2
    soft = torch.from_numpy(softened(np.array([[math.log(16), 0.0]]), 2.0, CLASSES))
    assert soft[0].tolist() == pytest.approx([0.8, 0.2])

    # the model's ln 9 and 0 are ln 3 and 0: 0.75 and 0.25
    total, _count = divergence(torch.tensor([[math.log(9), 0.0]]), soft, 2.0, CLASSES)

    by_hand = 0.8 * math.log(0.8 / 0.75) + 0.2 * math.log(0.2 / 0.25)
    assert float(total) == pytest.approx(by_hand, abs=1e-6)


def test_labels_on_their_own_have_a_distribution_each():
    soft = torch.tensor([[0.8, 0.5]])

    total, count = divergence(torch.zeros(1, 2), soft, 1.0, LABELS)

    by_hand = 0.8 * math.log(1.6) + 0.2 * math.log(0.4)  # of 0.5 to 0.5 it is 0
    assert float(total) == pytest.approx(by_hand, abs=1e-6) and int(count) == 2


def test_an_input_without_soft_labels_adds_nothing():
    logits = torch.tensor([[[2.0, 1.0], [0.0, 3.0]]])  # (1, 2, 2)
    nothing = softened(np.full((1, 2, 2), np.nan), 1.0, CLASSES)

    total, count = divergence(logits, torch.from_numpy(nothing), 1.0, CLASSES)

    assert (float(total), int(count)) == (0.0, 0)


def test_several_teachers_give_the_mean_of_their_probabilities():
    both = [np.log([0.9, 0.1]), np.log([0.5, 0.5])]

    assert softened(averaged(both, CLASSES), 1.0, CLASSES).tolist() == pytest.approx([0.7, 0.3])


# ---------------------------------------------------------------- both ends of α


def test_with_all_weight_on_gold_it_is_bit_equal_to_plain_training(run, classes):
    _result, teacher = run(classes, "teacher", epochs=4)

    plain, folder = run(classes, "plain")
    taught, other = run(classes, "taught", teacher=str(teacher / "model"), alpha=1)

    assert plain.evaluations["dev"].scores == taught.evaluations["dev"].scores
    ours, theirs = weights_of(folder), weights_of(other)
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


@pytest.fixture
def learning(tiny_model, classes, run, tmp_path):
    """learning(alpha=…) → a prepared training with a teacher, and its first batch."""
    _result, folder = run(classes, "teacher")

    def start(data=classes, *, teaching=None, task="classify", layer="c", **options):
        given = {**GIVEN, "dropout": 0, "teacher": str(folder / "model"), **options}
        spec = TrainSpec(task, layer, str(tiny_model), "tiny", 7, given)
        work = FineTuning(spec, data, tmp_path / "student", None, None, teaching=teaching)
        for part in (work.load(), work.prepare()):
            list(part)
        return work

    return start


def loss(work, chosen):
    """The whole loss of a batch, and its parts."""
    losses = work.losses(np.asarray(chosen))
    parts = {name: float(one.total.detach() / one.count) for name, one in losses.items()}
    return sum(parts.values()), parts


def test_without_weight_on_gold_the_loss_is_the_divergence(learning):
    work = learning(alpha=0, temperature=1)
    work.model.eval()
    chosen = np.arange(4)

    whole, parts = loss(work, chosen)

    with torch.no_grad():
        batch = networks_batch(work, chosen)
        ours = work.model(batch.inputs)["logits"].log_softmax(-1)
    theirs = batch.targets["teacher"]
    by_hand = (theirs * (theirs.log() - ours)).sum(-1).mean()
    assert parts.keys() == {"teacher"} and whole == pytest.approx(float(by_hand), abs=1e-6)


def networks_batch(work, chosen):
    from workbench.tasks.base import collate

    return collate(work.batch_set, chosen, encoder=work.model.encoder, device=work.state.device)


def test_between_them_both_parts_are_weighted(learning):
    alone, soft, both = (learning(alpha=alpha, temperature=3) for alpha in (0.999999, 0, 0.25))
    for work in (alone, soft, both):
        work.model.eval()
    chosen = [0, 1, 2]

    gold, teacher = loss(alone, chosen)[1]["task"], loss(soft, chosen)[1]["teacher"]

    whole, parts = loss(both, chosen)
    assert parts["task"] == pytest.approx(0.25 * gold, rel=1e-4)
    assert parts["teacher"] == pytest.approx(0.75 * teacher, rel=1e-4)
    assert whole == pytest.approx(0.25 * gold + 0.75 * teacher, rel=1e-4)


# ---------------------------------------------------------------- unlabelled documents


@pytest.fixture
def unlabelled(tmp_path, classes):
    """A file with six documents that have no class."""
    records = [
        Record(Document(f"u{n}", (("text", f"bob met the tram {n}"),), None, id=100 + n))
        for n in range(6)
    ]
    path = tmp_path / "unlabelled.jsonl"
    path.write_text("\n".join(lines(classes.layers, records, ids=True)) + "\n")
    return str(path)


def test_an_unlabelled_document_adds_the_divergence_only(learning, run, classes, unlabelled):
    _result, folder = run(classes, "teacher-2")
    teaching = Teaching((str(folder / "model"),), unlabelled=unlabelled)
    work = learning(teaching=teaching, alpha=0.5, temperature=1, unlabelled=6)
    work.model.eval()
    labelled, others = [0, 1], [16, 17]  # the first one after the 16 of train

    assert len(work.batch_set.prepared.inputs) == 22
    with torch.no_grad():
        both, own, alone = (work.losses(np.array(c)) for c in (labelled + others, labelled, others))

    assert float(alone["task"].total) == 0 and int(alone["task"].count) == 0
    assert float(both["task"].total) == pytest.approx(float(own["task"].total), abs=1e-6)
    assert int(both["task"].count) == 2 and int(both["teacher"].count) == 4
    sums = float(own["teacher"].total) + float(alone["teacher"].total)
    assert float(both["teacher"].total) == pytest.approx(sums, abs=1e-5)


def test_every_gold_label_keeps_its_weight_in_batches_with_unlabelled_documents(
    learning, run, classes, unlabelled
):
    _result, folder = run(classes, "teacher-2")
    teaching = Teaching((str(folder / "model"),), unlabelled=unlabelled)

    work = learning(teaching=teaching, unlabelled=6)

    assert work.usual["task"] == pytest.approx(8 * 16 / 22)  # of a batch of 8
    assert work.usual["teacher"] is None  # every document has one


def test_tags_and_documents_without_them_are_learned_from_a_teacher(run, tags, tmp_path):
    records = [replace(r.document, id=100 + n, split=None) for n, r in enumerate(tags.records[:4])]
    path = tmp_path / "unlabelled.jsonl"
    path.write_text("\n".join(lines(tags.layers, map(Record, records), ids=True)) + "\n")
    _result, folder = run(tags, "teacher", "tag", "s", epochs=20, learning_rate=0.003)
    teaching = Teaching((str(folder / "model"),), unlabelled=str(path))

    result, student = run(
        tags, "student", "tag", "s", teaching=teaching, teacher="x", unlabelled=4, epochs=20,
        alpha=0, learning_rate=0.003,
    )  # fmt: skip

    assert result.evaluations["dev"].scores["span_f1"] > 0.9
    with np.load(student / FILE) as file:
        assert file["ids"].tolist() == [*range(1, 17), *range(100, 104)]


def test_several_labels_are_learned_from_a_teacher_alone(run, classes, tmp_path):
    records = tuple(
        replace(record, states={"m": "submitted"}, marks={"m": record.marks["c"]})
        for record in classes.records
    )
    data = Dataset((Layer("m", "multi", (Label("good"), Label("bad"))),), records)
    answers = [
        LabelScores(("good", "bad"), (0.05, 0.95) if n % 2 else (0.95, 0.05), (0.5, 0.5))
        for n in range(16)
    ]

    result, _folder = run(
        data, "student", "multilabel", "m", teacher="prompt", alpha=0, epochs=20,
        learning_rate=0.003, teaching=answered(tmp_path, records, answers),
    )  # fmt: skip

    assert result.evaluations["dev"].scores["micro_f1"] > 0.9


def answered(folder, records, fields):
    """A teacher whose predictions for the first documents have these fields, None for no answer."""
    documents = [record.document for record in records[: len(fields)]]
    with open(folder / "answers.jsonl", "w") as file:
        predictions = [Prediction((field,) if field else ()) for field in fields]
        write_answers(file, documents, predictions)
    return Teaching(predictions=str(folder / "answers.jsonl"))


# ---------------------------------------------------------------- the teacher


def test_soft_labels_are_computed_once_and_read_when_a_run_continues(learning, tmp_path):
    first = learning()
    (tmp_path / "teacher" / "model" / "model.safetensors").unlink()

    again = learning()

    ours, theirs = (work.batch_set.targets["teacher"] for work in (first, again))
    assert np.array_equal(np.stack(ours), np.stack(theirs))


def test_a_teacher_of_other_labels_is_refused(run, classes, tags):
    _result, folder = run(tags, "teacher", "tag", "s")

    with pytest.raises(SpecError, match="other labels: PER, LOC"):
        run(classes, "student", teacher=str(folder / "model"))


def test_predictions_teach_as_models_do(run, classes, tmp_path):
    answers = [ClassScores(("bad", "good"), (0.9, 0.1))] * 15 + [None]

    _result, student = run(
        classes, "student", teacher="prompt", alpha=0,
        teaching=answered(tmp_path, classes.records, answers),
    )  # fmt: skip

    with np.load(student / FILE) as file:
        assert np.exp(file["logits"][0]) == pytest.approx([0.1, 0.9])  # in the order of the layer
        assert np.isnan(file["logits"][15]).all()


def test_hidden_states_are_compared_where_the_widths_are_equal(learning):
    work = learning(hidden_weight=2.0, alpha=0.5)
    work.model.eval()

    _whole, parts = loss(work, [0, 1, 2])

    assert parts.keys() == {"task", "teacher", "hidden"} and 0 <= parts["hidden"] <= 4
    assert "hidden" not in work.model(networks_batch(work, [0]).inputs)  # outside of the loss


@pytest.mark.parametrize(
    ("task", "options", "reason"),
    [
        ("regress", {}, "for document classes and for tags"),
        ("tag", {"decoder": "crf"}, "CRF has no probability of each word"),
        ("tag", {"hidden_weight": 1}, "for document classes without lm_weight"),
    ],
)
def test_what_cannot_be_taught_is_refused(task, options, reason):
    with pytest.raises(SpecError, match=reason):
        TrainSpec(task, "x", "m", options={"teacher": "big", **options})


@pytest.mark.parametrize("left", [0, 4, 200])
def test_an_incomplete_file_of_soft_labels_is_none(left, tmp_path):
    ids = np.arange(3)
    SoftLabels([np.zeros(2)] * 3).write(tmp_path / FILE, ids)
    content = (tmp_path / FILE).read_bytes()

    (tmp_path / FILE).write_bytes(content[:left])

    assert SoftLabels.read(tmp_path / FILE, ids, of_words=False) is None
