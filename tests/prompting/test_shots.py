import random

import numpy as np
import pytest

from workbench.prompting import shots
from workbench.prompting.base import Example
from workbench.prompting.shots import Shot, Shots, Vectors

POOL = [
    Shot(
        number, f"hash{number}", Example(f"text {number}", "abc"[number % 3] if number < 9 else "a")
    )
    for number in range(20)
]


def labels(chosen):
    return sorted(item.shot.example.label for item in chosen)


def ids(chosen):
    return [item.shot.document_id for item in chosen]


def test_balanced_examples_have_every_label_equally_often():
    assert labels(Shots(POOL, order="balanced", seed=3).take(6)) == list("aabbcc")


def test_a_seed_gives_one_choice_and_another_seed_another():
    first, again, other = (Shots(POOL, order="random", seed=seed).take(5) for seed in (1, 1, 2))

    assert first == again != other


def test_fewer_examples_are_the_first_of_more():
    pool = Shots(POOL, order="balanced", seed=1)

    assert pool.take(7)[:3] == pool.take(3)


def test_more_examples_than_there_are_gives_all():
    assert len(Shots(POOL, seed=1).take(100)) == 20
    assert Shots([], seed=1).take(3) == ()


def test_an_example_of_several_labels_counts_for_the_rarest():
    several = [Shot(n, str(n), Example(f"t{n}", "", labels=("a",))) for n in range(4)]
    several.append(Shot(9, "9", Example("t9", "", labels=("a", "b"))))

    assert 9 in ids(Shots(several, order="balanced", seed=2).take(2))


# ---------------------------------------------------------------- by vectors


