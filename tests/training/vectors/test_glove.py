"""GloVe: counts, weights and gradients against calculations by hand and by torch."""

import numpy as np
import pytest
import torch

from workbench.training.vectors import glove as glove_module
from workbench.training.vectors import spec
from workbench.training.vectors.corpus import Corpus
from workbench.training.vectors.glove import Counts, Glove, weights


def table(counts):
    zeros = np.zeros((counts.size, counts.size))
    zeros[counts.rows, counts.columns] = counts.values
    return zeros


def test_words_at_distance_d_count_one_over_d_on_both_sides():
    counts = Counts(3, 2)

    counts.add([[0, 1, 2], [0, 1]])

    assert table(counts).tolist() == [[0, 2, 0.5], [2, 0, 1], [0.5, 1, 0]]


def test_counts_that_are_merged_later_are_the_same(monkeypatch):
    lines = [[0, 1, 2, 1], [2, 2, 0], [1, 0]]
    whole = Counts(3, 2)
    whole.add(lines)
    monkeypatch.setattr(glove_module, "LEAST_MERGED", 0)
    parts = Counts(3, 2)
    for line in lines:
        parts.add([line])

    assert parts.keys.tolist() == whole.keys.tolist()
    assert np.allclose(parts.values, whole.values)


def test_words_left_out_keep_their_place_and_lines_do_not_touch():
    counts = Counts(2, 3)

    counts.add([[0, -1, 1], [0]])
    counts.add([[1, 1]])

    assert table(counts).tolist() == [[0, 0.5], [0.5, 2]]


def test_the_weights_are_those_of_equation_9():
    result = weights(torch.tensor([0.0, 10.0, 100.0, 500.0]), 100.0, 0.75)

    assert result.tolist() == pytest.approx([0, 0.1**0.75, 1, 1])


@pytest.fixture
def glove(tmp_path):
    source = tmp_path / "text.txt"
    source.write_text("the cat sat\nthe dog sat\nthe cat ran\n" * 20)
    corpus = Corpus(tmp_path / "corpus.txt")
    list(corpus.fill([source], lowercase=True))
    options = spec.settings("glove", {"dimension": 4, "min_count": 1, "epochs": 3})
    return Glove(corpus, options, 1)


def test_one_step_equals_adagrad_of_torch(glove):
    """For a batch in which no row occurs twice; torch's sums start at 1 here as in GloVe."""
    rows, columns = torch.tensor([0, 1]), torch.tensor([7, 8])
    logs, factor = torch.tensor([0.3, 1.2]), torch.tensor([0.5, 1.0])
    parameter = torch.nn.Parameter(glove.table.clone())
    optimizer = torch.optim.Adagrad([parameter], lr=0.05, initial_accumulator_value=1.0, eps=0)
    left, right = parameter[rows], parameter[columns]
    score = (left[:, :-1] * right[:, :-1]).sum(1) + left[:, -1] + right[:, -1]
    loss = (0.5 * factor * (score - logs) ** 2).sum()
    loss.backward()
    optimizer.step()

    result = glove.step(rows, columns, logs, factor)

    assert result == pytest.approx(loss.item())
    assert torch.allclose(glove.table, parameter.detach(), atol=1e-6)


def test_the_loss_falls(glove):
    losses = []
    for _epoch in range(3):
        list(glove.epoch())
        losses.append(glove.loss())

    assert losses == sorted(losses, reverse=True) and losses[-1] < losses[0]


def test_a_file_has_five_digits_per_number_as_the_published_ones(glove, tmp_path):
    glove.save(tmp_path / "glove.txt")

    numbers = (tmp_path / "glove.txt").read_text().split("\n")[0].split(" ")[1:]
    digits = [number.partition("e")[0].lstrip("-0.").replace(".", "") for number in numbers]
    assert max(map(len, digits)) == 5
