"""One pane of the Inspect page: the view of one inspector, with its warnings and progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsOpacityEffect,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from workbench.base.events import ALL
from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.declared import view_of
from workbench.ui.panels.inspect.samples import Sample, samples
from workbench.ui.panels.inspect.views.plain import PLAIN
from workbench.ui.style import theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button, icon_button
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, IconLabel, words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.layout import clear, column, layout_of, row, scrolled
from workbench.ui.widgets.pages import PageLayout

if TYPE_CHECKING:
    from workbench.ui.panels.inspect.inspector_state import InspectorState
    from workbench.ui.panels.inspect.state import InspectState
    from workbench.ui.project.indexing import Build

DIM_AFTER = 250  # milliseconds of waiting until the previous result is dimmed
DIMMED = 0.45
SAMPLE_LENGTH = 80  # characters of a sample text on its button
RING = 3  # pixels for the ring around the active pane


class Pane(QFrame):
    """`set(page, id)` shows a view; a page keeps its views, created when first shown.

    `closed` is emitted by its close button, `sampled(text, second)` by a sample of the empty view.
    """

    closed = Signal()
    sampled = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        policy = QSizePolicy.Policy
        self.setSizePolicy(policy.Ignored, policy.Expanding)  # two panes are equally wide
        self.page: InspectState | None = None
        self.id, self.active, self._remark = "", False, ""
        self._views: dict[tuple[InspectState, str], InspectorView] = {}
        self._answered: dict[tuple[InspectState, str], object] = {}  # the model of the last result
        self._warning = Callout("", "warn")
        again = Button(_("Try again"), "rotate-ccw", small=True, on=self._ask)
        self._fault = Callout("", "bad", again)
        self._title = Elided("", "small", "muted", weight=500)
        self._close = icon_button("x", _("Close this pane"), self.closed.emit, small=True)
        self._head = row((self._title, 1), self._close, margins=(10, 2, 4, 0))
        self._head.setFixedHeight(theme.px(30))
        inside = QFrame()  # scrolled where it is low, but as narrow as the pane
        inside.setMinimumWidth(1)
        self._pages = PageLayout(inside)
        self._make_stand_ins()
        self._shows = words("", "caption", "muted", wrap=True)
        self._foot = row(
            IconLabel("info", "muted", 14), (self._shows, 1), gap=6, margins=(8, 0, 8, 4)
        )
        self._busy = Meter(None, name=_("Running the model"))
        for frame in (self._warning, self._fault, self._head, self._busy, self._building):
            frame.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(RING, RING, RING, RING)
        layout.setSpacing(8)
        for part in (self._head, self._warning, self._fault):
            layout.addWidget(part)
        layout.addWidget(scrolled(inside), 1)
        layout.addWidget(self._building)
        layout.addWidget(self._busy)
        layout.addWidget(self._foot)
        self._dim = QTimer(self)
        self._dim.setSingleShot(True)
        self._dim.setInterval(DIM_AFTER)
        self._dim.timeout.connect(lambda: self._set_dimmed(True))

    def _make_stand_ins(self) -> None:
        self._samples, self._form = column(gap=8), 0
        layout_of(self._samples).setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.empty = EmptyState(
            "scan-search",
            _("Run a model on a text"),
            _("Type a text above and press Enter, pick a document, or try one of these:"),
            self._samples,
        )
        self._offer_samples(1)
        hint = _("The model stays loaded, so later results appear immediately.")
        self.opening = EmptyState("scan-search", _("Loading the model"), hint)
        self._build = Button(_("Build index"), kind="primary", on=self._build_index)
        self.missing = EmptyState("database", _("Index of the documents"), "", self._build)
        for page in (self.empty, self.opening, self.missing):
            self._pages.addWidget(page)
        self._message = Elided("", "caption", "muted")
        self._stop = Button(_("Cancel"), kind="quiet", small=True, on=self._cancel_index)
        self._building = row((self._message, 1), self._stop, gap=8, margins=(8, 0, 8, 0))

    def _offer_samples(self, form: int) -> None:
        """Buttons with texts that suit the model; form: see `samples.samples`."""
        if form == self._form:
            return
        self._form = form
        layout = layout_of(self._samples)
        clear(layout)
        for sample in samples(form):
            whole, act = sample.title, self._sample(sample)
            text = whole if len(whole) <= SAMPLE_LENGTH else f"{whole[: SAMPLE_LENGTH - 1]}…"
            button = Button(text, small=True, on=act, name=whole, tip=whole)
            layout.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)

    def _sample(self, sample: Sample) -> Callable[[], None]:
        return lambda: self.sampled.emit(sample.text, sample.second)

    # ---------------------------------------------------------------- what is shown

    @property
    def shown(self) -> InspectorState | None:
        return self.page.of(self.id) if self.page is not None and self.id else None

    @property
    def view(self) -> InspectorView | None:
        """The view that is shown, created when first needed."""
        inspector, page = self.shown, self.page
        if inspector is None or page is None:
            return None
        key = (page, self.id)
        if key in self._views and self._views[key].state is not inspector:  # plugins have changed
            self._drop(key)
        if key not in self._views:
            make = page.context.attempt(registry().view, "inspector", self.id) or PLAIN
            self._views[key] = view = view_of(make, inspector)
            self._pages.addWidget(view)
            inspector.listen(
                inspector.changed, lambda fields: self._shown_changed(inspector, fields)
            )
        return self._views[key]

    def current(self) -> QWidget | None:
        return self._pages.currentWidget()

    def views(self, page: InspectState) -> dict[str, InspectorView]:
        """The views of a page that were shown here, by inspector."""
        return {id: view for (of, id), view in self._views.items() if of is page}

    def set(
        self,
        page: InspectState,
        id: str,
        *,
        title: str = "",
        closable: bool = False,
        remark: str = "",
    ) -> None:
        """Show the view `id` of a page; `title` names it above, e.g. its model.

        `remark` is shown before the warnings about the result.
        """
        changed = (page, id, remark) != (self.page, self.id, self._remark)
        self.page, self.id, self._remark = page, id, remark
        self._title.setText(title)
        self._head.setVisible(bool(title))
        self._close.setVisible(closable)
        if changed and self.isVisible():
            self.render(ALL)

    def forget(self, page: InspectState) -> None:
        """Delete the views of a page that is closed."""
        for key in [key for key in self._views if key[0] is page]:
            self._drop(key)
        if self.page is page:
            self.page, self.id = None, ""

    def _drop(self, key: tuple[InspectState, str]) -> None:
        view = self._views.pop(key)
        self._pages.removeWidget(view)
        view.deleteLater()

    def set_active(self, on: bool) -> None:
        """Draw the ring of the pane that keys and the list act on."""
        if on != self.active:
            self.active = on
            self.update()

    def render(self, fields: frozenset[str]) -> None:
        """Fields of the page have changed."""
        self._show_answer()
        if (view := self.view) is not None:
            view.show_state(fields)

    def _shown_changed(self, inspector: InspectorState, fields: frozenset[str]) -> None:
        if inspector is self.shown and self.isVisible():
            self._show_answer()
            if (view := self.view) is not None:
                view.show_state(fields)

    def _show_answer(self) -> None:
        page, inspector = self.page, self.shown
        if page is None or inspector is None:
            self._pages.setCurrentWidget(self.empty)
            self._foot.hide()
            return
        self._offer_samples(page.form)
        remarks = (self._remark, *page.warnings_of(inspector))
        self._warning.set(" ".join(filter(None, remarks)))
        details = page.fault_details if page.fault else inspector.details
        self._fault.set(page.fault or inspector.error, details=details)
        self._show_build(inspector.build, asking=inspector.asking)
        current = self._page(page, inspector)
        self._pages.setCurrentWidget(current)
        if not inspector.asking:
            self._dim.stop()
            self._set_dimmed(False)
        elif inspector.result is not None and not self._dim.isActive():
            self._dim.start()
        message = _(inspector.info.shows) if inspector.info is not None else ""
        self._shows.setText(message)
        self._foot.setVisible(bool(message) and current not in (self.empty, self.opening))

    def _show_build(self, build: Build | None, *, asking: bool) -> None:
        """The progress of a request, or of the index that it waits for."""
        waits = build is not None and build.waits
        self._busy.setVisible(asking and not waits)
        self._busy.set(build.share if build is not None else None)
        self._building.setVisible(build is not None and not waits)
        if build is not None:
            self.missing.set(_("Index of the documents"), build.message)
            self._message.setText(build.message)

    def _build_index(self) -> None:
        if self.shown is not None:
            self.shown.indexing.build()

    def _cancel_index(self) -> None:
        if self.shown is not None:
            self.shown.indexing.cancel()

    def _page(self, page: InspectState, inspector: InspectorState) -> QWidget:
        """Show a view once it has a result; its last result stays until the next one arrives."""
        view, key = self.view, (page, self.id)
        if view is not None and inspector.build is not None and inspector.build.waits:
            return self.missing
        if view is None:
            return self.empty
        if inspector.result is not None:
            self._answered[key] = page.choice
            return view
        was_answered = self._answered.get(key) == page.choice
        if page.loading_of(inspector) and not was_answered:
            return self.opening
        return view if inspector.asking or not inspector.needs_text else self.empty

    def _set_dimmed(self, on: bool) -> None:
        view = self.view
        if view is None or on == (view.graphicsEffect() is not None):
            return
        if not on:
            view.setGraphicsEffect(None)  # type: ignore[arg-type]  # None removes it, as in Qt
            return
        effect = QGraphicsOpacityEffect(view)
        effect.setOpacity(DIMMED)
        view.setGraphicsEffect(effect)

    def _ask(self) -> None:
        if self.page is not None:
            self.page.ask()

    def showEvent(self, event: QShowEvent) -> None:
        """Results that arrived while the pane was hidden."""
        super().showEvent(event)
        self.render(ALL)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.active:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.qcolour("accent"), 2))
            area = QRectF(self.rect()).adjusted(1, 1, -1, -1)
            painter.drawRoundedRect(area, theme.RADIUS, theme.RADIUS)