def unit(rows):
    rows = np.asarray(rows, np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def corpus(count, *, seed=0, width=5, classes="abc"):
    """A pool of documents 0 … count - 1 with vectors, and a document `count` outside of it."""
    rows = unit(np.random.default_rng(seed).normal(size=(count + 1, width)))
    pool = [Shot(n, f"h{n}", Example(f"t{n}", classes[n % len(classes)])) for n in range(count)]
    return pool, rows, Vectors(rows, {n: n for n in range(count + 1)})


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_are_those_of_a_comparison_with_every_vector(seed):
    pool, rows, vectors = corpus(60, seed=seed)
    chosen = Shots(pool, order="nearest", vectors=vectors).take(7, document_id=60)

    cosines = rows[:60] @ rows[60]
    expected = sorted(range(60), key=lambda n: -cosines[n])[:7]
    assert ids(chosen) == expected
    assert [item.similarity for item in chosen] == pytest.approx(cosines[expected].tolist())
    assert {item.reason for item in chosen} == {"nearest"}


def test_rounds_over_the_labels_take_the_nearest_of_each():
    pool, rows, vectors = corpus(30, seed=4)
    chosen = Shots(pool, order="nearest-balanced", vectors=vectors).take(5, document_id=30)

    ranked = sorted(range(30), key=lambda n: -(rows[n] @ rows[30]))
    by_label = [[n for n in ranked if n % 3 == label] for label in range(3)]
    rounds = [*(sorted((label[turn] for label in by_label), key=ranked.index) for turn in range(2))]
    assert ids(chosen) == [*rounds[0], *rounds[1]][:5]
    assert [item.value for item in chosen] == [1, 1, 1, 2, 2]


def test_every_label_replaces_the_least_similar_by_the_best_of_each_label():
    rows = unit([(1, 0), (9, 1), (8, 1), (7, 1), (1, 9), (1, 0)])
    pool = [Shot(n, f"h{n}", Example(f"t{n}", "aaaab"[n])) for n in range(5)]
    vectors = Vectors(rows, {n: n for n in range(6)})

    plain = Shots(pool, order="nearest", vectors=vectors).take(3, document_id=5)
    every = Shots(pool, order="nearest", vectors=vectors, every_label=True).take(3, document_id=5)
    one = Shots(pool, order="nearest", vectors=vectors, every_label=True).take(1, document_id=5)

    assert ids(plain) == [0, 1, 2] and ids(every) == [0, 4, 1]
    assert [item.reason for item in every] == ["nearest", "of-label", "nearest"]
    assert ids(one) == [0]


def test_marginal_relevance_is_that_of_an_example_worked_by_hand():
    """Similarities to the query: 0.9, 0.8, 0.5; between the documents: 0.9, 0.2, 0.3.

    λ = 0.5: first A (0.45), then B has 0.5·0.8 - 0.5·0.9 = -0.05 and C 0.5·0.5 - 0.5·0.2 = 0.15,
    then B has 0.5·0.8 - 0.5·max(0.9, 0.3) = -0.05.
    """
    gram = np.array(
        [[1, 0.9, 0.2, 0.9], [0.9, 1, 0.3, 0.8], [0.2, 0.3, 1, 0.5], [0.9, 0.8, 0.5, 1]]
    )
    values, axes = np.linalg.eigh(gram)
    rows = (axes * np.sqrt(np.maximum(values, 0))).astype(np.float32)
    pool = [Shot(n, f"h{n}", Example(f"t{n}", "a")) for n in range(3)]
    vectors = Vectors(rows, {n: n for n in range(4)})

    def take(diversity):
        return Shots(pool, order="mmr", vectors=vectors, diversity=diversity).take(3, document_id=3)

    assert ids(take(0.0)) == [0, 1, 2]
    assert ids(take(0.5)) == [0, 2, 1]
    assert [item.value for item in take(0.5)] == pytest.approx([0.45, 0.15, -0.05], abs=1e-3)


def test_a_document_without_a_vector_gets_random_examples():
    pool, _rows, vectors = corpus(20)
    chosen = Shots(pool, order="nearest", vectors=vectors, seed=3).take(4, document_id=999)

    assert ids(chosen) == ids(Shots(pool, order="random", seed=3).take(4))
    assert {(item.reason, item.similarity) for item in chosen} == {("random", None)}


# ---------------------------------------------------------------- other methods


def test_the_most_uncertain_ones_come_first_and_those_without_a_prediction_never():
    chosen = Shots(POOL, order="uncertain", entropies={4: 0.2, 7: 0.69, 2: 0.1}).take(5)

    assert [(item.shot.document_id, item.value) for item in chosen] == [
        (7, 0.69),
        (4, 0.2),
        (2, 0.1),
    ]


def test_pinned_documents_keep_their_order_and_those_outside_of_training_are_left_out():
    chosen = Shots(POOL, order="pinned", pinned=(5, 99, 3, 5, 1)).take(2)

    assert ids(chosen) == [5, 3]
    assert {item.reason for item in chosen} == {"pinned"}


# ---------------------------------------------------------------- what is never an example


@pytest.mark.parametrize("seed", range(25))
def test_neither_the_document_nor_its_duplicates_are_ever_shown(seed):
    """Random texts with copies, and copies with another word, on all methods."""
    draw = random.Random(seed)
    words = [f"w{n}" for n in range(40)]
    texts = [" ".join(draw.choices(words, k=draw.randint(1, 25))) for _n in range(20)]
    for text in texts[:8]:
        texts += [text, text.upper() + "!", text + " more"]
    vectors = unit(np.random.default_rng(seed).normal(size=(len(texts), 4)))
    pool = [Shot(n, f"h{text}", Example(text, draw.choice("ab"))) for n, text in enumerate(texts)]
    query = draw.randrange(len(texts))

    def shingles(text):
        tokens = text.lower().replace("!", "").split()
        return set(zip(tokens, tokens[1:], strict=False)) or set(tokens)

    def similar(text, other):
        one, two = shingles(text), shingles(other)
        return len(one & two) / len(one | two) >= 0.8

    legal = {n for n, text in enumerate(texts) if n != query and not similar(text, texts[query])}
    for order in (
        "balanced",
        "random",
        "nearest",
        "nearest-balanced",
        "mmr",
        "uncertain",
        "pinned",
    ):
        selection = Shots(
            pool,
            order=order,
            seed=seed,
            every_label=draw.random() < 0.5,
            pinned=range(len(texts)),
            entropies={n: draw.random() for n in range(len(texts))},
            vectors=Vectors(vectors, {n: n for n in range(len(texts))}),
        )
        about = {"document_id": query, "text_hash": f"h{texts[query]}", "texts": [texts[query]]}
        assert set(ids(selection.take(100, **about))) == legal, order
        assert len(selection.take(3, **about)) == min(3, len(legal))


# ---------------------------------------------------------------- the order in the prompt


def test_the_nearest_comes_last_whatever_made_it_important():
    pool, _rows, vectors = corpus(30)
    chosen = Shots(pool, order="nearest-balanced", vectors=vectors).take(6, document_id=30)
    keys = shots.keys(chosen, "nearest-last")

    ordered = sorted(range(6), key=keys.__getitem__)
    similarities = [chosen[at].similarity for at in ordered]
    assert similarities == sorted(similarities)


def test_without_similarities_the_most_important_comes_last():
    chosen = Shots(POOL, order="random").take(3)

    assert sorted(range(3), key=shots.keys(chosen, "nearest-last").__getitem__) == [2, 1, 0]


def test_shuffled_examples_have_an_order_for_each_seed():
    chosen = Shots(POOL, order="balanced").take(8)

    orders = {
        tuple(sorted(range(8), key=shots.keys(chosen, "shuffled", seed).__getitem__))
        for seed in range(5)
    }
    assert len(orders) == 5 and shots.keys(chosen, "fixed") == ()
