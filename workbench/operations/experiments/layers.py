"""Experiments about the layers of an encoder: how transferable each one is (Yosinski et al. 2014),
and which layers a task reads when it mixes them (Peters et al. 2018, table 2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.metrics.gain import gain
from workbench.operations.experiments import experiment
from workbench.operations.experiments.experiment import (
    BandPoint,
    BandSeries,
    Cell,
    Experiment,
    Row,
    ScoreText,
    Summary,
)
from workbench.operations.runs import run_results, sources
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.kinds.train.info import INFO
from workbench.storage.runs.runs import Listing
from workbench.tasks import spec as tasks
from workbench.text.columns import Column, ValueKind
from workbench.training.results import TrainResult
from workbench.training.spec import TrainSpec, parse_settings

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

BASE, NOTHING = "base", "none"  # groups: the run itself, and no layer of any model
# settings that the experiments set themselves, or that do not fit new layers
OWN = (
    "method", "freeze", "init", "init_layers", "gradual_unfreezing", "fold",
    "adapt_epochs", "adapt_objective", "adapt_learning_rate", "adapt_layer_decay",
)  # fmt: skip


@dataclass(frozen=True)
class Treatment:
    """A line of the figure. of_source: the layers are those of the source, else of the target.
    frozen: they are not trained.
    """

    id: str
    of_source: bool
    frozen: bool


TREATMENTS = (
    Treatment("BnB", False, True),
    Treatment("BnB+", False, False),
    Treatment("AnB", True, True),
    Treatment("AnB+", True, False),
)


def level_text(n: int) -> str:
    """The setting `freeze` or `init_layers` for the n lowest levels, the embeddings included."""
    return ("none", "embeddings")[n] if n < 2 else str(n - 1)


def level_title(n: int) -> str:
    """Of the n lowest levels, for an axis."""
    return ("0", _("E"))[n] if n < 2 else str(n - 1)


@dataclass(frozen=True)
class TransferSpec:
    """target: settings of a run on the layer, `model`: the folder of its weights, as network B.
    source: a model with the same architecture, as network A. levels: numbers of copied levels, all
    by default: 0, the embeddings, each layer.
    """

    target: TrainSpec
    model: ModelInfo
    source: ModelInfo
    seeds: tuple[int, ...] = (1, 2, 3)
    levels: tuple[int, ...] = ()


def transfer_spec(
    project: Project,
    target: Run,
    source: str = "",
    *,
    seeds: Sequence[int] = (1, 2, 3),
    levels: Sequence[int] = (),
) -> TransferSpec:
    """source: name or folder of a model, or the name of a run; by default the model that the target
    was fine-tuned from. Raises WorkbenchError for what cannot be compared.
    """
    spec = kinds.of(target).settings(target)
    network_a = replace(sources.find(project, source or spec.model), name=source or spec.model_name)
    network_b = sources.of_run(project, target)
    return TransferSpec(
        replace(spec, name=target.name), network_b, network_a, tuple(seeds), tuple(levels)
    )


class Transfer(Experiment):
    """Groups are treatments with a number of levels, after the target itself and no level at all,
    which is the same for every treatment.

    Raises SpecError for models of different architectures.
    """

    def __init__(self, project: Project, spec: TransferSpec):
        _check_equal(spec.source, spec.model)
        count = spec.model.layers + 1
        if not spec.model.layers or any(not 0 <= n <= count for n in spec.levels):
            raise SpecError(
                _("{model} has no layers, or fewer than are asked for.", model=spec.model.name),
                hint=_("Levels are from 0 to {n}; the embeddings are level 1.", n=count),
            )
        self.spec, self.levels = spec, spec.levels or tuple(range(count + 1))
        self.layer = spec.target.layer
        super().__init__(project, _transfer_cells(spec, self.levels), task=spec.target.task)

    @property
    def summaries(self) -> dict[str, Summary]:
        """Group → its runs over seeds."""
        return {row.group: row.first for row in self.rows}

    @property
    def lines(self) -> tuple[BandSeries, ...]:
        """The scores over the number of levels: one line for each treatment, bands over seeds."""
        summaries = self.summaries
        return tuple(
            BandSeries(
                treatment.id,
                treatment.id,
                tuple(
                    BandPoint(n, summary.mean, *summary.band)
                    for n in self.levels
                    if (summary := summaries[_group(treatment, n)]).mean is not None
                    and summary.band is not None
                ),
            )
            for treatment in TREATMENTS
        )

    @property
    def base(self) -> Summary:
        return self.summaries[BASE]

    def base_text(self, text: ScoreText | None = None) -> str:
        """The score of the settings of the target, "–" without one."""
        return _mean_text(self.base, text or partial(tasks.score_text, self.score)) or "–"

    @property
    def reading(self) -> str:
        """How the figure is read."""
        return _(
            "Level 0 is a network of random weights; E: the embeddings of the model, then each "
            "layer. BnB below the base line: layers that were trained together have been torn "
            "apart (co-adaptation). AnB below BnB: layers of the source are specific to it. "
            "AnB+ above the base line: transfer helps even when all layers are trained."
        )

    def columns(self, text: ScoreText | None = None) -> tuple[Column, ...]:
        """Of `table`."""
        text = text or partial(tasks.score_text, self.score)
        return (
            Column(_("Level"), lambda row: row[0]),
            *(
                Column(
                    treatment.id,
                    kind=ValueKind.SHARE,
                    display=partial(_level_mean, text, at),
                )
                for at, treatment in enumerate(TREATMENTS)
            ),
        )

    @property
    def level_titles(self) -> tuple[tuple[int, str], ...]:
        return tuple((n, level_title(n)) for n in self.levels)

    @property
    def table(self) -> tuple[tuple[str, tuple[Summary, ...]], ...]:
        """(title, summaries by treatment) of each level."""
        summaries = self.summaries
        return tuple(
            (level_title(n), tuple(summaries[_group(item, n)] for item in TREATMENTS))
            for n in self.levels
        )

    def report(self) -> dict[str, Any]:
        """The experiment in machine-readable form; scores are fractions of 1, but for errors."""
        return {
            **experiment.about(self, self.layer),
            "target": self.spec.model.name,
            "source": self.spec.source.name,
            "seeds": list(self.spec.seeds),
            "base": experiment.to_json(self, self.base),
            "levels": [
                {
                    "level": n,
                    "title": level_text(n),
                    **{
                        item.id: experiment.to_json(self, self.summaries[_group(item, n)])
                        for item in TREATMENTS
                    },
                }
                for n in self.levels
            ],
        }


def _check_equal(source: ModelInfo, target: ModelInfo) -> None:
    for title, first, second in (
        (_("family"), source.family, target.family),
        (_("layers"), source.layers, target.layers),
        (_("width"), source.width, target.width),
        (_("vocabulary"), source.vocabulary, target.vocabulary),
    ):
        if first != second:
            raise SpecError(
                _(
                    "{source} and {target} differ in their {title}: {first} and {second}.",
                    source=source.name,
                    target=target.name,
                    title=title,
                    first=first,
                    second=second,
                ),
                hint=_("Layers are copied between networks of equal architecture."),
            )


def _group(treatment: Treatment, n: int) -> str:
    return f"{treatment.id}-{n}" if n else NOTHING


def _transfer_cells(spec: TransferSpec, levels: Sequence[int]) -> list[Cell]:
    options = {name: value for name, value in spec.target.options.items() if name not in OWN}
    listing = Listing(_("Transfer to {run}", run=spec.target.name), archived=True)

    def cell(group: str, title: str, seed: int, chosen: TrainSpec) -> Cell:
        own = replace(chosen, seed=seed, name="", with_test=False)
        about = {"run": spec.target.name, "title": title, "seed": seed}
        name = _("{run}, {title}, seed {seed}", **about)
        return Cell(group, title, "", seed, INFO.id, own, name, listing=listing)

    def copied(model: ModelInfo, n: int, frozen: bool) -> TrainSpec:
        more = {"init_layers": level_text(n), **({"freeze": level_text(n)} if frozen and n else {})}
        return replace(
            spec.target,
            model=model.path,
            model_name=model.name,
            family=model.family,
            allow_pickle=model.pickled,
            options={**options, **more},
        )

    cells = [cell(BASE, _("Base"), seed, spec.target) for seed in spec.seeds]
    for n in levels:
        if not n:
            cells += [
                cell(NOTHING, _("No layer"), seed, copied(spec.model, 0, False))
                for seed in spec.seeds
            ]
            continue
        for item in TREATMENTS:
            model = spec.source if item.of_source else spec.model
            title = f"{item.id}, {level_title(n)}"
            chosen = copied(model, n, item.frozen)
            cells += [cell(_group(item, n), title, seed, chosen) for seed in spec.seeds]
    return cells


def _mean_text(summary: Summary, text: ScoreText) -> str | None:
    if summary.mean is None:
        return None
    return (
        text(summary.mean) if summary.sd is None else f"{text(summary.mean)} ± {text(summary.sd)}"
    )


def _level_mean(text: ScoreText, at: int, row: tuple[str, tuple[Summary, ...]]) -> str | None:
    return _mean_text(row[1][at], text)


# ---------------------------------------------------------------- weights of layers


@dataclass(frozen=True)
class Reading:
    """What the head reads: a row of the table."""

    id: str
    title: str
    options: Mapping[str, object]


READINGS = (
    Reading("last", N_("Last layer"), {"layers": "last"}),
    Reading("uniform", N_("Uniform mean of all layers"), {"layers": "mean"}),
    Reading("mix-1", N_("Scalar mix, λ = 1"), {"layers": "mix", "layer_l2": 1.0}),
    Reading("mix-0.001", N_("Scalar mix, λ = 0.001"), {"layers": "mix", "layer_l2": 0.001}),
)


class LayerWeights(Experiment):
    """Groups are the ways to read the layers; all other settings are those of one run.

    target: those settings. Raises SpecError for a task that reads no layers.
    """

    def __init__(self, project: Project, target: TrainSpec, seeds: Sequence[int] = (1, 2, 3)):
        self.target, self.seeds, self.layer = target, tuple(seeds), target.layer
        super().__init__(project, _weight_cells(target, seeds), task=target.task)

    def columns(self, text: ScoreText | None = None) -> tuple[Column, ...]:
        text = text or partial(tasks.score_text, self.score)
        return (
            Column(_("Layers"), lambda row: row.title),
            experiment.mean_column("", "", text),
            Column(
                _("Over last layer"),
                kind=ValueKind.SHARE,
                display=lambda row: _signed(self.delta(row), text),
            ),
            Column(_("Weights"), lambda row: weights_text(self.weights(row))),
            experiment.minutes_column(),
        )

    def delta(self, row: Row) -> float | None:
        """Gain of a mean over that of the last layer; None for the last layer itself."""
        first = self.rows[0]
        if row.group == first.group:
            return None
        change = gain(row.first.mean, first.first.mean, is_error=tasks.is_error(self.score))
        return change.absolute if change else None

    def weights(self, row: Row) -> tuple[float, ...]:
        """Learned weight of each layer, embeddings first, mean over seeds; () without any."""
        known = [
            tuple(map(float, outcome.layer_weights["weights"]))
            for cell in row.first.cells
            if cell.run is not None
            and cell.status == experiment.DONE
            and isinstance(outcome := run_results.outcome(cell.run), TrainResult)
            and outcome.layer_weights.get("weights")
        ]
        return tuple(fmean(values) for values in zip(*known, strict=True)) if known else ()

    @property
    def reading(self) -> str:
        """How the table is read."""
        return _(
            "λ is the L2 penalty on the weights of the layers before their softmax: 1 keeps them "
            "close to the mean of all layers, 0.001 lets them vary (Peters et al. 2018, table 2)."
        )

    def report(self) -> dict[str, Any]:
        """The experiment in machine-readable form; scores are fractions of 1, but for errors."""
        return {
            **experiment.about(self, self.layer),
            "model": self.target.model_name or self.target.model,
            "seeds": list(self.seeds),
            "rows": [
                {
                    "id": row.group,
                    "title": row.title,
                    "over_last": self.delta(row),
                    "weights": list(self.weights(row)),
                    **experiment.to_json(self, row.first),
                }
                for row in self.rows
            ],
        }


def weights_text(weights: Sequence[float]) -> str | None:
    return " ".join(f"{weight:.3f}" for weight in weights) or None


def _signed(value: float | None, text: ScoreText) -> str | None:
    return None if value is None else text(value, signed=True)


def _weight_cells(target: TrainSpec, seeds: Sequence[int]) -> list[Cell]:
    own = ("layers", "layer_l2", "fold")
    options = {name: value for name, value in target.options.items() if name not in own}
    listing = Listing(_("Layers of {run}", run=target.name or target.model_name), archived=True)
    cells = []
    for reading in READINGS:
        more = {name: value for name, value in reading.options.items() if value != "last"}
        try:
            chosen = parse_settings(target.task, {**options, **more}, target.family)
        except SpecError as error:
            message = _("The task {task} cannot mix layers.", task=target.task)
            raise SpecError(message, hint=error.message) from error
        spec = replace(target, options=chosen, name="", with_test=False)
        cells += [
            Cell(
                reading.id,
                _(reading.title),
                "",
                seed,
                INFO.id,
                replace(spec, seed=seed),
                _(
                    "{run}, {title}, seed {seed}",
                    run=target.name or target.model_name,
                    title=reading.id,
                    seed=seed,
                ),
                listing=listing,
            )
            for seed in seeds
        ]
    return cells
