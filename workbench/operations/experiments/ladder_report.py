"""Results of a ladder experiment: one row per rung, as records and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, Protocol

from workbench.base.i18n import _
from workbench.metrics.gain import gain
from workbench.operations.experiments.ladder import DONE, RUNNING, WAITING, LadderCell
from workbench.operations.experiments.ladder_rungs import Available, to_json
from workbench.operations.experiments.ladder_spec import LadderSpec
from workbench.operations.runs import run_results
from workbench.tasks import spec as tasks
from workbench.text.columns import Column, ValueKind

SPLIT = "dev"


class ScoreText(Protocol):
    """A main score as text, "–" for none; signed: a gain."""

    def __call__(self, value: float | None, *, signed: bool = False) -> str: ...


@dataclass(frozen=True)
class Summary:
    """The finished runs of a rung with one decoder.

    scores: seed → main score on dev. minutes: mean duration of a run. parameters,
    trained: of the network; None if the runs do not say.
    """

    scores: Mapping[int, float]
    minutes: float | None = None
    parameters: int | None = None
    trained: int | None = None

    @property
    def mean(self) -> float | None:
        return fmean(self.scores.values()) if self.scores else None

    @property
    def sd(self) -> float | None:
        """Standard deviation over seeds (n - 1); None for fewer than two runs."""
        return stdev(self.scores.values()) if len(self.scores) > 1 else None


@dataclass(frozen=True)
class RungRow:
    """One rung. gain: of its mean score over the rung before, with the first decoder of the
    experiment; errors_removed: the gain as a fraction of the errors (1 - score) of that rung.
    """

    rung: Available
    by_decoder: Mapping[str, Summary]
    gain: float | None = None
    errors_removed: float | None = None


def score_of(cell: LadderCell) -> float | None:
    """The main score of a finished run on dev."""
    if cell.run is None or cell.spec is None or cell.status != DONE:
        return None
    value: float | None = cell.run.scores.get(SPLIT, {}).get(tasks.info(cell.spec.task).main)
    return value


def rows(spec: LadderSpec, cells: Sequence[LadderCell]) -> tuple[RungRow, ...]:
    """The rungs in their order, with the summary of each decoder."""
    table: list[RungRow] = []
    is_error = tasks.is_error(tasks.info(spec.task).main)
    before: float | None = None
    for rung in dict.fromkeys(cell.rung.rung.id for cell in cells):
        same = [cell for cell in cells if cell.rung.rung.id == rung]
        summaries = {
            decoder: _summary([cell for cell in same if cell.decoder == decoder])
            for decoder in spec.decoders
        }
        mean = summaries[spec.decoders[0]].mean
        found_gain = gain(mean, before, is_error=is_error)
        table.append(
            RungRow(
                same[0].rung,
                summaries,
                found_gain.absolute if found_gain else None,
                found_gain.errors_removed if found_gain else None,
            )
        )
        before = before if mean is None else mean
    return tuple(table)


def _summary(cells: Sequence[LadderCell]) -> Summary:
    scored = {cell.seed: score for cell in cells if (score := score_of(cell)) is not None}
    done = [run_results.trained(cell.run) for cell in cells if cell.seed in scored and cell.run]
    seconds = [result.seconds for result in done if result.seconds is not None]
    last = done[-1] if done else None
    return Summary(
        scored,
        fmean(seconds) / 60 if seconds else None,
        last.parameters if last else None,
        last.trained_parameters if last else None,
    )


def columns(spec: LadderSpec, text: ScoreText) -> tuple[Column, ...]:
    """Of the rows, for people. text: of a main score, or of a gain, which is signed."""
    first = spec.decoders[0]
    return (
        Column(_("Rung"), lambda row: _(row.rung.rung.title)),
        Column(_("Input"), _input),
        Column(
            _("Trained"),
            lambda row: row.by_decoder[first].trained,
            kind=ValueKind.COUNT,
            hint=_("Trained parameters"),
        ),
        *(_mean_column(spec.task, decoder, text) for decoder in spec.decoders),
        Column(_("Gain"), kind=ValueKind.SHARE, display=lambda row: text(row.gain, signed=True)),
        Column(
            _("Errors removed"),
            lambda row: row.errors_removed,
            kind=ValueKind.SHARE,
            hint=_("Gain as a share of errors"),
        ),
        Column(
            _("Minutes"),
            lambda row: row.by_decoder[first].minutes,
            kind=ValueKind.NUMBER,
            digits=1,
            hint=_("Minutes per run"),
        ),
    )


def _input(row: RungRow) -> str:
    rung = row.rung.rung
    return row.rung.missing or rung.options.get("embeddings") or rung.model


def _mean_column(task: str, decoder: str, text: ScoreText) -> Column:
    def mean(row: RungRow) -> str:
        summary = row.by_decoder[decoder]
        score = text(summary.mean)
        if summary.sd is None:
            return _("{score} (n = 1)", score=score) if summary.scores else score
        return f"{score} ± {text(summary.sd)}"

    return Column(decoder_title(task, decoder) or _("Score"), kind=ValueKind.SHARE, display=mean)


def seconds_left(cells: Sequence[LadderCell]) -> float | None:
    """Estimated from the finished runs, of the same rung where there are some; None without any."""
    took: dict[str, list[float]] = {}
    for cell in cells:
        if cell.status == DONE and cell.run is not None and cell.run.seconds is not None:
            took.setdefault(cell.rung.rung.id, []).append(cell.run.seconds)
    if not took:
        return None
    usual = fmean(seconds for times in took.values() for seconds in times)
    return sum(
        fmean(took.get(cell.rung.rung.id, [usual])) * (1 - (cell.fraction or 0))
        for cell in cells
        if cell.status in (WAITING, RUNNING)
    )


def used(cells: Sequence[LadderCell]) -> Mapping[str, int]:
    """Split → documents of the finished runs, {} without one."""
    return next((run_results.trained(cell.run).used for cell in cells if cell.run), {})


def report(spec: LadderSpec, cells: Sequence[LadderCell], *, status: str) -> dict[str, Any]:
    """The experiment in machine-readable form; scores are fractions of 1, but for errors."""
    info = tasks.info(spec.task)
    return {
        "task": spec.task,
        "layer": spec.layer,
        "status": status,
        "split": SPLIT,
        "score": info.main,
        "seeds": list(spec.seeds),
        "decoders": list(spec.decoders),
        "settings": dict(spec.settings),
        "used": dict(used(cells)),
        "fingerprint": next((cell.run.data_fingerprint for cell in cells if cell.run), ""),
        "rungs": [_row_json(row, cells) for row in rows(spec, cells)],
    }


def _row_json(row: RungRow, cells: Sequence[LadderCell]) -> dict[str, Any]:
    same = [cell for cell in cells if cell.rung is row.rung]
    return {
        **to_json(row.rung.rung),
        "missing": same[0].message if same[0].spec is None else "",
        "gain": row.gain,
        "errors_removed": row.errors_removed,
        "results": [
            _summary_json(decoder, summary, [cell for cell in same if cell.decoder == decoder])
            for decoder, summary in row.by_decoder.items()
        ],
    }


def _summary_json(decoder: str, summary: Summary, cells: Sequence[LadderCell]) -> dict[str, Any]:
    scores = summary.scores.values()
    return {
        "decoder": decoder,
        "n": len(scores),
        "mean": summary.mean,
        "sd": summary.sd,
        "low": min(scores, default=None),
        "high": max(scores, default=None),
        "minutes": summary.minutes,
        "parameters": summary.parameters,
        "trained_parameters": summary.trained,
        "runs": [
            {
                "seed": cell.seed,
                "status": cell.status,
                "run": cell.run.name if cell.run else "",
                "score": score_of(cell),
                "scores": dict(cell.run.scores.get(SPLIT, {})) if cell.run else {},
                "seconds": cell.run.seconds if cell.run else None,
                "reused": cell.reused,
                "message": cell.message,
            }
            for cell in cells
        ],
    }


def decoder_title(task: str, decoder: str) -> str:
    """Display name of a decoder; "" for a task without."""
    for option in tasks.info(task).options:
        if decoder and decoder in option.choices and option.choice_titles:
            return _(option.choice_titles[option.choices.index(decoder)])
    return decoder
