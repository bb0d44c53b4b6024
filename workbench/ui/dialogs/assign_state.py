"""State of the dialog Assign documents: who gets which, and writing a file for each person."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.operations.documents import splits
from workbench.operations.people import hand_out, people
from workbench.operations.people.hand_out import Overlap, Plan, Unit
from workbench.operations.people.people import Person
from workbench.operations.schema import labels
from workbench.text import relations
from workbench.text.document import SPLITS
from workbench.ui.dialogs.project_file_state import OperationState

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.labels import Layer
    from workbench.ui.application import Application

ALL, SELECTED, QUERY = "all", "selected", "query"  # which documents, besides splits
RANDOM, FIELD, HAND = "random", "field", "hand"  # how they are split among people
MOST_BY_HAND = 5_000  # documents that can be listed one by one


def context_layers(project: Project) -> tuple[Layer, ...]:
    """The layers whose spans relations connect, and those of chains."""
    every = labels.layers(project)
    connected = {relations.span_layer(layer) for layer in every if layer.traits.between_spans}
    return tuple(layer for layer in every if layer.name in connected or layer.traits.in_chains)


class AssignState(OperationState):
    """chosen: ids of the people who get documents. which: ALL, SELECTED, QUERY or a split.
    pair_share, all_share: % of the documents that `pair_people`, and that all people label. plan:
    None while it is made, or with a `problem`. layers: whose gold can go along as context; context:
    the ids of those whose gold does. Raises RuntimeError without an open project.
    """

    def __init__(self, app: Application):
        super().__init__(app)
        if app.project is None:
            raise RuntimeError("there are no documents to assign without a project")
        self.project = app.project
        self.people = people.every(self.project)
        self.chosen = frozenset(person.id for person in self.people)
        self.selection = self.project.selection if len(self.project.selection) > 1 else ()
        self.fields = splits.metadata_fields(self.project)
        self.which, self.query = ALL, ""
        self.how, self.field = RANDOM, next(iter(self.fields), "")
        self.seed = self.project.seed
        self.pair_share, self.pair_people, self.all_share = 20, 2, 0
        self.again, self.test_labels, self.blind = False, True, False
        self.layers = context_layers(self.project)
        self.context: frozenset[int] = frozenset()
        self.folder = str(self.project.path.parent / _("{name} files", name=self.project.name))
        self.by_hand: dict[str, frozenset[int]] = {}
        self.plan: Plan | None = None
        self.problem = self.message = ""  # message: what was written
        self.load()

    # ------------------------------------------------------------ choices

    def set(self, **values: object) -> None:
        """Change fields, and plan again."""
        if any(getattr(self, name) != value for name, value in values.items()):
            if values.keys() & {"how", "field"}:
                self.by_hand = {}
            self.update(**values)
            self.load()

    def include(self, id: int, on: bool) -> None:
        self.set(chosen=self.chosen | {id} if on else self.chosen - {id})

    def save(self, _id: int | None, values: dict[str, str]) -> str:
        """Add a person; returns what is wrong with the values, or ""."""
        try:
            person = people.add(self.project, **values)
        except WorkbenchError as error:
            return str(error)
        self.app.person_changed()
        with self.together():
            self.update(people=people.every(self.project))
            self.set(chosen=self.chosen | {person.id})
        return ""

    @property
    def receivers(self) -> tuple[Person, ...]:
        return tuple(person for person in self.people if person.id in self.chosen)

    @property
    def overlaps(self) -> tuple[Overlap, ...]:
        pair = min(self.pair_people, max(1, len(self.chosen)))
        overlaps = Overlap(self.pair_share / 100, pair), Overlap(self.all_share / 100)
        return tuple(overlap for overlap in overlaps if overlap.share)

    def toggle(self, units: Iterable[Unit], person: int) -> None:
        """Give units to a person, or all of them no more if the person has all of them."""
        units = list(units)
        has_all = all(person in unit.people for unit in units)
        for unit in units:
            self.by_hand[unit.name] = unit.people - {person} if has_all else unit.people | {person}
        self.load()

    # ------------------------------------------------------------ the plan

    def load(self) -> None:
        """Plan with the present choices; an older plan that is being made is dropped."""
        if not self.chosen:
            self._tasks.drop("plan")
            self.update(plan=None, problem=_("Choose people."))
            return
        named = {ALL: "", SELECTED: "", QUERY: self.query}
        work = partial(
            hand_out.plan,
            self.project,
            [person.id for person in self.receivers],
            self.overlaps,
            where=named.get(self.which, f"split:{self.which}"),
            ids=self.selection if self.which == SELECTED else None,
            seed=self.seed,
            field=self.field if self.how == FIELD else "",
            again=self.again,
            by_hand=self.by_hand if self.how != RANDOM else None,
        )
        self._tasks.start("plan", work, self._take, failed=self._refused)

    def _take(self, plan: Plan) -> None:
        problem = ""
        if not plan.parts:
            problem = _("No documents to assign.")
            if plan.left_out:
                problem = _("All of these documents are assigned already.")
        elif self.how == HAND and len(plan.units) > MOST_BY_HAND:
            most = MOST_BY_HAND
            problem = _("By hand, at most {most:,} documents can be assigned at once.", most=most)
        self.update(plan=plan, problem=problem)

    def _refused(self, error: Exception) -> None:
        if isinstance(error, SpecError):
            self.update(plan=None, problem=str(error))
        else:
            self.app.fail(error)

    @property
    def units(self) -> tuple[Unit, ...]:
        """What is listed one by one."""
        if self.plan is None or self.how == RANDOM or self.problem:
            return ()
        return self.plan.units

    @property
    def summary(self) -> str:
        """How many people get how many documents, in a sentence."""
        if self.plan is None:
            return ""
        parts = []
        for people_count, n in sorted(self.plan.by_number.items()):
            if people_count == 0:
                parts.append(ngettext("{n:,} by nobody", "{n:,} by nobody", n))
            elif people_count == 1:
                parts.append(ngettext("{n:,} by one person", "{n:,} by one person", n))
            else:
                parts.append(
                    ngettext(
                        "{n:,} by {people} people",
                        "{n:,} by {people} people",
                        n,
                        people=people_count,
                    )
                )
        if self.plan.left_out:
            n = self.plan.left_out
            parts.append(ngettext("{n:,} assigned already", "{n:,} assigned already", n))
        return " · ".join(parts)

    @property
    def choices(self) -> tuple[tuple[str, str], ...]:
        """Which documents can be assigned, with titles."""
        selected = ngettext(
            "The {n:,} selected document", "The {n:,} selected documents", len(self.selection)
        )
        return (
            (ALL, _("All documents")),
            *(((SELECTED, selected),) if self.selection else ()),
            *((split, _("Split {name}", name=term(split))) for split in SPLITS),
            (QUERY, _("Matching a query")),
        )

    # ------------------------------------------------------------ writing

    @property
    def can_write(self) -> bool:
        return self.plan is not None and not (self.problem or self.title)

    def write(self) -> None:
        """Write a file for each person, and remember who has what, as an undo step."""
        folder = Path(self.folder).expanduser()
        if self.plan is None or not self.can_write:
            return
        parts = self.plan.parts
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or error
            self.update(fault=_("Cannot create {folder}: {reason}.", folder=folder, reason=reason))
            return
        files, names = dict[int, Path](), set[str]()
        for person in self.receivers:
            name = hand_out.file_name(self.project, person)
            if name in names:  # of two people whose names differ in characters that files lack
                name = f"{Path(name).stem}-{person.uid}{paths.PROJECT_SUFFIX}"
            names.add(name)
            files[person.id] = paths.free_name(folder, Path(name).stem, paths.PROJECT_SUFFIX)
        write = partial(
            hand_out.hand_out,
            self.project,
            parts,
            files,
            test_labels=self.test_labels,
            blind=self.blind,
            context=sorted(self.context),
        )
        self.run(_("Writing files…"), write, partial(self._written, folder, len(parts)))

    def _written(self, folder: Path, n: int, _nothing: None) -> None:
        message = ngettext(
            "{n:,} file written to {folder}.", "{n:,} files written to {folder}.", n, folder=folder
        )
        self.update(over=True, message=message)
