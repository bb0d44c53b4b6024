"""Co-occurrence counts against calculations by hand, in memory and in files."""

import numpy as np
import pytest

from workbench.training.vectors import counts as module
from workbench.training.vectors.counts import Cooccurrences


@pytest.fixture
def made(tmp_path):
    """`made(size, window)`, with room for `most` counts."""

    def new(size, window, most=1 << 20):
        (folder := tmp_path / str(len(list(tmp_path.iterdir())))).mkdir()
        return Cooccurrences(size, window, folder, most * module.WORKING)

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
    monkeypatch.setattr(module, "LEAST_MERGED", 0)
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
    monkeypatch.setattr(module, "LEAST_MERGED", 0)
    monkeypatch.setattr(module, "IN_BUCKET", 16)
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
    monkeypatch.setattr(module, "IN_BUCKET", 500)
    counts = made(100, 1)
    counts.add([[row, column] for row in range(100) for column in range(row, 100)])

    finished(counts)

    sizes = [len(bucket.read()[0]) for bucket in counts.buckets]
    assert len(sizes) == 20 and sum(sizes) == 10_000
    assert min(sizes) > 400 and max(sizes) < 600  # 500 ± 4.6 standard deviations
