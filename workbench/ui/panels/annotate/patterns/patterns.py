"""The patterns of the project: edit them, count what they match, apply them. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.operations.annotation import pattern_files, patterns
from workbench.operations.annotation.annotate import Filter
from workbench.text.queries.patterns import WORDS, Pattern
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.tool import Tool

if TYPE_CHECKING:
    from workbench.operations.annotation.patterns import Hits, PatternCounts
    from workbench.project.changes import Changes
    from workbench.text.labels import Label
    from workbench.ui.panels.annotate.session import DocumentSession

COUNT = "patterns-count"  # key of the task


@dataclass(frozen=True)
class PatternRow:
    """`label` is None if its layer cannot be suggested; `hits` is None until it was counted."""

    pattern: Pattern
    layer: str
    label: Label | None
    hits: Hits | None

    @property
    def id(self) -> int:
        return row_id(self.pattern)


class PatternTool(Tool):
    """`rows`: all patterns. `chosen`: id of the one that is edited, None for a new one.

    `queue`: only the documents of the filtered queue are counted and searched. `share`: progress of
    a count, None if none is running. `searched`: documents of the last count. `fault`: why the last
    action failed, "" if it did not.
    """

    def __init__(self, session: DocumentSession) -> None:
        super().__init__(session)
        self.rows: tuple[PatternRow, ...] = ()
        self.chosen: int | None = None
        self.queue = False
        self.share: float | None = None
        self.searched: int | None = None
        self.fault = ""
        # of what was counted last; switching a pattern on or off does not change them
        self._hits: Mapping[Pattern, Hits] = {}
        self.choices = patterns.label_choices(self.project)
        self.listen(self.project.changed, self._on_changed)
        self._load()

    @property
    def can_write(self) -> bool:
        return self.session.can_write and bool(self.choices)

    @property
    def filtered(self) -> bool:
        """Whether the queue is filtered."""
        return self.session.queue.filtered

    @property
    def active(self) -> int:
        """Number of patterns that are on."""
        return sum(row.pattern.active for row in self.rows)

    @property
    def edited(self) -> Pattern:
        """The chosen pattern, or an empty one for the label used last, of the same kind."""
        for row in self.rows:
            if row.id == self.chosen:
                return row.pattern
        last = self.rows[-1].pattern if self.rows else Pattern(WORDS, "", 0)
        ids = [row_id(label) for _layer, label in self.choices]
        return Pattern(last.kind, "", last.label_id if last.label_id in ids else next(iter(ids), 0))

    def _load(self) -> None:
        known = {row_id(label): (layer.name, label) for layer, label in self.choices}
        rows = []
        for pattern in patterns.all_patterns(self.project):
            layer, label = known.get(pattern.label_id, ("", None))
            rows.append(PatternRow(pattern, layer, label, self._hits.get(_switched_on(pattern))))
        chosen = self.chosen if any(row.id == self.chosen for row in rows) else None
        self.update(rows=tuple(rows), chosen=chosen)

    def _on_changed(self, changes: Changes) -> None:
        if changes.touches("label") or changes.touches("layer"):
            self.update(choices=patterns.label_choices(self.project))
        if changes.touches("pattern") or changes.touches("label"):
            self._load()

    # ------------------------------------------------------------ the table

    def choose(self, id: int | None) -> None:
        """Edit this pattern, or with None a new one."""
        self.update(chosen=id, fault="")

    def save(self, **values: Any) -> bool:
        """Store the edited pattern with these values, or add it; False if it is not valid."""
        pattern = replace(self.edited, **values)
        if pattern.id is None:
            ids = self._try(patterns.add, [pattern])
            if ids is not None:
                self.update(chosen=None)
            return ids is not None
        return self._try(patterns.change, pattern) is not None

    def toggle(self, ids: Iterable[int]) -> None:
        """Turn these patterns on, or off if all are on."""
        toggled = set(ids)
        chosen = [row.pattern for row in self.rows if row.id in toggled]
        on = not all(pattern.active for pattern in chosen)
        self._try(patterns.change, *(replace(pattern, active=on) for pattern in chosen))

    def remove(self, ids: Sequence[int]) -> None:
        if ids:
            self._try(patterns.remove, ids)

    def read(self, path: str) -> None:
        """Add the patterns of a CSV or JSONL file."""
        added = self._try(pattern_files.import_file, Path(path))
        if added:
            message = ngettext("Added {n:,} pattern.", "Added {n:,} patterns.", added)
            self.context.note(message, undo=True)

    def write(self, path: str) -> None:
        """Write all patterns to a CSV or JSONL file."""
        self._try(pattern_files.export_file, Path(path))

    def _try(self, act: Callable[..., Any], *args: Any) -> Any:
        self.update(fault="")
        try:
            return act(self.project, *args)
        except (WorkbenchError, OSError) as error:
            self.update(fault=str(error))
            return None

    # ------------------------------------------------------------ counting and applying

    def set_queue(self, queue: bool) -> None:
        """Count and search the filtered queue only, or all documents."""
        self.cancel()
        self._hits = {}
        self.update(queue=queue, searched=None)
        self._load()

    @property
    def _where(self) -> Filter | None:
        return self.session.queue.shown_filter() if self.queue and self.filtered else None

    def count(self) -> None:
        """Count what each pattern matches, off the main thread."""
        chosen = [row.pattern for row in self.rows]
        self.update(share=0.0, fault="")
        self.context.task(
            COUNT,
            partial(patterns.count, self.project, chosen, where=self._where),
            partial(self._counted, chosen),
            failed=self._failed,
            progress=lambda watch: self.update(share=watch.share),
        )

    def cancel(self) -> None:
        """End the count that is running."""
        self.context.drop(COUNT)
        self.update(share=None)

    def _counted(self, chosen: Sequence[Pattern], counted: PatternCounts) -> None:
        self._hits = {
            _switched_on(pattern): counted.of[row_id(pattern)]
            for pattern in chosen
            if row_id(pattern) in counted.of
        }
        self.update(share=None, searched=counted.documents)
        self._load()

    def _failed(self, error: Exception) -> None:
        self.update(share=None)
        if isinstance(error, WorkbenchError):
            self.update(fault=str(error))
        else:
            self.context.fail(error)

    def apply(self) -> None:
        """Suggest labels for all matches, off the main thread, with progress in the window."""
        context = self.context
        self.cancel()
        context.task(
            "patterns-apply",
            partial(patterns.apply, self.project, where=self._where),
            lambda done: context.note(patterns.describe(done), undo=done.suggestions > 0),
            title=_("Apply patterns"),
            writes=True,
        )


def _switched_on(pattern: Pattern) -> Pattern:
    return replace(pattern, active=True)
