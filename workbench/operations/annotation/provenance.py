"""Who or what made labels and suggestions; accepting, rejecting and reverting by origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from workbench.base.i18n import N_, _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.annotation import (
    label_alike,
    live_suggestions,
    occurrences,
    patterns,
    suggestion_edits,
)
from workbench.operations.people import reliability
from workbench.project import backup
from workbench.storage.annotation import provenance as stored
from workbench.storage.annotation.provenance import Origin
from workbench.storage.labels import labels
from workbench.storage.runs import runs as storage_runs
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project


class SourcedRow(Protocol):
    """A label or a suggestion."""

    @property
    def source_kind(self) -> str: ...
    @property
    def source_ref(self) -> str: ...
    @property
    def made_by(self) -> int | None: ...


@dataclass(frozen=True)
class OriginLabels:
    """What an origin made: `labels` (gold), open `suggestions`, and when (ISO 8601, UTC)."""

    origin: Origin
    title: str
    labels: int
    suggestions: int
    first: str
    last: str


def origin_of(row: SourcedRow) -> Origin:
    """The origin of a label or a suggestion."""
    by = row.made_by if row.source_kind == "person" else None
    return Origin(row.source_kind, row.source_ref, by)


class Names:
    """Titles of origins; reads the names of runs and annotators once."""

    def __init__(self, project: Project):
        self._own = project.annotator_id
        self._runs = {str(run.id): run.name for run in storage_runs.all(project.db)}
        self._annotators = stored.annotators(project.db)

    def of(self, origin: Origin) -> str:
        """ "you", "pattern “prices”", "run tag-3", "import of data.csv" …"""
        kind, ref, by = origin
        if kind == "person":
            return _("you") if by in (None, self._own) else self._annotators.get(by or 0, "?")
        if kind in ("run", "prompt"):
            run_id, _space, version = ref.partition(" ")
            if version:
                return f"prompt:{version}"
            name = self._runs.get(run_id)
            return _("run {name}", name=name) if name else _("a deleted run")
        if kind == "import":
            return _("import of {file}", file=ref) if ref else _("import")
        for start, title in _RULES.items():
            if kind == "rule" and ref.startswith(start):
                return _(title, text=ref.removeprefix(start))
        return ref or _("rule")


def query_value(project: Project, origin: Origin) -> str:
    """What `source:` of a query names the origin by."""
    kind, ref, by = origin
    if kind == "person":
        return stored.annotators(project.db).get(by or project.annotator_id, kind)
    if kind in ("run", "prompt"):
        names = {str(run.id): run.name for run in storage_runs.all(project.db)}
        return names.get(ref.partition(" ")[0], kind)
    return ref.partition(":")[2] or ref or kind


_RULES = {
    live_suggestions.INSTANT_WORDS: N_("instant model (words)"),
    live_suggestions.INSTANT: N_("instant model"),
    patterns.REF: N_("pattern “{text}”"),
    label_alike.REF: N_("labels of duplicates"),
    occurrences.REF: N_("all occurrences of “{text}”"),
    **reliability.REFS,
}


def origins(project: Project) -> tuple[Origin, ...]:
    """All origins, the latest first."""
    return tuple(stored.origins(project.db))


def sources(project: Project) -> tuple[OriginLabels, ...]:
    """What each origin made, the latest first; those without labels and suggestions left out."""
    names = Names(project)
    return tuple(
        OriginLabels(origin.origin, names.of(origin.origin), *origin[1:])
        for origin in stored.made(project.db)
        if origin.labels or origin.suggestions
    )


def decide(
    project: Project,
    layer_ids: Sequence[int],
    *,
    accept: bool,
    origin: Origin | None = None,
    least: float | None = None,
    below: float | None = None,
    watch: Watch = QUIET,
) -> int:
    """Accept or reject open suggestions of all documents in these layers, as one undo step.

    `origin`: only those from it; `least`: only with at least this score, or without one; `below`:
    only with a lower score. Returns their number.
    """
    ids = stored.open_suggestions(project.db, layer_ids, origin=origin, least=least, below=below)
    act = suggestion_edits.accept if accept else suggestion_edits.reject
    return act(project, ids, watch=watch)


def revert(
    project: Project, origin: Origin, *, watch: Watch = QUIET, edited_by: object = None
) -> tuple[int, int]:
    """Delete all labels that come from an origin, and its suggestions, as one undo step.

    Labels that were changed by hand since stay: they come from who changed them. Returns the
    numbers of labels and suggestions deleted.
    """
    title = _("Revert {source}", source=Names(project).of(origin))
    required = [
        row_id(layer) for layer in labels.layers(project.db) if not layer.traits.empty_is_answer
    ]
    touched = stored.documents_of(project.db, origin)
    backup.before(project, backup.REVERT, touched, watch=watch.part(0.0, 0.2))
    with project.edit(title, origin=edited_by, watch=watch.part(0.9, 1.0)):
        return stored.take_back(project.db, origin, required, watch=watch.part(0.2, 0.9))


def describe(labels: int, suggestions: int) -> str:
    """What `revert` did, as sentences."""
    gone = ngettext("Deleted {n:,} label.", "Deleted {n:,} labels.", labels)
    also = ngettext("Deleted {n:,} suggestion.", "Deleted {n:,} suggestions.", suggestions)
    return f"{gone.format(n=labels)} {also}"
