"""What a worker writes: every step in few messages. The clock is the test's own."""

import os
from io import FileIO

import pytest

from workbench.jobs import channel as module
from workbench.jobs import steps
from workbench.jobs.channel import Channel
from workbench.jobs.events import Output, recorded


class Clock:
    """Stands still unless the test moves it."""

    now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


@pytest.fixture
def record(tmp_path):
    return tmp_path / "events.jsonl"


@pytest.fixture
def channel(record, clock):
    channel = Channel(os.open(os.devnull, os.O_WRONLY), record)
    yield channel
    channel.close()


def step(number, **losses):
    figures = {"total": 9, "epoch": 1, "learning_rate": 1e-4, "seconds_left": 5.0}
    figures["per_step"] = ["learning_rate"]
    return Output({"kind": "step", "step": number, "losses": losses or {"task": 0.5}, **figures})


def payloads(record):
    return [message.payload for message in recorded(record)]


def test_steps_within_a_tenth_of_a_second_are_sent_together(channel, clock, record):
    channel.send(step(1, task=0.3))
    for number in (2, 3):
        channel.send(step(number, task=number / 10))
    clock.now += 0.1
    channel.send(step(4, task=0.4))

    first, second = payloads(record)
    assert (first["step"], "earlier" in first) == (1, False)
    assert second["earlier"] == {
        "step": [2, 3],
        "losses": {"task": [0.2, 0.3]},
        "learning_rate": [1e-4, 1e-4],
    }
    assert (second["step"], second["losses"], second["total"]) == (4, {"task": 0.4}, 9)


def test_neither_ticks_nor_a_score_swallow_a_step(channel, clock, record):
    for number in (1, 2, 3):
        channel.send(step(number))
        channel.send(Output({"kind": "tick", "step": number}))
    channel.send(Output({"kind": "evaluated", "step": 3}))

    result = payloads(record)
    assert [item["kind"] for item in result] == ["step", "step", "tick", "evaluated"]
    assert [number for item in result[:2] for number in steps.curves(item)[0]] == [1, 2, 3]


def test_steps_with_other_losses_are_not_merged(channel, record):
    channel.send(step(1))
    channel.send(step(2, task=0.2))
    channel.send(step(3, spans=0.1, labels=0.2))
    channel.send(Output({"kind": "saved", "step": 3}))

    assert [payload.get("losses") for payload in payloads(record)[1:3]] == [
        {"task": 0.2},
        {"spans": 0.1, "labels": 0.2},
    ]


def test_a_long_run_leaves_less_than_a_hundred_bytes_a_step(channel, clock, record):
    for number in range(1, 5001):  # 50 steps a second
        clock.now += 0.02
        channel.send(step(number, task=1 / number))
    channel.send(Output({"kind": "saved", "step": 5000}))

    message = payloads(record)
    numbers = [
        number for item in message if item["kind"] == "step" for number in steps.curves(item)[0]
    ]
    assert numbers == list(range(1, 5001))
    assert record.stat().st_size < 100 * 5000


def test_a_message_follows_an_incomplete_line_on_a_line_of_its_own(channel, record):
    channel.send(step(1))
    channel.close()
    with open(record, "ab") as file:
        file.write(b'{"type": "out')  # as on a full disk

    again = Channel(os.open(os.devnull, os.O_WRONLY), record)
    again.send(Output({"kind": "saved", "step": 2}))
    again.close()

    assert [payload["step"] for payload in payloads(record)] == [1, 2]


def test_the_rest_of_a_message_is_written_after_a_part_of_it(record, monkeypatch):
    class Slow(FileIO):
        def write(self, line):
            return super().write(line[:5])

    monkeypatch.setattr(module, "open", lambda path, mode, **_: Slow(path, mode), raising=False)
    channel = Channel(os.open(os.devnull, os.O_WRONLY), record)

    channel.send(step(1))
    channel.close()

    assert [payload["step"] for payload in payloads(record)] == [1]
