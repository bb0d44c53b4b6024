"""Packs of features on disk: found again, bounded, damage detected."""

import os

import numpy as np
import pytest

from workbench.training.feature_cache import FeatureCache, trim


def digest(number):
    return number.to_bytes(16, "big")


def fill(cache, numbers, rows=3):
    with cache.writing() as pack:
        for number in numbers:
            pack.add(digest(number), np.full((rows, cache.width), number, np.float32))


def packs(folder):
    return sorted(folder.glob("*/*.rows"))


def test_features_are_found_again_by_another_process(tmp_path):
    fill(FeatureCache(tmp_path, "key", 4), [1, 2])

    cache = FeatureCache(tmp_path, "key", 4)

    np.testing.assert_array_equal(cache.get(digest(2)), np.full((3, 4), 2, np.float16))
    assert cache.get(digest(3)) is None
    assert isinstance(cache.get(digest(1)).base, np.memmap)


def test_computations_do_not_share_features(tmp_path):
    fill(FeatureCache(tmp_path, "key", 4), [1])

    assert FeatureCache(tmp_path, "other", 4).get(digest(1)) is None
    assert FeatureCache(tmp_path, "key", 2).get(digest(1)) is None


@pytest.mark.parametrize("ending", [".rows", ".npy"])
@pytest.mark.parametrize("damage", ["flip", "cut", "empty"])
def test_damaged_features_are_not_returned(tmp_path, ending, damage):
    fill(FeatureCache(tmp_path, "key", 4), [1])
    (path,) = tmp_path.glob(f"*/*{ending}")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    changed = {"flip": content, "cut": content[:-5], "empty": b""}[damage]
    path.write_bytes(changed)

    assert FeatureCache(tmp_path, "key", 4).get(digest(1)) is None


def test_features_that_were_computed_again_replace_damaged_ones(tmp_path):
    fill(FeatureCache(tmp_path, "key", 4), [1])
    (path,) = packs(tmp_path)
    path.write_bytes(b"\0" * path.stat().st_size)
    cache = FeatureCache(tmp_path, "key", 4)
    assert cache.get(digest(1)) is None

    fill(cache, [1])

    assert cache.get(digest(1))[0, 0] == 1
    assert FeatureCache(tmp_path, "key", 4).get(digest(1))[0, 0] == 1


def test_a_pack_that_was_not_finished_is_left_out(tmp_path):
    cache = FeatureCache(tmp_path, "key", 4)

    with pytest.raises(KeyboardInterrupt), cache.writing() as pack:
        pack.add(digest(1), np.ones((3, 4)))
        raise KeyboardInterrupt

    assert cache.get(digest(1)) is None and not [*cache.folder.iterdir()]


def test_the_packs_that_were_not_used_for_longest_are_deleted_beyond_the_limit(tmp_path):
    for number in range(4):
        fill(FeatureCache(tmp_path, f"key {number}", 4), [number], rows=100)
        index = max(tmp_path.glob("*/*.npy"), key=lambda path: path.stat().st_mtime_ns)
        os.utime(index, (1000 + number, 1000 + number))
    FeatureCache(tmp_path, "key 0", 4)  # it is used again

    trim(tmp_path, 2500)

    kept = [n for n in range(4) if FeatureCache(tmp_path, f"key {n}", 4).get(digest(n)) is not None]
    assert kept == [0, 3] and sum(path.stat().st_size for path in tmp_path.glob("*/*")) <= 2500


def test_features_beyond_the_limit_do_not_fit(tmp_path):
    cache = FeatureCache(tmp_path, "key", 4, most=80)

    assert cache.fits(10) and not cache.fits(11)


def test_values_beyond_the_range_stay_finite(tmp_path):
    cache = FeatureCache(tmp_path, "key", 1)
    with cache.writing() as pack:
        pack.add(digest(1), np.array([[1e9], [-1e9]]))

    assert np.isfinite(cache.get(digest(1))).all()
