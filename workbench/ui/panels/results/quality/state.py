"""State of the Quality part: calibration, curves, training and slices of the selected run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.operations.evaluation import quality, slices
from workbench.operations.evaluation.slices import MIN_EXAMPLES, Slice, Slices, pattern_name
from workbench.operations.runs import calibration, results, run_folders
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.training_curves import TrainingCurves, training_curves
from workbench.tasks import spec as tasks
from workbench.text import result_view
from workbench.text.queries.patterns import matcher
from workbench.text.rows import row_id
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.operations.evaluation.quality import Calibrated, LabelCurves
    from workbench.ui.panels.results.selection import RunSelection

slice_columns = slices.columns
LOADING = "quality"  # key of the task


@dataclass(frozen=True)
class Loaded:
    """Everything that the part shows of one run and split.

    evidence stays for slices that are added, None for a run without scores; training: of the run
    and of those drawn over it.
    """

    split: str
    score: str
    of_task: quality.Evidence | None
    calibrated: Calibrated | None
    curves: tuple[LabelCurves, ...]
    training: TrainingCurves | None
    slices: Slices | None = None
    others: dict[str, TrainingCurves] = field(default_factory=dict)

    @property
    def evidence(self) -> quality.Evidence:
        """Raises RuntimeError for a run without scores."""
        if self.of_task is None:
            raise RuntimeError("the run has no scores")
        return self.of_task


@dataclass(frozen=True)
class NumberScores:
    """Gold and predicted numbers of documents, their keys, and all scores."""

    gold: tuple[float, ...]
    predicted: tuple[float, ...]
    keys: tuple[str, ...]
    scores: dict[str, float]


class QualityState(State):
    """Follows the selected run while its part is visible. show_errors: as `ErrorsState.show`."""

    def __init__(self, selection: RunSelection, show_errors: Callable[..., None]) -> None:
        super().__init__()
        self.selection, self.project = selection, selection.project
        self.context, self._show_errors = selection.context, show_errors
        self.loaded: Loaded | None = None
        self.split = "dev"
        self.label = ""  # of the shown curve
        self._numbers: tuple[quality.Evidence, NumberScores | None] | None = None
        self.patterns: tuple[str, ...] = ()
        self.problem = ""
        self.overlaid: tuple[int, ...] = ()  # further runs of the training chart
        self._on = False
        self._run_id = 0
        self._shown: object = None  # the details that `loaded` was computed with

    def watch(self, on: bool) -> None:
        self._on = on
        if on:
            self.follow()

    def follow(self) -> None:
        """Load the selected run again if it or its gold labels have changed."""
        details = self.selection.details
        if not self._on or details is None or details is self._shown:
            return
        if self.split not in self.selection.splits_shown:
            self.split = "dev"
        self._shown = details
        if (
            details.results.run.id != self._run_id
        ):  # the charts of another run are not left on the page
            self._run_id = details.results.run.id
            self.update(loaded=None, problem="")
        self.load()

    def show_split(self, split: str) -> None:
        if split != self.split:
            self.update(split=split)
            self.load()

    def load(self, added: str = "") -> None:
        """added: a regular expression that is new, and reported if it makes no slice."""
        run = self.selection.run
        if run is None:
            self.context.drop(LOADING)
            self.update(loaded=None)
            return
        project, split, overlaid, patterns = self.project, self.split, self.overlaid, self.patterns
        work = partial(_loaded, project, run, split, overlaid, patterns, added)
        self.context.task(LOADING, work, partial(self._take, run.id), failed=self._failed)

    def _take(self, run_id: int, result: tuple[Loaded, str, tuple[str, ...]]) -> None:
        loaded, problem, patterns = result
        if self.selection.run is None or self.selection.run.id != run_id:
            return
        labels = [curve.label for curve in loaded.curves]
        label = self.label if self.label in labels else next(iter(labels), "")
        self.update(loaded=loaded, label=label, problem=problem, patterns=patterns)

    def _failed(self, error: Exception) -> None:
        if not isinstance(error, KeyError):  # a run was deleted meanwhile
            self.update(problem=str(error))

    # ---------------------------------------------------------------- shown values

    @property
    def curve(self) -> LabelCurves | None:
        """The curves of the chosen label."""
        every = self.loaded.curves if self.loaded is not None else ()
        return next((curves for curves in every if curves.label == self.label), None)

    @property
    def numbers(self) -> NumberScores | None:
        """None for a kind of prediction without values, or without documents."""
        evidence = self.loaded.of_task if self.loaded is not None else None
        if evidence is None or not len(evidence):
            return None
        if self._numbers is None or self._numbers[0] is not evidence:
            self._numbers = evidence, _numbers(evidence)
        return self._numbers[1]

    def open_point(self, number: int) -> None:
        """Open the document of a point in Annotate."""
        if self.loaded is not None and number < len(self.loaded.evidence):
            document = self.loaded.evidence.documents[number]
            self.context.go("annotate", document=row_id(document))

    def score_title(self) -> str:
        sliced = self.loaded.slices if self.loaded is not None else None
        return tasks.score_title(sliced.score) if sliced is not None else ""

    def others(self) -> tuple[tuple[int, str], ...]:
        """(id, name) of the runs whose training can be drawn over this one."""
        return tuple(
            (run.id, run.name) for run in self.selection.others() if kinds.info(run.kind).curves
        )

    # ---------------------------------------------------------------- actions

    def choose_label(self, label: str) -> None:
        self.update(label=label)

    def add_slice(self, pattern: str) -> bool:
        """A slice of the texts that match a regular expression. False if it is none."""
        pattern = pattern.strip()
        if not pattern or pattern in self.patterns:
            return True
        try:
            matcher(pattern)
        except SpecError as error:
            self.update(problem=str(error))
            return False
        self.update(patterns=(*self.patterns, pattern))
        self.load(pattern)
        return True

    def remove_slice(self, name: str) -> None:
        """Remove a slice that was added here; others stay."""
        left = tuple(pattern for pattern in self.patterns if pattern_name(pattern) != name)
        if left != self.patterns:
            self.update(patterns=left)
            self.load()

    def typing(self) -> None:
        """What was wrong with an expression no longer matters while another one is typed."""
        self.update(problem="")

    def overlay(self, run_id: int) -> None:
        """Draw the training of another run, or no longer."""
        has = run_id in self.overlaid
        rest = tuple(number for number in self.overlaid if number != run_id)
        self.update(overlaid=rest if has else (*rest, run_id))
        self.load()

    def use_temperature(self, on: bool) -> None:
        """Decode with the fitted temperature from now on, or without one."""
        calibrated = self.loaded.calibrated if self.loaded is not None else None
        run = self.selection.run
        if calibrated is None or run is None or self.project.read_only:
            return
        value = calibrated.temperature if on else 1.0
        before = calibration.temperature(self.project, run)
        change = partial(calibration.set_temperature, self.project, run.id)
        message = (
            _("Temperature {value} is applied to {run}.")
            if on
            else _("No temperature is applied to {run}.")
        )
        self._note_step(
            message.format(run=run.name, value=formats.decimal(value, 2)),
            _("Change temperature"),
            partial(change, before),
            partial(change, value),
        )

    def set_threshold(self, label: str, value: float) -> None:
        """Decide for a label from this probability on."""
        self._set({label: value})

    def set_best(self) -> None:
        """The threshold with the highest F1 on this split for every label."""
        if self.loaded is not None:
            evidence = self.loaded.evidence
            fitted = evidence.info.fit(evidence.golds, evidence.predictions, self._labels())
            if values := fitted.get(calibration.THRESHOLDS):
                self._set(dict(zip(self._labels(), values, strict=True)))

    def _labels(self) -> Sequence[str]:
        loaded = self.loaded
        answers = loaded.evidence.predictions if loaded is not None else ()
        return quality.decided_labels(answers)

    def _set(self, changes: dict[str, float]) -> None:
        run, loaded = self.selection.run, self.loaded
        if run is None or loaded is None or self.project.read_only:
            return
        known = quality.thresholds(loaded.evidence.predictions)
        before = [known[label] for label in self._labels()]
        values = [changes.get(label, known[label]) for label in self._labels()]
        change = partial(calibration.set_thresholds, self.project, run.id)
        title = ngettext("Change {n} threshold", "Change {n} thresholds", len(changes))
        message = ngettext(
            "{n} threshold of {run} was set.",
            "{n} thresholds of {run} were set.",
            len(changes),
            run=run.name,
        )
        self._note_step(
            message,
            title,
            partial(change, before),
            partial(change, values),
        )

    def _note_step(
        self, message: str, title: str, back: Callable[[], None], again: Callable[[], None]
    ) -> None:
        """Make a change of the decoder, then name it in a message with Undo."""
        steps = partial(self._change, title, back), partial(self._change, title, again)
        self._change(title, again, lambda: self.context.note_step(message, title, *steps))

    def _change(
        self, title: str, work: Callable[[], None], then: Callable[[], None] = lambda: None
    ) -> None:
        """Stored predictions change, so the page reads them again."""

        def changed(_result: None) -> None:
            self._shown = None
            self.selection.reload()
            self.load()
            then()

        self.context.task("decoder", work, changed, failed=self._failed, title=title, writes=True)

    def open_bin(self, curve: int, number: int) -> None:
        """Show the errors of the documents of a bin of the reliability chart.

        curve: 0 without the temperature, 1 with it.
        """
        calibrated = self.loaded.calibrated if self.loaded is not None else None
        if calibrated is not None and curve < len(calibrated.documents):
            bins = calibrated.documents[curve]
            message = _("confidence {low} to {high}")
            low, high = (formats.decimal(at / len(bins), 1) for at in (number, number + 1))
            self.open_documents(bins[number], message.format(low=low, high=high))

    def open_slice(self, chosen: Slice) -> None:
        """Show the errors of a slice; documents of another split are opened on Data."""
        if chosen.split:
            self.context.go("data", ids=chosen.documents, caption=chosen.name)
        else:
            self.open_documents(chosen.documents, chosen.name)

    def open_wrong(self, threshold: float) -> None:
        """Open the documents that are decided wrongly for the label at a threshold.

        They need not be errors of the run, which decides with the thresholds in use. Where every
        label is decided on its own, errors with other labels are left out.
        """
        loaded, curve = self.loaded, self.curve
        if loaded is None or curve is None:
            return
        label = "" if curve.pooled else self.label
        rows = quality.wrong_at(loaded.evidence, label, threshold)
        ids = [row_id(loaded.evidence.documents[at]) for at in rows]
        message = _(
            "{label}, threshold {value:.2f}: wrong decisions", label=self.label, value=threshold
        )
        what = message
        self.open_documents(ids, what, self.label if curve.threshold is not None else "")

    def open_documents(self, ids: Sequence[int], what: str, label: str = "") -> None:
        """Show the errors of these documents; from there, all of them can be shown on Data."""
        if ids:
            self._show_errors(split=self.split, documents=ids, caption=what, label=label)


def _numbers(evidence: quality.Evidence) -> NumberScores | None:
    golds, predictions = evidence.golds, evidence.predictions
    view = result_view.of_outputs(evidence.info.outputs)
    values = view.scatter(golds, predictions, evidence.labels)
    if values is None:
        return None
    keys = tuple(document.key for document in evidence.documents)
    return NumberScores(*values, keys, evidence.info.score(golds, predictions))


def _loaded(
    project: Any,
    run: Any,
    split: str,
    overlaid: Sequence[int],
    patterns: tuple[str, ...],
    added: str = "",
) -> tuple[Loaded, str, tuple[str, ...]]:
    """What the part shows, a problem with the patterns, and those that are kept; many documents
    take a second.
    """
    if not results.has_task(run):
        training = training_curves(project, run.id)
        return Loaded(split, "", None, None, (), training), "", patterns
    evidence = quality.evidence(project, run, split)
    dev = evidence if split == "dev" else quality.evidence(project, run, "dev")
    in_use = calibration.temperature(project, run)
    can = run_folders.has_model(project, run.id)
    others = {}
    for other in overlaid:
        if (curves := training_curves(project, other)) is not None:
            others[results.run(project, other).name] = curves
    problem, splits = "", quality.other_splits(project, run, split)
    try:
        sliced = slices.slices(evidence, patterns, splits)
    except WorkbenchError as error:  # matching took too long
        problem, sliced, patterns = str(error), slices.slices(evidence, (), splits), ()
    loaded = Loaded(
        split,
        evidence.info.main,
        evidence,
        quality.calibrated(evidence, dev, in_use, can_scale=can),
        (*quality.label_curves(evidence), *quality.pooled_curves(evidence)),
        training_curves(project, run.id),
        sliced,
        others,
    )
    names = {row.name for row in sliced.rows} if sliced is not None else set()
    if added and not problem and pattern_name(added) not in names:
        message = ngettext(
            "“{pattern}” matches fewer than {n} document, or all; this is not a slice.",
            "“{pattern}” matches fewer than {n} documents, or all; this is not a slice.",
            MIN_EXAMPLES,
            pattern=added,
        )
        problem = message
        patterns = tuple(pattern for pattern in patterns if pattern != added)
    return loaded, problem, patterns
