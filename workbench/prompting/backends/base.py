"""The base class of backends in the worker.

`can` names which of `score`, `generate` and `chat` its model has. Does not import torch: not every
backend needs it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from workbench.base.errors import ModelError
from workbench.prompting.backends.spec import SCORE, BackendInfo
from workbench.prompting.base import Prompt
from workbench.prompting.generation import GenerationRequest, Reply, ReplyToken

OnReply = Callable[[int, Reply], bool]  # number of the request, reply → whether to go on


class PromptRefused(ModelError):
    """A prompt cannot be scored, such as one that is too long; others can."""


class Backend(ABC):
    """The heavy part of a backend, created in the worker for one model.

    info: the light part. kind: how it reads prompts, for reports, such as "masked" or "causal".
    device: display name of the compute device. versions: of the libraries that it uses.
    can: what the loaded model can do, a subset of `spec.ABILITIES`.
    """

    info: BackendInfo
    kind: str = ""
    device: str = ""
    versions: Mapping[str, str] = {}
    can: frozenset[str] = frozenset((SCORE,))

    @abstractmethod
    def __init__(self, model: str, options: Mapping[str, Any]):
        """Load a model. `model` is `PromptModel.path`.

        `options` has a value for every option of `info.options`, and these settings:
        "device" (auto, cpu, cuda, mps) and "allow_pickle" (bool). Raises ModelError.
        """

    @abstractmethod
    def score(self, prompts: Sequence[Prompt]) -> list[list[float]]:
        """For each prompt the natural log-probabilities of the units of its answer, in order.

        The probability of `answer` is computed between `before` and `after`; a causal model
        ignores `after`. [] for an answer without units. Labels are compared by the mean over the
        units. Raises PromptRefused if one of the prompts cannot be scored, and any other ModelError
        if none can.
        """

    def generate(
        self, requests: Sequence[GenerationRequest], on_reply: OnReply | None = None
    ) -> list[Reply]:
        """Continue the texts of requests. The replies, in the order of the requests.

        `on_reply` is called for each as soon as it is complete, in any order; once it returns
        False, no further request is begun, and the rest is CANCELLED. A request that fails gives a
        FAILED reply with its `error`. Raises ModelError where no request can be answered, such as
        without a connection.
        """
        raise NotImplementedError

    def chat(
        self, requests: Sequence[GenerationRequest], on_reply: OnReply | None = None
    ) -> list[Reply]:
        """Answer the conversations of requests, with the model's chat template; as `generate`."""
        raise NotImplementedError

    def stream(self, request: GenerationRequest) -> Generator[ReplyToken, None, Reply]:
        """The tokens of one reply as they are written; returns its `Reply`.

        By default it is written as a whole. Closing the iterator cancels the request.
        """
        (reply,) = (self.chat if request.messages else self.generate)([request])
        yield from reply.tokens or (ReplyToken(reply.text),)
        return reply

    def streams(
        self, requests: Sequence[GenerationRequest]
    ) -> Generator[tuple[int, ReplyToken], None, list[Reply]]:
        """As `stream` for several requests: the number of the request, and a token of its reply.

        By default one reply is written after the other.
        """
        replies = []
        for number, request in enumerate(requests):
            tokens = self.stream(request)
            while True:
                try:
                    yield number, next(tokens)
                except StopIteration as end:
                    replies.append(end.value)
                    break
        return replies

    def close(self) -> None:  # noqa: B027 (most have nothing to close)
        """Called once when the job ends, also after an error."""
