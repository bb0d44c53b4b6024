"""How similar the layers of one or two encoders are: the heavy part."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.layer_similarity.info import INFO, LayerSimilarity
from workbench.inspection.layer_states import LayerStates, layer_states
from workbench.inspection.spec import BASE
from workbench.inspection.subject import Subject
from workbench.runtime.units import WORD
from workbench.text.dataset import Dataset

MIN_WORDS = 3  # words


class LayerSimilarityInspector:
    """Linear CKA of the vectors of the same words."""

    info = INFO

    def examine(
        self, subject: Subject, data: Dataset, task: str, options: Mapping[str, Any]
    ) -> Generator[float, None, LayerSimilarity]:
        """Raises WorkbenchError without words, or without the other model."""
        documents = [record.document for record in data.records]
        other = _other(subject, str(options["other"]))
        states = []
        for number, item in enumerate((subject, *((other,) if other is not None else ()))):
            reading = layer_states(item, documents, unit=WORD, most=options["words"])
            states.append((yield from _half(reading, 0.4 * number)))
        pair = (states[0], states[-1])
        first, second = _common(*pair) if other is not None else (pair[0].layers, pair[1].layers)
        if len(first[0]) < MIN_WORDS:
            raise WorkbenchError(_("The documents have too few words to compare layers."))
        values = yield from _matrix(first, second)
        read = len(set(states[0].owner.tolist()))
        names = subject.info.name, (other or subject).info.name
        return LayerSimilarity(*names, values, len(first[0]), read, other is None)


def _other(subject: Subject, name: str) -> Subject | None:
    if not name:
        return None
    folder = subject.base_folder if name == BASE else name
    if not subject.is_run and name == BASE:
        raise WorkbenchError(
            _(
                "{model} is not a run, so there is no model that it was trained from.",
                model=subject.info.name,
            ),
            hint=_("Specify another model, or a run."),
        )
    if folder is None:
        raise WorkbenchError(
            _("The model that {model} was trained from is not installed.", model=subject.info.name)
        )
    return Subject(folder, device=str(subject.encoder.device))


def _half(
    work: Generator[float, None, LayerStates], start: float
) -> Generator[float, None, LayerStates]:
    while True:
        try:
            done = next(work)
        except StopIteration as end:
            states: LayerStates = end.value
            return states
        yield start + 0.4 * done


def _common(
    states: LayerStates, other: LayerStates
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """The states of the words that both have, in the same order."""
    keys = [
        {key: at for at, key in enumerate(map(tuple, np.column_stack((x.owner, x.spans)).tolist()))}
        for x in (states, other)
    ]
    both = [key for key in keys[0] if key in keys[1]]
    rows = [np.array([places[key] for key in both], np.int64) for places in keys]
    return (
        tuple(layer[rows[0]] for layer in states.layers),
        tuple(layer[rows[1]] for layer in other.layers),
    )


def _matrix(
    first: Sequence[np.ndarray], second: Sequence[np.ndarray]
) -> Generator[float, None, tuple[tuple[float, ...], ...]]:
    others = [Centred(layer) for layer in second]
    rows = []
    for number, layer in enumerate(first):
        yield 0.8 + 0.2 * number / len(first)
        centred = Centred(layer)
        rows.append(tuple(linear_cka(centred, other) for other in others))
    return tuple(rows)


class Centred:
    """rows: (N, H) float64 without the mean of each column. size: the norm of rowsᵀ rows."""

    def __init__(self, rows: np.ndarray):
        values = rows.astype(np.float64)
        self.rows = values - values.mean(0)
        self.size = float(np.linalg.norm(self.rows.T @ self.rows))


def linear_cka(centred: Centred, other: Centred) -> float:
    """Similarity in [0, 1] of the vectors of the same items.

    1 for equal vectors up to rotation and scale; 0 if one side is constant.
    Source: Kornblith et al. 2019, section 3.
    """
    if not centred.size * other.size:
        return 0.0
    shared = float(np.linalg.norm(centred.rows.T @ other.rows)) ** 2
    return min(1.0, shared / (centred.size * other.size))
