"""Inputs as arrays, worked out by hand: padding, batches, and which document an input is of."""

import numpy as np
import pytest

from workbench.runtime.inputs import (
    EncodedInput,
    Prepared,
    batches_by_length,
    pad,
    prepared_windows,
    stack,
    unpadded,
)
from workbench.text.document import Document


def subwords(ids, types=None):
    """An input with `input_ids` and, where given, `token_type_ids`."""
    arrays = {"input_ids": np.array(ids, np.int32)}
    if types is not None:
        arrays["token_type_ids"] = np.array(types, np.int32)
    return EncodedInput(arrays, np.zeros((len(ids), 2), np.int32), np.zeros(len(ids), np.int8))


def characters(*rows):
    """An input of words with 50 characters each; `rows` are the first of them, the rest is 0."""
    table = np.zeros((len(rows), 50), np.int32)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return EncodedInput(
        {"characters": table}, np.zeros((len(rows), 2), np.int32), np.zeros(len(rows), np.int8)
    )


def document(text, **more):
    return Document(text, (("text", text),), **more)


# ---------------------------------------------------------------- one input


def test_an_input_is_as_long_as_its_units_and_gives_its_ids():
    encoded = subwords([101, 7, 102])

    assert len(encoded) == 3 and encoded.ids.tolist() == [101, 7, 102]
    assert len(characters([5], [6, 7])) == 2


def test_an_input_without_subwords_has_no_ids():
    with pytest.raises(KeyError, match="input_ids"):
        _ = characters([5]).ids


# ---------------------------------------------------------------- padding and batches


def test_rows_are_padded_at_the_end_to_the_longest():
    table = pad([np.array([1, 2, 3]), np.array([4])], 9)

    assert table.tolist() == [[1, 2, 3], [4, 9, 9]] and table.dtype == np.int64


def test_only_the_first_axis_is_padded():
    rows = [np.array([[0.5, 1.5]]), np.array([[2.0, 3.0], [4.0, 5.0]])]

    table = pad(rows, -1.0, np.float32)

    assert table.tolist() == [[[0.5, 1.5], [-1.0, -1.0]], [[2.0, 3.0], [4.0, 5.0]]]
    assert table.dtype == np.float32


def test_a_batch_has_the_named_arrays_each_with_its_own_fill():
    inputs = [subwords([5, 6, 7], [0, 0, 1]), subwords([8], [1])]

    result = stack(inputs, ("input_ids", "attention_mask", "token_type_ids"), {"input_ids": 3})

    assert {name: array.tolist() for name, array in result.items()} == {
        "input_ids": [[5, 6, 7], [8, 3, 3]],
        "attention_mask": [[1, 1, 1], [1, 0, 0]],
        "token_type_ids": [[0, 0, 1], [1, 0, 0]],
    }
    assert {array.dtype for array in result.values()} == {np.dtype(np.int64)}
    assert list(stack(inputs, ("attention_mask",), {})) == ["attention_mask"]


def test_words_of_characters_are_stacked_to_three_axes():
    inputs = [characters([1, 2]), characters([3], [4, 5, 6])]

    result = stack(inputs, ("characters", "attention_mask"), {"characters": 260})

    assert result["characters"].shape == (2, 2, 50) and result["characters"].dtype == np.int64
    assert result["characters"][0, 0, :3].tolist() == [1, 2, 0]
    assert result["characters"][0, 1].tolist() == [260] * 50  # padding: the whole word
    assert result["characters"][1, :, :3].tolist() == [[3, 0, 0], [4, 5, 6]]
    assert result["attention_mask"].tolist() == [[1, 0], [1, 1]]


def test_a_row_of_a_batch_loses_its_padding_only_where_it_is_over_tokens():
    batch = {
        "logits": np.arange(12.0).reshape(2, 3, 2),
        "classes": np.array([[0.1, 0.9], [0.6, 0.4]]),
        "pooled": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    }

    result = unpadded(batch, 1, 2, {"logits": "token", "classes": "item"})

    assert result["logits"].tolist() == [[6.0, 7.0], [8.0, 9.0]]
    assert result["classes"].tolist() == [0.6, 0.4]
    assert result["pooled"].tolist() == [4.0, 5.0, 6.0]  # not named: one per input
    batch["logits"][:] = 0
    assert result["logits"].any()  # a copy: the batch can be freed


def test_stacked_and_unpadded_gives_the_input_back():
    inputs = [characters([1], [2], [3]), characters([4])]
    batch = stack(inputs, ("characters",), {})

    for row, encoded in enumerate(inputs):
        result = unpadded(batch, row, len(encoded), {"characters": "token"})
        assert np.array_equal(result["characters"], encoded.arrays["characters"])


