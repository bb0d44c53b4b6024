"""Keys and mouse for relations, chains, parts of spans and questions; `view` is the page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect

from workbench.base.i18n import _
from workbench.text.labels import TEXT
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.session import SpanTarget
from workbench.ui.widgets.controls.label_palette import LabelChoice

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.document_text import DocumentText
    from workbench.ui.panels.annotate.view import AnnotateView


class Links:
    """What needs the text of the page as well as the state."""

    def __init__(self, view: AnnotateView) -> None:
        self._view, self._state = view, view.state
        self._session = view.state.session

    def enter(self, *, only_this: bool = False) -> None:
        """Enter: finish the relation that is being made, else the unit or document."""
        if self._state.relations.linking is None:
            self._state.submission.finish_unit()
        elif not self._state.relations.finish_link(only_this=only_this):
            self._view.open_palette()

    def connect(self, name: tuple[str, int], target: tuple[str, int]) -> None:
        """The mouse connected two spans."""
        if not self._state.relations.connect(name, target):
            self._view.open_palette()

    def choices(self) -> list[LabelChoice]:
        """What the palette offers, the labels used last first."""
        state = self._state
        if choices := [
            LabelChoice(label, layer.name) for layer, label in state.relations.link_choices()
        ]:
            return choices
        layers = sorted(self._session.active, key=lambda layer: not layer.traits.in_text)
        choices = [
            LabelChoice(label, layer.name)
            for layer in layers
            for label in self._session.keys.with_keys(layer)
        ]
        order = self._session.keys.order_of_use()
        return sorted(choices, key=lambda item: order.get(row_id(item.label), len(order)))

    def place(self) -> QRect | None:
        """Where the text is that a label of a span layer would be given to, in coordinates of the
        page, with the rows of spans below it; None without such a layer, or if it is out of sight.
        """
        if not any(layer.traits.editor == TEXT for layer in self._session.active):
            return None
        text = self._view.document_pane.text
        span = self._session.chosen_span()
        chosen = (span.start, span.end) if span is not None and span.field == text.field else None
        offsets = text.selection or chosen or text.target
        viewport = text.viewport()
        if offsets is None or not text.isVisible():
            return None
        start, end = offsets
        first, last = text.rect_of(start), text.rect_of(max(start, end - 1))
        left = last.left() if last.top() > first.top() else first.left()
        foot = last.bottom() + text.lanes_below(end)
        if foot < 0 or first.top() > viewport.height():
            return None
        around = QRect(int(left), int(first.top()), 1, int(foot - first.top()))
        return around.translated(viewport.mapTo(self._view, QPoint(0, 0)))

    @staticmethod
    def target(text: DocumentText, snap: str = "") -> SpanTarget | None:
        """What a label would mark in a text; `snap`: to what the spans of its layer snap."""
        offsets = text.target_in(snap) if snap else text.target
        return SpanTarget(text.field, *offsets) if offsets else None

    def join_chain(self) -> None:
        self._mention(self._state.relations.join_chain)

    def new_chain(self) -> None:
        self._mention(self._state.relations.new_chain)

    def _mention(self, act: Callable[[SpanTarget | None], None]) -> None:
        """Label the selected text; the words are a span afterwards, and no longer selected."""
        before = self._session.chosen
        act(self.target(self._view.document_pane.text))
        self._view.leave_selection(before)

    def add_part(self) -> None:
        self._state.relations.add_part(self.target(self._view.document_pane.text))

    def sign(self, sign: str) -> bool:
        """Chains: `=` adds the text to the current one, `+` starts one; `&` adds a part. The
        guideline: `*` adds an example, `!` a counterexample.
        """
        actions: dict[str, Callable[[], object]] = {
            "&": self.add_part,
            "*": partial(self._view.add_example, positive=True),
            "!": partial(self._view.add_example, positive=False),
        }
        if self._session.chain_layers:
            actions |= {"=": self.join_chain, "+": self.new_chain}
        if sign not in actions:
            return False
        actions[sign]()
        return True


class QuestionShortcuts:
    """`view`: the Annotate page."""

    def __init__(self, view: AnnotateView) -> None:
        self._view = view
        view.right.questions.left.connect(lambda: view.document_pane.focus_text())
        view.right.questions.answered.connect(self._answer_by_mouse)

    def _answer_by_mouse(self) -> None:
        if not self.answer():
            self._view.state.context.note(_("Select the answer in the text first."))
        self._view.document_pane.focus_text()

    def answer(self) -> bool:
        """Make the selected text an answer of the current question; whether text was selected."""
        text, state = self._view.document_pane.text, self._view.state
        if not text.selection or text.target is None or state.questions.question is None:
            return False
        state.questions.answer_question(*text.target)
        text.select(text.caret, text.caret, show=False)
        return True

    def ask(self) -> None:
        """Type a new question."""
        self._open_list()
        self._view.right.questions.ask()

    def edit(self) -> None:
        """Change the current question."""
        self._open_list()
        self._view.right.questions.edit()

    def _open_list(self) -> None:
        if self._view.folded("right"):
            self._view.fold("right")
