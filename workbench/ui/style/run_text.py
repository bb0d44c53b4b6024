"""What the window says about a run in few words: its task and its scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.base.i18n import _
from workbench.metrics.definitions import LABEL_DEFINITIONS
from workbench.operations.evaluation.scoring import is_fraction, is_known
from workbench.operations.runs import missing, run_results
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.missing import of_run as missing_task
from workbench.tasks import spec as tasks
from workbench.tasks.spec import is_error, score_hint, score_names, score_title
from workbench.ui.style.formats import decimal, points

if TYPE_CHECKING:
    from workbench.storage.runs.runs import Run
    from workbench.training.results import Scoring

__all__ = [
    "ScoreWords",
    "first_score",
    "is_error",
    "is_fraction",
    "label_hint",
    "main_score",
    "missing_task",
    "score_hint",
    "score_names",
    "score_text",
    "score_title",
    "short_title",
    "title_of",
    "words_of",
]


def title_of(run: Run) -> str:
    """The task of a run as text; the kind of a run without a task."""
    return missing.title(run) if run.spec.get("task") else _(kinds.info(run.kind).title)


def short_title(run: Run) -> str:
    """A short title of a run's task for narrow columns."""
    return missing.short_title(run) if run.spec.get("task") else _(kinds.info(run.kind).title)


def label_hint(name: str) -> str:
    """The definition of a score of a label, with its rule for zero division."""
    return LABEL_DEFINITIONS[name].sentence()


def main_score(run: Run) -> str:
    """The score used to select the best checkpoint, on dev when the run ended."""
    scores, task = run.scores.get("dev", {}), run.spec.get("task")
    if not task:
        return points(None)
    if missing.of_run(run):
        words = words_of(run)
        main = next(iter(words.order(scores)), "")
        return words.text(main, scores.get(main))
    main = tasks.info(task).main
    return score_text(main, scores.get(main))


@dataclass(frozen=True)
class ScoreWords:
    """Names and values of the scores of a run as text.

    stored: what a run whose task is missing says about its scores; None if the task is there.
    """

    stored: Scoring | None = None

    def title(self, name: str) -> str:
        title = self.stored.titles.get(name, "") if self.stored else ""
        return _(title) if title else score_title(name)

    def is_fraction(self, name: str) -> bool:
        """Whether it is shown in percent.

        A score that neither the run nor an installed task describes is shown as it is stored.
        """
        if self.stored is None:
            return is_fraction(name)
        known = bool(self.stored.main) or is_known(name)
        return known and name not in self.stored.errors and is_fraction(name)

    def text(self, name: str, value: float | None) -> str:
        if value is None or self.is_fraction(name):
            return points(value)
        return decimal(value, 3)

    def order(self, scores: Iterable[str], task: str = "") -> tuple[str, ...]:
        """These names of scores, main score first."""
        if self.stored is None:
            return score_names(scores, task)
        names = list(scores)
        order = (self.stored.main, *self.stored.titles, *names)
        return tuple(dict.fromkeys(name for name in order if name in names))


def words_of(run: Run) -> ScoreWords:
    return ScoreWords(run_results.trained(run).scoring if missing.of_run(run) else None)


def score_text(name: str, value: float | None, *, signed: bool = False) -> str:
    """A score as text: a fraction in percent without the sign, others in their own unit.

    signed: for a difference, with a sign.
    """
    if value is None or is_fraction(name):
        return points(value, signed=signed)
    return decimal(value, 3, signed=signed)


def first_score(scores: Mapping[str, float], task: str) -> str:
    """The most important of the scores on dev as text; "" if there are none."""
    if not scores:
        return ""
    main = score_names(scores, task)[0]
    return _("{name} {value} on dev", name=score_title(main), value=score_text(main, scores[main]))


class LayerMix(NamedTuple):
    """Learned weights of layers, embeddings first; gamma of a scalar mix, else None.

    part: the model in the embeddings that the layers are of, "" for the encoder itself.
    """

    part: str
    weights: tuple[float, ...]
    gamma: float | None = None

    def text(self) -> str:
        """The weights of all layers on one line."""
        message = ", ".join(weight_texts(self.weights))
        return _("{model}: {weights}", model=self.part, weights=message) if self.part else message


def layer_mixes(result: Mapping[str, Any]) -> tuple[LayerMix, ...]:
    """Layer mixes from `training.events.LayerWeights`, as a run reports and stores them."""
    every = {"": result, **result.get("parts", {})}
    return tuple(
        LayerMix(part, tuple(item["weights"]), item.get("gamma"))
        for part, item in every.items()
        if item.get("weights")
    )


def mixes_of(run: Run) -> tuple[LayerMix, ...]:
    """Layer mixes at the best checkpoint; () if the run has learned none."""
    return layer_mixes(run_results.trained(run).layer_weights)


def weight_texts(weights: Sequence[float]) -> list[str]:
    """The weight of each layer with its name."""
    named = _("Layer {number}: {weight}")
    return [
        named.format(number=number, weight=decimal(weight, 3))
        if number
        else _("Embeddings: {weight}", weight=decimal(weight, 3))
        for number, weight in enumerate(weights)
    ]


def gamma_text(gamma: float | None) -> str:
    """The factor of a scalar mix; "" for other combinations of layers."""
    return "" if gamma is None else _("γ {value}", value=decimal(gamma, 3))


def part_name(part: str) -> str:
    """Display name of a part as `training.rates.LayerRates` names it."""
    number = part.removeprefix("layer_")
    ends = {"embeddings": _("Embeddings"), "head": _("Head")}
    return ends.get(part) or _("Layer {number}", number=number)
