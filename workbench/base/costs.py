"""What predictions cost, as measured in the worker that made them."""

from __future__ import annotations

from dataclasses import dataclass

THOUSAND = 1000


@dataclass(frozen=True)
class PredictionCost:
    """CPU time of all threads for predicting some documents, from text to decoded labels.

    Without loading the model, and without anything that was computed before (encoded texts,
    features of a frozen encoder).
    """

    documents: int = 0
    cpu_seconds: float = 0.0

    @property
    def per_thousand(self) -> float | None:
        """CPU seconds per 1,000 documents; None without a document."""
        return THOUSAND * self.cpu_seconds / self.documents if self.documents else None
