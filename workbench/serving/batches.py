"""The queue in front of the model: texts of several requests are predicted in one call.

One call runs at a time, in a thread; what arrives meanwhile is in the next one. Requests take
turns, so a long one does not delay a short one by more than a call.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from workbench.serving.spec import ServeLimits
from workbench.text.document import Document
from workbench.text.fields import Prediction

TEXTS, CHARACTERS = 64, 100_000  # of one call, at most; a single text may be longer
TURN = 8  # texts that a request has in a call before the next request has its turn
PAUSE = 0.003  # seconds to wait for further requests if the last call had several

Predict = Callable[[Sequence[Document]], list[Prediction]]


class QueueFull(Exception):
    """More texts are waiting than the limits allow."""


class Stopping(Exception):
    """The server ends before the model has answered."""


@dataclass
class Pending:
    """A request. order: indices of its documents that no call has taken yet, last ones first."""

    documents: Sequence[Document]
    answered: asyncio.Future[list[Prediction]]
    order: list[int]
    answers: list[Prediction | None] = field(default_factory=list)
    missing: int = 0


class Batches:
    """`predict` from requests; `run` until the server ends."""

    def __init__(self, predict: Predict, limits: ServeLimits):
        self._predict, self._limits = predict, limits
        self._pending: deque[Pending] = deque()
        self._arrived = asyncio.Event()
        self._texts = self._characters = 0  # that are not answered yet

    async def predict(self, documents: Sequence[Document]) -> list[Prediction]:
        """The predictions in order.

        Raises QueueFull, TimeoutError, Stopping, or what the model raises.
        """
        if not documents:
            return []
        size = sum(map(characters, documents))
        limits = self._limits
        if self._texts and (
            self._texts + len(documents) > limits.waiting
            or self._characters + size > limits.waiting_characters
        ):
            raise QueueFull()
        # Texts of similar length share a call: less padding.
        order = sorted(range(len(documents)), key=lambda index: characters(documents[index]))
        future: asyncio.Future[list[Prediction]] = asyncio.get_running_loop().create_future()
        count = len(documents)
        pending = Pending(documents, future, order, [None] * count, count)
        self._texts, self._characters = self._texts + count, self._characters + size
        self._pending.append(pending)
        self._arrived.set()
        try:
            async with asyncio.timeout(limits.seconds):
                return await future
        finally:
            self._texts, self._characters = self._texts - count, self._characters - size

    async def run(self) -> None:
        """Call the model for what has arrived, until it is cancelled."""
        several = False
        while True:
            if not self._pending:
                self._arrived.clear()
                await self._arrived.wait()
                if several:
                    await asyncio.sleep(PAUSE)
            batch = self._batch()
            several = len({id(pending) for pending, _index in batch}) > 1
            if batch:
                await self._answer(batch)

    def give_up(self) -> None:
        """Answer what is still waiting with Stopping."""
        for pending in self._pending:
            if not pending.answered.done():
                pending.answered.set_exception(Stopping())

    def _batch(self) -> list[tuple[Pending, int]]:
        """The texts of the next call: a few of each request in turn, until it is full."""
        batch: list[tuple[Pending, int]] = []
        size = 0
        while self._pending and len(batch) < TEXTS and size < CHARACTERS:
            pending = self._pending.popleft()
            if pending.answered.done():  # timed out
                continue
            for _text in range(min(TURN, TEXTS - len(batch))):
                index = pending.order.pop()
                batch.append((pending, index))
                size += characters(pending.documents[index])
                if not pending.order or size >= CHARACTERS:
                    break
            if pending.order:
                self._pending.append(pending)
        return batch

    async def _answer(self, batch: Sequence[tuple[Pending, int]]) -> None:
        documents = [pending.documents[index] for pending, index in batch]
        try:
            predictions = await asyncio.to_thread(self._predict, documents)
        except Exception as error:  # of the model or a plugin; others must not fail with it
            requests = {id(pending): pending for pending, _index in batch}
            if len(requests) > 1:
                for own in requests:
                    await self._answer([item for item in batch if id(item[0]) == own])
                return
            for pending in requests.values():
                if not pending.answered.done():
                    pending.answered.set_exception(error)
            return
        for (pending, index), prediction in zip(batch, predictions, strict=True):
            pending.answers[index] = prediction
            pending.missing -= 1
            if not pending.missing and not pending.answered.done():
                complete = [answer for answer in pending.answers if answer is not None]
                pending.answered.set_result(complete)


def characters(document: Document) -> int:
    return sum(len(content) for _name, content in document.texts) + sum(
        map(len, document.questions)
    )
