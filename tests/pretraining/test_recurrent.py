"""Language modelling with recurrent networks: streams, directions, carried memory."""

import gzip
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from tests import tiny_elmo
from workbench.base.errors import SpecError
from workbench.models.recurrent import StreamTokens
from workbench.pretraining import streams
from workbench.pretraining.loop import pretrain
from workbench.pretraining.objectives.recurrent import RecurrentLm
from workbench.pretraining.spec import PretrainSpec
from workbench.pretraining.texts import Texts
from workbench.training.events import Evaluated, Step

DATA = Path(__file__).parents[1] / "data"
MODELS = {
    "elmo": ("elmo", "bidirectional_lm"),
    "awd_lstm forward": (DATA / "awd_lstm" / "v2", "causal_lm"),
    "awd_lstm backward": (DATA / "awd_lstm" / "v2_bwd", "causal_lm"),
    "char_lm": ("pair", "bidirectional_lm"),
    "char_lm alone": (DATA / "char_lm" / "forward.pt", "causal_lm"),
}


@pytest.fixture(scope="module")
def elmo(tmp_path_factory):
    return tiny_elmo.make(tmp_path_factory.mktemp("elmo") / "elmo", softmax=True)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A folder with a forward and a backward character language model."""
    folder = tmp_path_factory.mktemp("pair")
    for name in ("forward.pt", "backward.pt"):
        shutil.copy(DATA / "char_lm" / name, folder)
    return folder


def run(objective, model, text_file, out, **options):
    fast = {
        "batch_size": 8, "length": 12, "device": "cpu", "precision": "fp32", "evaluations": 2,
        "learning_rate": 0.01, "init": "random",
    }  # fmt: skip
    spec = PretrainSpec(
        objective, str(model), (str(text_file),), options={**fast, **options}, allow_pickle=True
    )
    work = pretrain(spec, out)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("name", MODELS)
def test_the_held_out_loss_falls_and_the_saved_model_has_it(elmo, pair, text_file, tmp_path, name):
    model, objective = MODELS[name]
    model = {"elmo": elmo, "pair": pair}.get(model, model)
    fast = {"epochs": 2} if name.startswith("awd_lstm") else {"epochs": 1, "learning_rate": 0.02}

    result = run(objective, model, text_file, tmp_path / "out", **fast)

    first, last = result.curve[0], result.curve[-1]
    assert last["perplexity"] < 0.6 * first["perplexity"]
    assert set(last["losses"]) == (
        {"forward", "backward"} if objective == "bidirectional_lm" else
        {"backward"} if name.endswith("backward") else {"forward"}
    )  # fmt: skip
    again = run(
        objective, tmp_path / "out", text_file, tmp_path / "again",
        init="pretrained", max_steps=1, learning_rate=1e-8,
    )  # fmt: skip
    assert again.curve[0]["perplexity"] == pytest.approx(last["perplexity"], rel=1e-4)


def test_a_compressed_text_that_is_read_ahead_is_learned_to_its_end(elmo, text_file, tmp_path):
    plain, packed = tmp_path / "text.txt", tmp_path / "text.txt.gz"
    plain.write_bytes(text_file.read_bytes()[:4000])
    packed.write_bytes(gzip.compress(plain.read_bytes()))

    first, second = (
        run("bidirectional_lm", elmo, path, tmp_path / "out") for path in (plain, packed)
    )

    assert first.steps == second.steps > 4 and first.words == second.words


def test_a_model_of_one_direction_is_not_bidirectional(text_file, tmp_path):
    with pytest.raises(SpecError, match="previous words"):
        run("bidirectional_lm", DATA / "awd_lstm" / "v2", text_file, tmp_path / "out")


@pytest.fixture
def numbers(tmp_path):
    """Documents whose units are the numbers of their words, 0, 1, 2 … throughout the text."""
    path = tmp_path / "numbers.txt"
    documents = [range(start, start + 50) for start in range(0, 2000, 50)]
    path.write_text("\n\n".join(" ".join(map(str, some)) for some in documents))
    return path


def units(document):
    ids = np.array([int(word) for text in document for word in text.split()])
    return StreamTokens({"input_ids": ids}, ids, len(ids))


def test_each_row_continues_the_row_of_the_batch_before(numbers):
    found = list(
        streams.batches(Texts([numbers]), units, rows=4, length=10, rng=np.random.default_rng(0))
    )

    assert len(found) > 20
    for batch in found:  # the target is the unit after the input
        inside = batch.inputs["input_ids"] % 50 != 49
        assert (batch.targets == batch.inputs["input_ids"] + 1)[inside].all()
    for before, after in zip(found, found[1:], strict=False):
        assert (before.targets[:, -1] == after.inputs["input_ids"][:, 0]).all()


def test_nearly_all_of_a_text_is_used_once(numbers):
    found = streams.batches(
        Texts([numbers]), units, rows=4, length=10, rng=np.random.default_rng(0)
    )

    read = np.concatenate([batch.inputs["input_ids"].ravel() for batch in found])

    assert len(np.unique(read)) == len(read) > 0.9 * 2000


def test_the_length_of_batches_varies_around_the_wanted_one(numbers):
    found = streams.batches(
        Texts([numbers]), units, rows=2, length=20, rng=np.random.default_rng(0)
    )

    lengths = [batch.targets.shape[1] for batch in found]

    assert len(set(lengths)) > 3 and np.median(lengths) == pytest.approx(20, abs=2)


def test_a_text_of_one_long_document_is_divided_among_all_streams(tmp_path):
    path = tmp_path / "long.txt"
    path.write_text(" ".join(map(str, range(2000))))

    found = list(
        streams.batches(Texts([path]), units, rows=4, length=10, rng=np.random.default_rng(0))
    )

    read = np.concatenate([batch.inputs["input_ids"].ravel() for batch in found])
    assert len(np.unique(read)) == len(read) > 0.97 * 2000
    assert {len(batch.targets) for batch in found} == {4}
    progress = [batch.progress for batch in found]
    assert progress == sorted(progress) and progress[0] < 0.05 < 0.95 < progress[-1] <= 1


def test_long_documents_are_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "MOST_CHARACTERS", 40)
    path = tmp_path / "long.txt"
    path.write_text("\n".join(" ".join(map(str, range(at, at + 30))) for at in (0, 30)))
    seen = []

    def watched(document):
        seen.append(document)
        return units(document)

    found = streams.batches(Texts([path]), watched, rows=2, length=5, rng=np.random.default_rng(0))

    assert len(list(found)) > 4 and max(sum(map(len, part)) for part in seen) <= 40
    assert " ".join(" ".join(part) for part in seen).split() == [str(n) for n in range(60)]


def test_a_short_text_makes_one_batch(tmp_path):
    path = tmp_path / "short.txt"
    path.write_text("1 2 3 4 5")

    (batch,) = streams.batches(
        Texts([path]), units, rows=4, length=10, rng=np.random.default_rng(0)
    )

    assert batch.inputs["input_ids"].tolist() == [[1, 2, 3, 4]]
    assert batch.targets.tolist() == [[2, 3, 4, 5]]


def test_words_are_counted_when_they_are_read_not_when_their_document_is(numbers):
    found = streams.batches(
        Texts([numbers]), units, rows=4, length=10, rng=np.random.default_rng(0)
    )

    for batch in found:  # here every unit is a word
        assert batch.words == pytest.approx(batch.targets.size)


class Fixed:
    """Reads the states of the test below; dropout keeps two of three columns, scaled by 1.5."""

    training, regularization, directions = True, (2.0, 1.0), ("next",)
    raw = (torch.arange(24).float().view(2, 4, 3) * 7 % 11 - 5) / 4

    def read(self, inputs, direction, memory=None):
        return self.raw, ()

    def dropped(self, states):
        return states * (torch.arange(3) != 1) * 1.5

    def scores(self, states, direction):
        return torch.zeros(*states.shape[:2], 5)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"ar": 2.21484375, "tar": 2.62109375 - 2.21484375}),
        ({"ar_alpha": 4.0, "tar_beta": 0.0}, {"ar": 2 * 2.21484375}),
        ({"ar_alpha": 0.0, "tar_beta": 0.0}, {}),
    ],
)
def test_activations_are_regularized_as_by_fastai(options, expected):
    # RNNRegularizer(alpha=2, beta=1) of fastai 2.8.12 gives 2.62109375, with beta=0 2.21484375
    objective = RecurrentLm(Fixed(), options, np.random.default_rng(0))
    objective.memory = {}

    losses = objective.losses({}, {"next": torch.zeros(2, 4, dtype=torch.long)})

    del losses["forward"]
    assert {name: float(total / count) for name, (total, count) in losses.items()} == (
        pytest.approx(expected)
    )


def test_the_penalties_are_curves_of_the_training_and_not_part_of_the_evaluation(
    text_file, tmp_path
):
    given = {"batch_size": 8, "length": 12, "device": "cpu", "precision": "fp32", "max_steps": 2}
    model = str(DATA / "awd_lstm" / "v2")
    spec = PretrainSpec("causal_lm", model, (str(text_file),), options=given, allow_pickle=True)

    events = list(pretrain(spec, tmp_path / "out"))

    steps = [event for event in events if isinstance(event, Step)]
    assert steps and all(step.losses.keys() == {"forward", "ar", "tar"} for step in steps)
    evaluated = [event for event in events if isinstance(event, Evaluated)]
    assert all(event.loss == pytest.approx(np.log(event.scores["perplexity"]))
               for event in evaluated)  # fmt: skip
