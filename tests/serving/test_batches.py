"""The queue in front of the model: full calls, turns, similar lengths, failures."""

import asyncio

import pytest

from workbench.serving.batches import TEXTS, Batches, QueueFull
from workbench.serving.spec import ServeLimits
from workbench.text.document import Document


def documents(*texts):
    return [Document("", (("text", text),)) for text in texts]


async def answered(predict, *requests, **limits):
    """The answers to requests that arrive in one moment, errors as they are."""
    batches = Batches(predict, ServeLimits(**limits))
    work = [asyncio.ensure_future(batches.predict(documents(*texts))) for texts in requests]
    await asyncio.sleep(0)
    running = asyncio.ensure_future(batches.run())
    answers = await asyncio.gather(*work, return_exceptions=True)
    running.cancel()
    return answers


def run(predict, *requests, **limits):
    return asyncio.run(answered(predict, *requests, **limits))


def test_each_request_gets_its_own_answers_in_order():
    answers = run(lambda texts: [item.text.upper() for item in texts], ["bb", "a"], [], ["ccc"])

    assert answers == [["BB", "A"], [], ["CCC"]]


def test_a_long_request_is_divided_and_shares_calls_with_short_ones():
    calls = []

    def predict(texts):
        calls.append([item.text for item in texts])
        return calls[-1]

    run(predict, [f"long {number}" for number in range(2 * TEXTS)], ["short"])

    assert len(calls[0]) == TEXTS and "short" in calls[0]
    assert sum(map(len, calls)) == 2 * TEXTS + 1


def test_texts_of_similar_length_share_a_call():
    calls = []

    def predict(texts):
        calls.append([len(item.text) for item in texts])
        return calls[-1]

    run(predict, [("x" * (1 + number * 37 % 128)) for number in range(2 * TEXTS)])

    assert min(calls[0]) >= max(calls[1])


def test_only_the_request_that_fails_gets_the_error():
    def predict(texts):
        if any(item.text == "bad" for item in texts):
            raise ValueError("bad text")
        return [item.text for item in texts]

    good, bad, other = run(predict, ["good"], ["bad"], ["other"])

    assert (good, other) == (["good"], ["other"])
    assert isinstance(bad, ValueError)


def test_a_full_queue_refuses_but_never_the_only_request():
    echo = lambda texts: [item.text for item in texts]  # noqa: E731

    first, other = run(echo, ["a", "b", "c"], ["d"], waiting=2)

    assert first == ["a", "b", "c"] and isinstance(other, QueueFull)


def test_a_request_that_waited_too_long_is_not_predicted():
    calls = []

    async def ask():
        batches = Batches(lambda texts: calls.append(texts), ServeLimits(seconds=0.01))
        with pytest.raises(TimeoutError):
            await batches.predict(documents("late"))
        running = asyncio.ensure_future(batches.run())
        await asyncio.sleep(0.05)
        running.cancel()

    asyncio.run(ask())

    assert calls == []
