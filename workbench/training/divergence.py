"""Whether a training diverges: its loss, or its gradients, are not finite, or the loss explodes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import _

WINDOW = 20  # steps; of the first mean, and about those of the running mean
EXPLODED, SUSPECT = 3.0, 1.5  # the running mean as a multiple of the first one
LEAST = 1.0  # a first mean below counts as this: small losses vary by any factor


class Diverged(SpecError):
    """A training has diverged at `step`."""

    def __init__(self, message: str, step: int):
        super().__init__(message, hint=_("Use a smaller learning_rate, or precision fp32."))
        self.step = step


class LossWatch:
    """Follows the loss of a training. first: sum of the losses of the first WINDOW steps."""

    def __init__(self) -> None:
        self.steps, self.first, self.mean = 0, 0.0, 0.0

    def add(self, loss: float, norm: float | None, step: int) -> None:
        """norm: of the gradients, None if it was not finite. Raises Diverged."""
        if not math.isfinite(loss):
            message = _("The loss became {total} at step {step}: the training has diverged.")
            raise Diverged(message.format(total=loss, step=step), step)
        if norm is None:
            message = _("The gradients became infinite at step {step}: the training has diverged.")
            raise Diverged(message.format(step=step), step)
        self.steps += 1
        if self.steps <= WINDOW:
            self.first += loss
            self.mean = self.first / self.steps
            return
        self.mean += (loss - self.mean) / WINDOW
        if self.mean > EXPLODED * self.usual:
            message = _(
                "The loss rose from {first:.3g} to {mean:.3g} until step {step}: the training has "
                "diverged."
            )
            first = self.first / WINDOW
            raise Diverged(message.format(first=first, mean=self.mean, step=step), step)

    @property
    def usual(self) -> float:
        """The loss of the first steps."""
        return max(LEAST, self.first / max(1, min(self.steps, WINDOW)))

    @property
    def is_good(self) -> bool:
        """Whether nothing suggests that the training is about to diverge."""
        return self.mean <= SUSPECT * self.usual

    def state_dict(self) -> dict[str, Any]:
        return dict(vars(self))

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
