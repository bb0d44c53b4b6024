"""GloVe: counts, weights and gradients against calculations by hand and by torch."""

import random
from pathlib import Path

import numpy as np
import pytest
import torch

from workbench.base.errors import SpecError
from workbench.training.vectors import glove as glove_module
from workbench.training.vectors import spec
from workbench.training.vectors.corpus import Corpus
from workbench.training.vectors.glove import Cooccurrences, Glove, weights


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
    monkeypatch.setattr(glove_module, "IN_BUCKET", 40)
    monkeypatch.setattr(glove_module, "LEAST_MERGED", 10)
    draw = random.Random(1)
    source = tmp_path / "text.txt"
    words = [chr(97 + number) * 2 for number in range(20)]
    source.write_text("\n".join(" ".join(draw.choices(words, k=9)) for _line in range(200)))
    found = []
    for memory in (1, 10**6):
        monkeypatch.setattr(glove_module, "MB", 20 * glove_module.WORKING)  # 20 counts at once
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


@pytest.fixture
def made(tmp_path):
    """`made(size, window)`, with room for `most` counts."""

    def new(size, window, most=1 << 20):
        (folder := tmp_path / str(len(list(tmp_path.iterdir())))).mkdir()
        return Cooccurrences(size, window, folder, most * glove_module.WORKING)

    return new


def finished(counts):
    """Keys, in order, and values of all buckets."""
    for _part in counts.finish():
        pass
    parts = [bucket.read() for bucket in counts.buckets]
    keys, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.argsort(keys)
    return keys[order], values[order]


def table(counts):
    keys, values = finished(counts)
    zeros = np.zeros((counts.size, counts.size))
    zeros[keys // counts.size, keys % counts.size] = values
    return zeros


def test_words_at_distance_d_count_one_over_d_on_both_sides(made):
    counts = made(3, 2)

    counts.add([[0, 1, 2], [0, 1]])

    assert table(counts).tolist() == [[0, 2, 0.5], [2, 0, 1], [0.5, 1, 0]]


def test_counts_that_are_merged_later_are_the_same(made, monkeypatch):
    lines = [[0, 1, 2, 1], [2, 2, 0], [1, 0]]
    whole = made(3, 2)
    whole.add(lines)
    monkeypatch.setattr(glove_module, "LEAST_MERGED", 0)
    parts = made(3, 2)
    for line in lines:
        parts.add([line])

    (keys, values), (wanted, sums) = finished(parts), finished(whole)
    assert keys.tolist() == wanted.tolist()
    assert np.allclose(values, sums)


def test_words_left_out_keep_their_place_and_lines_do_not_touch(made):
    counts = made(2, 3)

    counts.add([[0, -1, 1], [0]])
    counts.add([[1, 1]])

    assert table(counts).tolist() == [[0, 0.5], [0.5, 2]]


@pytest.mark.parametrize("most", [1, 7, 50])
def test_counts_in_files_are_those_in_memory(made, monkeypatch, most):
    monkeypatch.setattr(glove_module, "LEAST_MERGED", 0)
    monkeypatch.setattr(glove_module, "IN_BUCKET", 16)
    draw = np.random.default_rng(1)
    lines = [draw.integers(-1, 12, 8).tolist() for _line in range(60)]
    whole, files = made(12, 3), made(12, 3, most)
    for counts in (whole, files):
        for line in lines:
            counts.add([line])

    (keys, values), (wanted, sums) = finished(files), finished(whole)

    assert keys.tolist() == wanted.tolist() and files.total == len(wanted)
    assert np.allclose(values, sums, rtol=1e-12)
    assert len(files.buckets) == len(whole.buckets) == -(-len(wanted) // 16)
    for own, other in zip(files.buckets, whole.buckets, strict=True):
        assert own.read()[0].tolist() == other.read()[0].tolist()  # in the same order
    assert not [*files.folder.glob("*.run"), *files.folder.glob("*.merged")]


def test_a_pair_is_in_a_random_bucket(made, monkeypatch):
    monkeypatch.setattr(glove_module, "IN_BUCKET", 500)
    counts = made(100, 1)
    counts.add([[row, column] for row in range(100) for column in range(row, 100)])

    finished(counts)

    sizes = [len(bucket.read()[0]) for bucket in counts.buckets]
    assert len(sizes) == 20 and sum(sizes) == 10_000
    assert min(sizes) > 400 and max(sizes) < 600  # 500 ± 4.6 standard deviations
