"""State of the dialog that splits documents into sentences or paragraphs, and joining. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.operations.documents import parts
from workbench.operations.documents.parts import Divided
from workbench.text.sentences import PARAGRAPH, SENTENCE
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.ui.panel import PanelContext

UNITS = (SENTENCE, PARAGRAPH)


class PartsState(State):
    """`ids`: the documents; `unit`: one of UNITS; `preview`: what would be done, None while it is
    counted, off the main thread.
    """

    def __init__(self, context: PanelContext, ids: Sequence[int]) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.ids = list(ids)
        self.unit = SENTENCE
        self.preview: Divided | None = None
        self.problem = ""  # why nothing could be counted
        self._count()

    @property
    def message(self) -> str:
        """The preview as sentences."""
        if self.preview is None:
            return self.problem or _("Counting the parts…")
        return "\n".join(
            part for part in (_numbers(self.preview), parts.describe(self.preview)) if part
        )

    @property
    def ready(self) -> bool:
        return self.preview is not None and self.preview.documents > 0

    def set_unit(self, unit: str) -> None:
        if unit != self.unit:
            self.update(unit=unit, preview=None, problem="")
            self._count()

    def _count(self) -> None:
        work = partial(parts.preview, self.project, self.ids, self.unit)
        self.context.task(
            (self, "count"),
            work,
            lambda divided: self.update(preview=divided),
            failed=self._not_counted,
        )

    def _not_counted(self, error: Exception) -> None:
        self.update(problem=str(error))
        if not isinstance(error, WorkbenchError):
            self.context.fail(error)

    def close(self) -> None:
        self.context.drop((self, "count"))
        super().close()

    def split(self) -> None:
        """Split the documents; a message offers to undo it."""
        context = self.context
        context.task(
            "split",
            partial(parts.split, self.project, self.ids, self.unit),
            lambda divided: context.note(_numbers(divided), undo=divided.documents > 0),
            title=_("Split documents into parts"),
            writes=True,
        )


def join(context: PanelContext, ids: Sequence[int]) -> None:
    """Join the documents that these are parts of."""

    def done(joined: Divided) -> None:
        n = joined.documents
        message = ngettext(
            "{n:,} document was joined from its parts.",
            "{n:,} documents were joined from their parts.",
            n,
        )
        context.note(
            "\n".join(item for item in (message, parts.describe(joined)) if item), undo=n > 0
        )

    work = partial(parts.join, opened(context), ids)
    context.task("join", work, done, title=_("Join parts of documents"), writes=True)


def _numbers(divided: Divided) -> str:
    if not divided.documents:
        return _("No document is split.")
    into = ngettext("{n:,} part", "{n:,} parts", divided.parts)
    return ngettext(
        "{n:,} document becomes {parts}.",
        "{n:,} documents become {parts}.",
        divided.documents,
        parts=into,
    )
