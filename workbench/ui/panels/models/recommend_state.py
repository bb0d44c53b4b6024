"""Which model suits my text? The job that measures the installed models, and its table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.operations.models import installed as operations
from workbench.operations.models import lm_evaluation, recommend
from workbench.operations.models.recommend import Ranked
from workbench.operations.models.vectors import texts_of
from workbench.pretraining.results import ModelFit
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.ui.panel import PanelContext

SAMPLES = (50, 200, 1000)  # texts
SEED = 1
BINS = 18  # of the histogram of lengths
KINDS, RULE, columns = recommend.KINDS, recommend.RULE, recommend.columns


@dataclass(frozen=True)
class Histogram:
    """Texts by their number of tokens: `counts[i]` of them have i · width to (i + 1) · width."""

    width: int
    counts: tuple[int, ...]


class RecommendState(State):
    """`rows`: models measured so far, best first; `chosen`: name of the selected one.

    `share`: of the measurement that is running, None while the sample is drawn. `files`: text files
    that the sample is drawn from, () for the documents of the project.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context = context
        self.rows: tuple[Ranked, ...] = ()
        self.chosen, self.message, self.error = "", "", ""
        self.sample = recommend.SAMPLE
        self.files: tuple[Path, ...] = ()
        self.busy, self.share = False, 0.0
        self._fits: tuple[ModelFit, ...] = ()  # of the measurement that is running

    @property
    def can_measure(self) -> bool:
        return (self.context.project is not None or bool(self.files)) and not self.busy

    @property
    def can_train(self) -> bool:
        project = self.context.project
        return project is not None and not project.read_only

    @property
    def best(self) -> Ranked | None:
        return next((row for row in self.rows if row.best), None)

    @property
    def recommendation(self) -> str:
        """The result in one sentence, "" without one."""
        return recommend.recommendation(self.rows, ended=not self.busy) if self.rows else ""

    @property
    def selected(self) -> Ranked | None:
        return next((row for row in self.rows if row.fit.name == self.chosen), None)

    def set_sample(self, count: int) -> None:
        self.update(sample=count)

    def read_files(self, files: Sequence[Path]) -> None:
        """Measure on text files, () on the project."""
        self.update(files=tuple(files))

    @property
    def source(self) -> str:
        """What the sample is drawn from, for display."""
        if not self.files:
            return _("Random sample of the project")
        return ngettext(
            "Random sample of {name}",
            "Random sample of {n} files",
            len(self.files),
            name=self.files[0].name,
        )

    def choose(self, name: str) -> None:
        self.update(chosen=name)

    def train(self) -> None:
        if self.best is not None:
            self.context.go("train", model=self.best.fit.name)

    # ---------------------------------------------------------------- the job

    def measure(self) -> None:
        """Draw the sample, then measure all usable models in a worker."""
        if not self.can_measure:
            return
        project, files, count = self.context.project, self.files, self.sample
        settings, queue = self.context.settings, self.context.queue

        def work(watch: Watch) -> tuple[int, tuple[ModelFit, ...]]:
            every = texts_of(project) if project and not files else lm_evaluation.pieces(files)
            texts = recommend.sample(every, count, SEED)
            cards = [card for card in operations.list(settings) if card.usable]
            return len(texts), recommend.measure(queue, cards, texts, seed=SEED, watch=watch)

        self._fits = ()
        self.update(busy=True, share=None, error="", message=_("Drawing a sample…"))
        self.context.task(
            (self, "measure"), work, self._measured,
            failed=self._failed, progress=self._progressed, on_event=self._add_fit,
        )  # fmt: skip

    def _progressed(self, watch: Watch) -> None:
        name = str(watch.progress.get("text", ""))
        text = _("Measuring {name}…", name=name) if name else _("Starting…")
        self.update(share=watch.progress.get("part", 0.0), message=text)

    def _add_fit(self, payload: Mapping[str, Any]) -> None:
        if fit := payload.get("fit"):
            self._fits += (ModelFit.from_json(fit),)
            rows = recommend.ranked(self._fits)
            self.update(rows=rows, chosen=self.chosen or rows[0].fit.name)

    def _measured(self, result: tuple[int, tuple[ModelFit, ...]]) -> None:
        texts, fits = result
        rows = recommend.ranked(fits)
        chosen = rows[0].fit.name if rows else ""
        text = self._summary(rows, texts)
        self.update(busy=False, rows=rows, chosen=chosen, message=text, share=1.0)

    def _failed(self, error: Exception) -> None:
        if isinstance(error, Cancelled):  # in the list of jobs
            self.update(busy=False, message=_("Cancelled."))
        else:
            self.update(busy=False, error=str(error), message="")

    def _summary(self, rows: tuple[Ranked, ...], texts: int) -> str:
        seconds = sum(row.fit.seconds for row in rows)
        return ngettext(
            "{n} model on {texts} texts in {seconds} s",
            "{n} models on {texts} texts in {seconds} s",
            len(rows),
            texts=texts,
            seconds=round(seconds),
        )

    def cancel(self) -> None:
        if self.busy:
            self.context.drop((self, "measure"))
            self.update(busy=False, message=_("Cancelled."))

    def close(self) -> None:
        self.cancel()
        super().close()


def per_token(row: Ranked) -> float | None:
    """The perplexity per token, of a character language model per character."""
    fit = row.fit
    return math.exp(fit.total / fit.scored) if fit.scored else None


def figure(value: float | None) -> str:
    """A perplexity, "–" without one."""
    if not value:
        return "–"
    return formats.count(round(value)) if value >= 100 else formats.significant(value, 3)


def interval_words(row: Ranked) -> str:
    """The interval of a perplexity, "" without one."""
    if row.fit.interval is None:
        return ""
    low, high = map(figure, row.fit.interval)
    return _("95% interval by a bootstrap over texts: {low} – {high}", low=low, high=high)


def kind_words(row: Ranked) -> str:
    return _(KINDS[row.fit.kind]) if row.fit.kind else ""


def rule_words() -> str:
    return _(RULE)


def histogram(fit: ModelFit) -> Histogram:
    """Lengths of the texts in at most BINS intervals of a round width."""
    longest = max(fit.lengths, default=0)
    width = next(size for size in (4, 8, 16, 32, 64, 128, 1 << 20) if longest < BINS * size)
    counts = Counter(min(length // width, BINS - 1) for length in fit.lengths)
    last = max(counts, default=0)
    return Histogram(width, tuple(counts[at] for at in range(last + 1)))


def length_words(fit: ModelFit) -> str:
    """Median and longest length."""
    if not fit.lengths:
        return ""
    ordered = sorted(fit.lengths)
    return _(
        "{name}: tokens per text: median {median}, longest {longest}",
        name=fit.name,
        median=ordered[len(ordered) // 2],
        longest=ordered[-1],
    )
