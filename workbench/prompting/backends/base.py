"""What a backend does in the worker. No torch here: not every backend needs it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.prompting.backends.spec import BackendInfo
from workbench.prompting.base import Prompt


class Backend(ABC):
    """The heavy half of a backend, made in the worker for one model.

    info: the light half. kind: how it reads prompts, for reports, such as "masked" or "causal".
    device: where it computes, for people. versions: of the libraries that it answers with.
    """

    info: BackendInfo
    kind: str = ""
    device: str = ""
    versions: Mapping[str, str] = {}

    @abstractmethod
    def __init__(self, model: str, options: Mapping[str, Any]):
        """Load a model. `model` is `PromptModel.path`.

        `options` has a value for every option of `info.options`, and what the settings say:
        "device" (auto, cpu, cuda, mps) and "allow_pickle" (bool). Raises ModelError.
        """

    @abstractmethod
    def score(self, prompts: Sequence[Prompt]) -> list[list[float]]:
        """For each prompt the natural log-probabilities of the units of its answer, in order.

        Asked is how probable `answer` is between `before` and `after`; a model that reads from
        left to right ignores `after`. [] for an answer without units. The mean over the units is
        what labels are compared by. Raises ModelError for a prompt that cannot be scored.
        """

    def close(self) -> None:  # noqa: B027 (most have nothing to close)
        """Called once when the job ends, also after an error."""
