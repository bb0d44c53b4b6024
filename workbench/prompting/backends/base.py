"""The base class of backends in the worker. Does not import torch: not every backend needs it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.prompting.backends.spec import BackendInfo
from workbench.prompting.base import Prompt


class Backend(ABC):
    """The heavy part of a backend, created in the worker for one model.

    info: the light part. kind: how it reads prompts, for reports, such as "masked" or "causal".
    device: display name of the compute device. versions: of the libraries that it uses.
    """

    info: BackendInfo
    kind: str = ""
    device: str = ""
    versions: Mapping[str, str] = {}

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
        units. Raises ModelError for a prompt that cannot be scored.
        """

    def close(self) -> None:  # noqa: B027 (most have nothing to close)
        """Called once when the job ends, also after an error."""
