"""State of the experiments on the Train page: choices of a ladder, and its runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _
from workbench.operations.experiments import ladder
from workbench.operations.experiments.ladder import Ladder, LadderSpec
from workbench.operations.experiments.ladder_rungs import PARTS, RUNGS, Rung, available, own
from workbench.operations.models import installed as models
from workbench.operations.runs import training_data
from workbench.training.methods.spec import all_methods
from workbench.training.spec import all_options
from workbench.ui.project.experiment_state import ExperimentState, seeds_of

if TYPE_CHECKING:
    from workbench.base.options import Option
    from workbench.models.spec import ModelInfo
    from workbench.text.columns import Column
    from workbench.ui.panel import PanelContext


@dataclass(frozen=True)
class RungSetting:
    """A training option of all rungs, or of one. value: as typed, "" for the default."""

    name: str
    value: str = ""
    rung: str = ""  # its id, "" for all


class LadderState(ExperimentState):
    """`layer`, `seeds` (as typed), `settings` and `rungs` are the choices.

    `parts`: part of the rungs → model that replaces the default one. `left_out`: decoders that are
    not compared. `rung_error`: why the rung of the user could not be added.
    """

    work: Ladder | None

    def __init__(self, context: PanelContext) -> None:
        super().__init__(context)
        self.layers: tuple[tuple[str, int], ...] = ()
        self.layer, self.seeds = "", "1, 2, 3"
        self.settings: tuple[RungSetting, ...] = ()
        self.rungs = tuple(rung for rung in RUNGS if rung.usual)
        self.parts: dict[str, str] = {}
        self.left_out: frozenset[str] = frozenset()
        self.rung_error = ""
        self._cards: tuple[ModelInfo, ...] = ()
        self.missing: dict[str, str] = {}  # rung → why it cannot be trained

    def refresh(self) -> None:
        """Read layers and models again; the choices are kept where possible."""
        if self.active:
            return
        counts = training_data.submitted_by_layer(self.project)
        layers = tuple(counts.items())
        earlier = None if self.layer in counts else self.last()
        if earlier is not None and earlier.layer in counts:
            self.adopt(earlier)
        layer = self.layer if self.layer in counts else next(iter(layers), ("", 0))[0]
        self._cards = models.list(self.context.settings)
        self.update(layers=layers, layer=layer)
        self._plan()

    def last(self, layer: str = "") -> LadderSpec | None:
        """The experiment that was started last on a layer, or on any."""
        return ladder.last(self.project, layer)

    def adopt(self, spec: LadderSpec) -> None:
        """Choose what an earlier experiment chose; unknown options are left out."""
        known = {option.name for option in all_options(spec.task)}
        parted = ((*name.rpartition("."), value) for name, value in spec.settings.items())
        settings = [RungSetting(name, value, rung) for rung, _dot, name, value in parted]
        self.update(
            layer=spec.layer,
            seeds=", ".join(map(str, spec.seeds)),
            settings=tuple(item for item in settings if item.name in known),
            rungs=spec.rungs,
            parts=dict(spec.parts),
            left_out=frozenset(ladder.decoders(spec.task)) - frozenset(spec.decoders),
        )

    def choose(self, **choices: Any) -> None:
        """Set `layer`, `seeds`, `settings` or `rungs`; not while runs are trained.

        Another layer brings the choices of the last experiment on it.
        """
        if not self.active:
            layer = choices.get("layer", self.layer)
            earlier = self.last(layer) if layer != self.layer else None
            if earlier is not None:
                self.adopt(earlier)
            self.update(**choices)
            if "layer" in choices:
                known = {option.name for option in self.options}
                fitting = (item for item in self.settings if item.name in known)
                self.update(settings=tuple(fitting))
            self._plan()

    @property
    def offered(self) -> tuple[Rung, ...]:
        """The rungs to choose from."""
        return (*RUNGS, *(rung for rung in self.rungs if rung not in RUNGS))

    @property
    def all_rungs(self) -> str:
        return _("All rungs")

    @property
    def number_of_rungs(self) -> str:
        return _("Rungs: {n} of {total}", n=len(self.rungs), total=len(self.offered))

    def toggle(self, rung: Rung) -> None:
        """Add or remove a rung; one of the user's own is forgotten."""
        self.choose(rungs=tuple(r for r in self.offered if (r in self.rungs) != (r == rung)))

    def toggle_decoder(self, decoder: str) -> None:
        self.choose(left_out=self.left_out ^ {decoder})

    def use(self, part: str, model: str) -> None:
        """Replace a model of the rungs; "" for the default."""
        parts = {name: text for name, text in self.parts.items() if name != part}
        self.choose(parts={**parts, part: model} if model else parts)

    # ---------------------------------------------------------------- settings and own rungs

    @property
    def options(self) -> tuple[Option, ...]:
        """The training options that can be set."""
        task = ladder.task_of(self.project, self.layer) if self.layer else None
        return tuple(all_options(task))

    def add_setting(self, name: str) -> None:
        """Add an option with its default, for all rungs."""
        option = next(option for option in self.options if option.name == name)
        value = "" if option.default is None else str(option.default)
        self.choose(settings=(*self.settings, RungSetting(name, value)))

    def change_setting(self, at: int, **values: str) -> None:
        """Change `value` or `rung` of a setting."""
        changed = replace(self.settings[at], **values)
        self.choose(settings=(*self.settings[:at], changed, *self.settings[at + 1 :]))

    def drop_setting(self, at: int) -> None:
        self.choose(settings=(*self.settings[:at], *self.settings[at + 1 :]))

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models that a rung can use."""
        return tuple(card.name for card in self._cards if card.usable)

    @property
    def methods(self) -> tuple[tuple[str, str], ...]:
        """(id, title) of the training methods."""
        return tuple((method.id, _(method.title)) for method in all_methods())

    def add_rung(self, title: str, model: str, method: str) -> bool:
        """Add a custom configuration. Returns whether it could be added."""
        try:
            rung = own(title, model, {"method": method})
            if rung.id in {rung.id for rung in self.offered}:
                raise SpecError(_("There is a rung {title!r} already.", title=rung.title))
        except SpecError as error:
            self.update(rung_error=f"{error.message} {error.hint}".strip())
            return False
        self.rung_error = ""
        self.choose(rungs=(*self.rungs, rung))
        return True

    @property
    def decoders(self) -> tuple[tuple[str, str, bool], ...]:
        """(id, title, whether it is compared) of the decoders of the task; () if it has none."""
        if not self.layer:
            return ()
        task = ladder.task_of(self.project, self.layer)
        names = [name for name in ladder.decoders(task) if name]
        return tuple(
            (name, ladder.decoder_title(task, name), name not in self.left_out) for name in names
        )

    @property
    def part_choices(self) -> tuple[tuple[str, str, str, tuple[str, ...]], ...]:
        """(part, title, default model, models to choose from) of the models of the rungs."""
        usable = tuple(card for card in self._cards if card.usable)
        family = {card.name: card.family for card in usable}
        choices = []
        for part in PARTS.values():
            default = next((name for name in part.models if name in family), "")
            part_family = part.family or family.get(default, "")
            names = tuple(card.name for card in usable if card.family == part_family)
            if len(names) > 1:
                choices.append((part.name, _(part.title), default, names))
        return tuple(choices)

    def _plan(self) -> None:
        """Find the runs of the experiment with the present choices."""
        states = [available(rung, self._cards, self.parts) for rung in self.offered]
        self.missing = {state.rung.id: state.missing for state in states if state.missing}
        self.make()

    def make(self) -> None:
        """Plan the experiment with the present choices."""
        self.plan(lambda: Ladder(self.project, self.spec(), settings=self.context.settings))

    def spec(self) -> LadderSpec:
        """The description of the experiment. Raises WorkbenchError if the choices do not fit."""
        if not self.layer:
            raise WorkbenchError(_("The project has no layer that can be learned."))
        if not self.rungs:
            raise WorkbenchError(_("Choose at least one rung."))
        task = ladder.task_of(self.project, self.layer)
        known = ladder.decoders(task)
        compared = tuple(name for name in known if name not in self.left_out)
        used = {"", *(rung.id for rung in self.rungs)}
        settings = {
            f"{item.rung}.{item.name}" if item.rung else item.name: item.value
            for item in self.settings
            if item.value and item.rung in used
        }
        seeds = seeds_of(self.seeds)
        return LadderSpec(
            task, self.layer, self.rungs, seeds, compared or known, settings, self.parts
        )

    # ---------------------------------------------------------------- the experiment

    @property
    def columns(self) -> tuple[Column, ...]:
        """Of the rows; () if the choices do not fit."""
        return self.work.columns(self.score_text) if self.work else ()

    def decoder_title(self, decoder: str) -> str:
        return ladder.decoder_title(self.work.task, decoder) if self.work else ""
