from collections import Counter

from workbench.text.splits import Item, assign


def placed(items, found):
    return Counter(found.get(one.id, one.split) for one in items)


def test_the_first_split_is_80_10_10_in_every_class():
    items = [Item(n, stratum="ab"[n % 2]) for n in range(200)]

    found = assign(items, seed=1)

    assert placed(items, found) == {"train": 160, "dev": 20, "test": 20}
    assert Counter(items[id].stratum for id, split in found.items() if split == "dev") == {
        "a": 10,
        "b": 10,
    }


def test_rare_classes_do_not_change_the_total():
    items = [Item(n, stratum=str(n % 50)) for n in range(150)]

    assert placed(items, assign(items, seed=3)) == {"train": 120, "dev": 15, "test": 15}


def test_the_seed_decides_and_the_order_does_not():
    items = [Item(n) for n in range(50)]

    assert assign(items, seed=1) == assign(items[::-1], seed=1) != assign(items, seed=2)


def test_groups_stay_together():
    items = [Item(n, group=str(n // 5)) for n in range(100)]

    found = assign(items, seed=1)

    assert all(len({found[n] for n in range(start, start + 5)}) == 1 for start in range(0, 100, 5))
    assert placed(items, found) == {"train": 80, "dev": 10, "test": 10}


def test_later_documents_go_to_train_or_to_their_group():
    items = [
        Item(1, "train"),
        Item(2, "dev"),
        Item(3, "test", group="g"),
        Item(4),
        Item(5, group="g"),
    ]

    assert assign(items, seed=1) == {4: "train", 5: "test"}


def test_a_missing_dev_split_is_cut_from_train_never_from_test():
    items = [Item(n, "train" if n < 100 else "test") for n in range(150)]

    found = assign(items, seed=1)

    assert placed(items, found) == {"train": 90, "dev": 10, "test": 50} and all(
        id < 100 for id in found
    )


def test_an_import_of_test_alone_leaves_the_rest_to_train_and_dev():
    items = [Item(n, "test" if n < 20 else None) for n in range(120)]

    assert placed(items, assign(items, seed=1)) == {"train": 90, "dev": 10, "test": 20}


def test_the_rest_of_an_import_of_train_alone_gives_test_and_train_gives_dev():
    items = [Item(n, "train" if n < 100 else None) for n in range(150)]

    found = assign(items, seed=1)

    assert placed(items, found) == {
        "train": 131,
        "dev": 14,
        "test": 5,
    }  # a tenth of the rest, then of train
    assert all(id >= 100 for id, split in found.items() if split == "test")


def test_once_there_is_a_dev_split_what_comes_later_never_joins_test():
    items = [Item(n) for n in range(3)]
    first = assign(items, seed=1)
    items = [Item(n, first.get(n)) for n in range(100)]

    assert set(assign(items, seed=1).values()) == {"train"}


def test_documents_go_where_their_group_lies_elsewhere():
    items = [Item(n, group="g" if n < 10 else "") for n in range(100)]

    found = assign(items, seed=1, homes={"g": "test"})

    assert {found[n] for n in range(10)} == {"test"} and Counter(found.values()) == {
        "test": 19,
        "dev": 8,
        "train": 73,
    }


def test_few_documents_still_give_a_dev_split():
    items = [Item(n) for n in range(3)]

    assert placed(items, assign(items, seed=1)) == {"train": 2, "dev": 1}
    assert assign([], seed=1) == {} and assign([Item(1)], seed=1) == {1: "train"}


def test_nothing_changes_where_all_is_split():
    assert assign([Item(1, "train"), Item(2, "dev")], seed=1) == {}
