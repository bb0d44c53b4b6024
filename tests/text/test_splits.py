from collections import Counter

import pytest

from workbench.text.splits import SHARES, SplitItem, assign, divide, folds


def placed(items, found):
    return Counter(found.get(item.id, item.split) for item in items)


def test_the_first_split_is_80_10_10_in_every_class():
    items = [SplitItem(n, labels=("ab"[n % 2],)) for n in range(200)]

    result = assign(items, seed=1)

    assert placed(items, result) == {"train": 160, "dev": 20, "test": 20}
    assert Counter(items[id].labels[0] for id, split in result.items() if split == "dev") == {
        "a": 10,
        "b": 10,
    }


def test_rare_classes_do_not_change_the_total():
    items = [SplitItem(n, labels=(n % 50,)) for n in range(150)]

    assert placed(items, assign(items, seed=3)) == {"train": 120, "dev": 15, "test": 15}


def test_the_seed_decides_and_the_order_does_not():
    items = [SplitItem(n) for n in range(50)]

    assert assign(items, seed=1) == assign(items[::-1], seed=1) != assign(items, seed=2)


def test_groups_stay_together():
    items = [SplitItem(n, group=str(n // 5)) for n in range(100)]

    result = assign(items, seed=1)

    assert all(len({result[n] for n in range(start, start + 5)}) == 1 for start in range(0, 100, 5))
    assert placed(items, result) == {"train": 80, "dev": 10, "test": 10}


def test_later_documents_go_to_train_or_to_their_group():
    items = [
        SplitItem(1, "train"),
        SplitItem(2, "dev"),
        SplitItem(3, "test", group="g"),
        SplitItem(4),
        SplitItem(5, group="g"),
    ]

    assert assign(items, seed=1) == {4: "train", 5: "test"}


def test_a_missing_dev_split_is_cut_from_train_never_from_test():
    items = [SplitItem(n, "train" if n < 100 else "test") for n in range(150)]

    result = assign(items, seed=1)

    assert placed(items, result) == {"train": 90, "dev": 10, "test": 50} and all(
        id < 100 for id in result
    )


def test_an_import_of_test_alone_leaves_the_rest_to_train_and_dev():
    items = [SplitItem(n, "test" if n < 20 else None) for n in range(120)]

    assert placed(items, assign(items, seed=1)) == {"train": 90, "dev": 10, "test": 20}


def test_the_rest_of_an_import_of_train_alone_gives_test_and_train_gives_dev():
    items = [SplitItem(n, "train" if n < 100 else None) for n in range(150)]

    result = assign(items, seed=1)

    assert placed(items, result) == {
        "train": 131,
        "dev": 14,
        "test": 5,
    }  # a tenth of the rest, then of train
    assert all(id >= 100 for id, split in result.items() if split == "test")


def test_once_there_is_a_dev_split_what_comes_later_never_joins_test():
    items = [SplitItem(n) for n in range(3)]
    first = assign(items, seed=1)
    items = [SplitItem(n, first.get(n)) for n in range(100)]

    assert set(assign(items, seed=1).values()) == {"train"}


def test_documents_go_where_their_group_lies_elsewhere():
    items = [SplitItem(n, group="g" if n < 10 else "") for n in range(100)]

    result = assign(items, seed=1, homes={"g": "test"})

    assert {result[n] for n in range(10)} == {"test"} and Counter(result.values()) == {
        "test": 19,
        "dev": 8,
        "train": 73,
    }


def test_few_documents_still_give_a_dev_split():
    items = [SplitItem(n) for n in range(3)]

    assert placed(items, assign(items, seed=1)) == {"train": 2, "dev": 1}
    assert assign([], seed=1) == {} and assign([SplitItem(1)], seed=1) == {1: "train"}


def test_nothing_changes_where_all_is_split():
    assert assign([SplitItem(1, "train"), SplitItem(2, "dev")], seed=1) == {}


# ---------------------------------------------------------------- by shares that were chosen


def shares(train, dev, test):
    return {"train": train / 100, "dev": dev / 100, "test": test / 100}


@pytest.mark.parametrize(
    ("given", "total", "expected"),
    [
        (shares(80, 10, 10), 100, {"train": 80, "dev": 10, "test": 10}),
        (shares(60, 20, 20), 7, {"train": 4, "dev": 2, "test": 1}),  # the largest remainders
        (shares(90, 10, 0), 50, {"train": 45, "dev": 5}),
        (shares(98, 1, 1), 10, {"train": 8, "dev": 1, "test": 1}),  # one at least
        (shares(80, 10, 10), 1, {"train": 1}),
    ],
)
def test_the_shares_are_met_to_the_document(given, total, expected):
    items = [SplitItem(n, labels=(n % 3,)) for n in range(total)]

    assert placed(items, divide(items, seed=4, shares=given)) == expected


def test_every_label_of_several_layers_is_divided_by_the_shares():
    items = [
        SplitItem(n, labels=(f"class {n % 4}", f"mood {n % 3}", *(["rare"] if n % 40 == 0 else [])))
        for n in range(1200)
    ]

    found = divide(items, seed=2, shares=shares(50, 25, 25))

    for label in ("class 0", "class 3", "mood 1", "rare"):
        count = Counter(found[item.id] for item in items if label in item.labels)
        total = sum(count.values())
        assert all(
            abs(count[split] - share * total) <= 0.02 * total + 1
            for split, share in shares(50, 25, 25).items()
        ), (label, count)


def test_what_is_kept_counts_and_the_others_fill_the_splits_up():
    items = [SplitItem(n, "test" if n < 10 else "train" if n < 30 else None) for n in range(200)]

    result = divide(items, seed=1, shares=SHARES)

    assert set(result) == set(range(30, 200))
    assert placed(items, result) == {"train": 160, "dev": 20, "test": 20}


def test_more_than_its_share_stays_in_a_split_and_the_others_shrink():
    items = [SplitItem(n, "test" if n < 50 else None) for n in range(100)]

    assert placed(items, divide(items, seed=1, shares=SHARES)) == {
        "train": 44,  # 80 : 10 of the 50 that are left
        "dev": 6,
        "test": 50,
    }


def test_anew_gives_what_a_first_split_gives_and_names_only_those_that_move():
    bare = [SplitItem(n, labels=(n % 2,)) for n in range(100)]
    first = divide(bare, seed=7, shares=SHARES)
    items = [SplitItem(n, "train", (n % 2,)) for n in range(100)]

    result = divide(items, seed=7, shares=SHARES, keep=False)

    assert result == {id: split for id, split in first.items() if split != "train"}


def test_groups_and_what_they_belong_to_elsewhere_stay_together():
    items = [SplitItem(n, group=f"g{n // 4}") for n in range(80)]

    result = divide(items, seed=3, shares=shares(50, 25, 25), homes={"g0": "test"})

    assert all(len({result[n] for n in range(start, start + 4)}) == 1 for start in range(0, 80, 4))
    assert result[0] == "test" and placed(items, result) == {"train": 40, "dev": 20, "test": 20}


def test_a_group_larger_than_a_small_split_goes_to_the_largest():
    items = [SplitItem(n, group="large" if n < 60 else "") for n in range(100)]

    result = divide(items, seed=1, shares=SHARES)

    assert result[0] == "train" and placed(items, result) == {"train": 80, "dev": 10, "test": 10}


def test_seed_decides_and_order_does_not():
    items = [SplitItem(n) for n in range(50)]

    item, other = (divide(items, seed=seed, shares=SHARES) for seed in (1, 2))

    assert item == divide(items[::-1], seed=1, shares=SHARES) != other


def test_folds_have_every_document_once_and_their_share_of_each_label():
    items = [SplitItem(n, labels=("ab"[n % 4 == 0],)) for n in range(40)]

    parts = folds(items, 5, seed=1)

    assert sorted(id for part in parts for id in part) == list(range(40))
    assert [Counter(items[id].labels[0] for id in part) for part in parts] == [{"a": 6, "b": 2}] * 5
    assert folds(items[::-1], 5, seed=1) == parts != folds(items, 5, seed=2)


def test_documents_of_a_group_are_in_one_fold_and_single_ones_balance_the_sizes():
    items = [SplitItem(n, group="g" if n < 6 else "h" if n < 10 else "") for n in range(21)]

    parts = folds(items, 3, seed=1)

    assert [set(range(6)) <= set(part) for part in parts].count(True) == 1
    assert [set(range(6, 10)) <= set(part) for part in parts].count(True) == 1
    assert [len(part) for part in parts] == [7, 7, 7]
