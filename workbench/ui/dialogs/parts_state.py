"""State of the dialog that splits documents into sentences or paragraphs, and joining. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.base.watch import Watch
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
        self._watch = Watch()
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
        self._watch.cancel()
        watch = self._watch = Watch()
        project, ids, unit = self.project, self.ids, self.unit

        def counted(found: Divided) -> None:
            if watch is self._watch:
                self.update(preview=found)

        def failed(error: Exception) -> None:
            if watch is not self._watch or isinstance(error, Cancelled):
                return
            self.update(problem=str(error))
            if not isinstance(error, WorkbenchError):
                self.context.fail(error)

        self.context.run(lambda: parts.preview(project, ids, unit, watch=watch), counted, failed)

    def close(self) -> None:
        self._watch.cancel()
        super().close()

    def split(self) -> None:
        """Split the documents, off the main thread; a message offers to undo it."""
        context, project, ids, unit = self.context, self.project, self.ids, self.unit
        context.long(
            _("Split documents into parts"),
            lambda watch: parts.split(project, ids, unit, watch=watch),
            lambda found: context.note(_numbers(found), undo=found.documents > 0),
        )


def join(context: PanelContext, ids: Sequence[int]) -> None:
    """Join the documents that these are parts of, off the main thread."""
    project = opened(context)

    def done(found: Divided) -> None:
        n = found.documents
        message = ngettext(
            "{n:,} document was joined from its parts.",
            "{n:,} documents were joined from their parts.",
            n,
        ).format(n=n)
        context.note(
            "\n".join(item for item in (message, parts.describe(found)) if item), undo=n > 0
        )

    context.long(
        _("Join parts of documents"), lambda watch: parts.join(project, ids, watch=watch), done
    )


def _numbers(found: Divided) -> str:
    if not found.documents:
        return _("No document is split.")
    into = ngettext("{n:,} part", "{n:,} parts", found.parts).format(n=found.parts)
    message = ngettext(
        "{n:,} document becomes {parts}.", "{n:,} documents become {parts}.", found.documents
    )
    return message.format(n=found.documents, parts=into)
