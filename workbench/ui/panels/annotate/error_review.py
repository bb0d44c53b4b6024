"""The line above the text that leads through the errors of a run."""

from __future__ import annotations

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.annotate.actions import AnnotateActions
from workbench.ui.panels.annotate.differences import Differences
from workbench.ui.style import formats
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.key_cap import CommandCap
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import layout_of, row


class ErrorReview(Callout):
    """How the prediction differs from gold, and a button that accepts it."""

    def __init__(self, state: AnnotateActions):
        leave = Button(
            _("Exit"),
            kind="quiet",
            small=True,
            name=_("Exit error review"),
            on=state.leave_errors,
        )
        super().__init__("", "accent", leave, icon="scan-search")
        self.state = state
        self._accept = Button(
            _("Accept prediction"),
            "check",
            small=True,
            on=state.accept_answer,
            tip=_("Make the prediction gold and open the next error"),
        )
        on_next = Button(
            _("Next error"),
            small=True,
            on=lambda: state.next_error(1),
            tip=_("Keep gold unchanged and open the next error"),
        )
        settings = state.context.settings
        accept = CommandCap(settings, "annotate.accept", "A")
        following = CommandCap(settings, "annotate.error", "F8")
        actions = flow(row(self._accept, accept, gap=6), row(on_next, following, gap=6), gap=14)
        layout_of(self).addWidget(row((actions, 1), margins=(25, 0, 0, 0)))
        self.hide()

    def render(self) -> None:
        state = self.state
        if not state.errors:
            self.hide()
            return
        place = (
            state.errors.index(state.document_id) + 1 if state.document_id in state.errors else 0
        )
        extra, missed, labels, missed_labels, number = differences = state.differences
        every = len(state.errors)
        wrong = state.wrong_questions
        errors = ngettext(
            "{n} of {all} document with errors of {run}.",
            "{n} of {all} documents with errors of {run}.",
            every,
            n=place,
            all=every,
            run=state.shown_run.name,
        )
        message = [errors]
        if labels:
            message.append(_("Predicted: {label}.", label=", ".join(labels)))
        if number is not None:
            message.append(_("Predicted: {label}.", label=formats.significant(number, 3)))
        if missed_labels:
            message.append(_("Not predicted: {labels}.", labels=", ".join(missed_labels)))
        if extra:
            n = len(extra)
            positives = ngettext("{n} false positive (dotted).", "{n} false positives (dotted).", n)
            message.append(positives)
        if missed:
            n = len(missed)
            message.append(ngettext("{n} missed span.", "{n} missed spans.", n))
        if wrong:
            n = len(wrong)
            other = ngettext(
                "{n} question has another answer.", "{n} questions have other answers.", n
            )
            message.append(other)
        if state.predicted is None:
            message.append(_("The prediction for this text is no longer stored."))
        elif differences == Differences() and not wrong:
            message.append(_("The prediction now agrees with gold."))
        self.set(" ".join(message))
        self._accept.setEnabled(
            state.can_edit
            and state.predicted is not None
            and (differences != Differences() or state.question in wrong)
        )