def test_batches_are_of_like_length_longest_first_and_within_their_units():
    lengths = np.array([3, 10, 4, 4, 1, 9])

    batches = [found.tolist() for found in batches_by_length(lengths, 12)]

    # 10 alone; 9 alone; then 12 // 4 = 3 rows of 4 units; 1
    assert batches == [[1], [5], [2, 3, 0], [4]]


def test_a_batch_ends_where_more_than_the_padding_allowed_would_be_padding():
    lengths = np.array([10, 9, 8, 4, 4, 3])

    batches = [found.tolist() for found in batches_by_length(lengths, 100, 4)]

    # 0 + 1 + 2 = 3 of padding, 6 more would be too many; 0 + 0 + 1
    assert batches == [[0, 1, 2], [3, 4, 5]]


def test_an_input_longer_than_a_batch_and_an_empty_one_get_batches_too():
    assert [found.tolist() for found in batches_by_length(np.array([50, 2]), 8)] == [[0], [1]]
    assert [found.tolist() for found in batches_by_length(np.array([0, 0]), 8)] == [[0, 1]]
    assert list(batches_by_length(np.zeros(0, np.int64), 8)) == []


def test_batches_hold_every_item_and_stay_within_their_tokens():
    lengths = np.random.default_rng(0).integers(1, 50, 200)

    batches = list(batches_by_length(lengths, 100))

    assert sorted(np.concatenate(batches)) == list(range(200))
    assert all(len(batch) * lengths[batch].max() <= 100 or len(batch) == 1 for batch in batches)


# ---------------------------------------------------------------- documents


def windows_of_two():
    """Two windows of "ada bob" that share "bob", and one of "late"."""
    first = EncodedInput(
        {"input_ids": np.array([2, 11, 12, 3])},
        np.array([(0, 0), (0, 3), (4, 7), (0, 0)]),
        np.array([-1, 0, 0, -1]),
    )
    second = EncodedInput(
        {"input_ids": np.array([2, 12, 3])},
        np.array([(0, 0), (4, 7), (0, 0)]),
        np.array([-1, 0, -1]),
    )
    late = EncodedInput(
        {"input_ids": np.array([2, 13, 3])},
        np.array([(0, 0), (0, 4), (0, 0)]),
        np.array([-1, 0, -1]),
    )
    return prepared_windows([document("ada bob"), document("late")], [(first, second), (late,)])


def test_windows_are_prepared_with_their_words_and_where_these_stand():
    prepared = windows_of_two()

    assert prepared.owner.tolist() == [0, 0, 1] and prepared.lengths.tolist() == [4, 3, 3]
    assert prepared.words == [[(0, 3), (4, 7)], [(0, 4)]] and not prepared.cut.any()
    # of "ada bob" the first window holds all context there is, so both words are in it
    assert prepared.alignments[0].window.tolist() == [0, 0]
    assert prepared.alignments[0].first.tolist() == [1, 2]
    assert prepared.alignments[1].end.tolist() == [2]


def test_a_document_knows_its_inputs():
    prepared = windows_of_two()

    assert [prepared.first(number) for number in (0, 1, 2)] == [0, 2, 3]
    assert (prepared.of(0), prepared.of(1)) == (range(0, 2), range(2, 3))


def test_one_document_alone_keeps_all_of_its_own():
    prepared = windows_of_two()

    alone = prepared.only(1)

    assert [document.key for document in alone.documents] == ["late"] and alone.of(0) == range(0, 1)
    assert alone.inputs == prepared.inputs[2:] and alone.owner.tolist() == [0]
    assert alone.words == [[(0, 4)]] and alone.alignments == prepared.alignments[1:]
    assert prepared.only(0).owner.tolist() == [0, 0]


def test_joined_documents_keep_their_inputs_words_and_cuts():
    item, two = windows_of_two(), windows_of_two().only(1)
    two.cut[:] = True

    joined = Prepared.join([item, two, item.only(0)])

    assert joined.owner.tolist() == [0, 0, 1, 2, 3, 3]
    assert [document.key for document in joined.documents] == ["ada bob", "late", "late", "ada bob"]
    assert joined.cut.tolist() == [False, False, True, False]
    assert len(joined.words) == len(joined.alignments) == 4 and len(joined.inputs) == 6
    assert joined.only(2).words == two.words and joined.of(3) == range(4, 6)
