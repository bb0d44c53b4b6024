"""GloVe: counts, weights and gradients against calculations by hand and by torch."""

import random
from pathlib import Path

import pytest
import torch

from workbench.base.errors import SpecError
from workbench.training.vectors import counts as counts_module
from workbench.training.vectors import glove as glove_module
from workbench.training.vectors import spec
from workbench.training.vectors.corpus import Corpus
from workbench.training.vectors.glove import Glove, weights


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


def test_texts_without_pairs_of_words_are_refused(tmp_path):
    source = tmp_path / "text.txt"
    source.write_text("cat\ndog\n" * 9)
    corpus = Corpus(tmp_path / "corpus.txt")
    list(corpus.fill([source], lowercase=True))

    with pytest.raises(SpecError, match="No two words occur together"):
        list(Glove(corpus, spec.settings("glove", {"min_count": 1}), 1).epoch())


def test_vectors_with_counts_in_files_equal_those_with_counts_in_memory(tmp_path, monkeypatch):
    """Window 2: sums of 1 and 1/2 are exact in any order."""
    monkeypatch.setattr(counts_module, "IN_BUCKET", 40)
    monkeypatch.setattr(counts_module, "LEAST_MERGED", 10)
    draw = random.Random(1)
    source = tmp_path / "text.txt"
    words = [chr(97 + number) * 2 for number in range(20)]
    source.write_text("\n".join(" ".join(draw.choices(words, k=9)) for _line in range(200)))
    found = []
    for memory in (1, 10**6):
        monkeypatch.setattr(glove_module, "MB", 20 * counts_module.WORKING)  # 20 counts at once
        (folder := tmp_path / str(memory)).mkdir()
        corpus = Corpus(folder / "corpus.txt")
        list(corpus.fill([source], lowercase=True))
        given = {"dimension": 4, "min_count": 1, "window": 2, "memory": memory}
        glove = Glove(corpus, spec.settings("glove", given), 1)
        for _epoch in range(2):
            list(glove.epoch())
        found.append((glove.table, glove.last, glove.counts))

    (small, small_loss, in_files), (large, large_loss, in_memory) = found
    assert torch.equal(small, large) and small_loss == large_loss
    assert in_files.total == in_memory.total and len(in_files.buckets) > 5
    assert isinstance(in_files.buckets[0].table, Path)
    assert not isinstance(in_memory.buckets[0].table, Path)
    assert sorted(path.suffix for path in tmp_path.glob("1/counts*")) == (
        [".bucket"] * len(in_files.buckets)
    )


def test_a_file_has_five_digits_per_number_as_the_published_ones(glove, tmp_path):
    glove.save(tmp_path / "glove.txt")

    numbers = (tmp_path / "glove.txt").read_text().split("\n")[0].split(" ")[1:]
    digits = [number.partition("e")[0].lstrip("-0.").replace(".", "") for number in numbers]
    assert max(map(len, digits)) == 5
