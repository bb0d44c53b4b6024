"""The line above the text that leads through the errors of a run."""

from __future__ import annotations

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.annotate.differences import Differences, differences
from workbench.ui.panels.annotate.review.review import ReviewTool
from workbench.ui.style import formats
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.key_cap import CommandCap
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import layout_of, row


class ErrorReview(Callout):
    """How the prediction differs from gold, and a button that accepts it."""

    def __init__(self, tool: ReviewTool):
        leave = Button(
            _("Exit"),
            kind="quiet",
            small=True,
            name=_("Exit error review"),
            on=tool.session.leave_review,
        )
        super().__init__("", "accent", leave, icon="scan-search")
        self.tool = tool
        self._accept = Button(
            _("Accept prediction"),
            "check",
            small=True,
            on=tool.accept_answer,
            tip=_("Make the prediction gold and open the next error"),
        )
        on_next = Button(
            _("Next error"),
            small=True,
            on=lambda: tool.session.queue.next_error(1),
            tip=_("Keep gold unchanged and open the next error"),
        )
        settings = tool.context.settings
        accept = CommandCap(settings, "annotate.accept", "A")
        following = CommandCap(settings, "annotate.error", "F8")
        actions = flow(row(self._accept, accept, gap=6), row(on_next, following, gap=6), gap=14)
        layout_of(self).addWidget(row((actions, 1), margins=(25, 0, 0, 0)))
        self.hide()

    def render(self) -> None:
        tool, session = self.tool, self.tool.session
        if not session.errors:
            self.hide()
            return
        place = (
            session.errors.index(session.document_id) + 1
            if session.document_id in session.errors
            else 0
        )
        extra, missed, labels, missed_labels, value, chains, new, missed_relations = differing = (
            differences(session)
        )
        every = len(session.errors)
        editor = tool.editor
        mistakes = editor.mistakes if editor is not None else ""
        errors = ngettext(
            "{n} of {all} document with errors of {run}.",
            "{n} of {all} documents with errors of {run}.",
            every,
            n=place,
            all=every,
            run=session.shown_run.name,
        )
        message = [errors]
        if labels:
            message.append(_("Predicted: {label}.", label=", ".join(labels)))
        if value is not None:
            is_text = isinstance(value, str)
            label = f"“{value}”" if is_text else formats.significant(float(value), 3)
            message.append(_("Predicted: {label}.", label=label))
        if missed_labels:
            message.append(_("Not predicted: {labels}.", labels=", ".join(missed_labels)))
        if extra:
            n = len(extra)
            positives = ngettext("{n} false positive (dotted).", "{n} false positives (dotted).", n)
            message.append(positives)
        if missed:
            n = len(missed)
            message.append(ngettext("{n} missed span.", "{n} missed spans.", n))
        if chains:
            n = len(chains)
            message.append(ngettext("{n} chain differs.", "{n} chains differ.", n))
        if new:
            n = len(new)
            message.append(
                ngettext("{n} spurious relation (dashed).", "{n} spurious relations (dashed).", n)
            )
        if missed_relations:
            n = len(missed_relations)
            message.append(ngettext("{n} missed relation.", "{n} missed relations.", n))
        if mistakes:
            message.append(mistakes)
        if session.predicted is None:
            message.append(_("The prediction for this text is no longer stored."))
        elif differing == Differences() and not mistakes:
            message.append(_("The prediction now agrees with gold."))
        self.set(" ".join(message))
        self._accept.setEnabled(
            session.can_edit
            and session.predicted is not None
            and (differing != Differences() or (editor is not None and editor.mistaken))
        )
