"""The dialog that chooses the order of the queue."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtWidgets import QWidget

from workbench.base.i18n import _
from workbench.ui.panels.annotate.queue.queue import FILES, QueueTool
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.spin import SpinBox
from workbench.ui.widgets.dialog import Dialog

RUN, OTHER, VECTORS = "decisions", "second", "vectors"  # what an order may read


class OrderDialog(Dialog):
    """Order, what it reads, and the share of control documents; the state computes it."""

    def __init__(self, parent: QWidget, tool: QueueTool) -> None:
        super().__init__(
            parent,
            _("Order of the queue"),
            _(
                "Active learning puts the documents first whose labels are expected to help a "
                "model most. Random control documents among them show how the model performs on "
                "typical documents."
            ),
            width=480,
        )
        self._tool = tool
        self._ready = 0  # number of runs that can be chosen
        self._layer = combo(
            [(layer.id, layer.name) for layer in tool.session.ordered_layers], name=_("Layer")
        )
        self._order = combo(name=_("Order"))
        self._run = combo(name=_("Predictions of"))
        self._other = combo(name=_("Compared with"))
        self._model = combo(name=_("Vectors of"))
        self._share = SpinBox(0, 90)
        self._share.setSuffix("%")
        self._share.setValue(round(100 * tool.control_share))
        self._fields = {
            "layer": TitledField(_("Layer"), self._layer),
            "order": TitledField(_("Order"), self._order),
            RUN: TitledField(_("Predictions of"), self._run),
            OTHER: TitledField(_("Compared with"), self._other),
            VECTORS: TitledField(
                _("Vectors of"), self._model,
                _("Vectors are computed once per model and text; this can take minutes."),
            ),
            "share": TitledField(_("Random control documents"), self._share),
        }  # fmt: skip
        self.put(*self._fields.values())
        self._done = Button(_("Order"), "filter", "primary", on=self._compute)
        self._done.setDefault(True)
        self.end(None, Button(_("Cancel"), on=self.reject), self._done)
        self._layer.currentIndexChanged.connect(lambda _index: self._fill())
        self._order.currentIndexChanged.connect(lambda _index: self._show())
        self._fill()

    def _fill(self) -> None:
        layer = self._layer.currentData()
        self._fields["layer"].setVisible(self._layer.count() > 1)
        if layer is None:
            fill(self._order, [(FILES, _("File order"))])
            return self._show()
        choices = self._tool.order_choices(layer)
        now = self._tool.queue_order
        chosen = self._order.currentData() or (now.strategy if now is not None else FILES)
        orders = [(FILES, _("File order")), *choices.strategies]
        missing = self._tool.missing_order
        if now is not None and missing:
            orders.append((now.strategy, now.title))
            chosen = FILES if chosen == now.strategy else chosen
        fill(self._order, orders, chosen, refused={now.strategy: missing} if now else None)
        refused = choices.refused
        able = [run for run in choices.runs if run[0] not in refused]
        cannot = [run for run in choices.runs if run[0] in refused]
        ready = [*self._tool.model_choice, *able]
        self._ready = len(ready)
        run, other, model = self._sources(choices.models)
        fill(self._run, [*ready, *cannot], run, refused=refused)
        fill(self._other, [*able[1:], *able[:1], *cannot], other, refused=refused)
        fill(self._model, choices.models, model)
        self._show()

    def _sources(self, models: Iterable[tuple[str, str]]) -> tuple[object, object, object]:
        """Of the present order of this layer: its runs, and its model; None for others."""
        now = self._tool.queue_order
        if now is None or now.layer_id != self._layer.currentData():
            return None, None, None
        run, other, *_rest = (*now.runs, None, None)
        return run, other, next((key for key, title in models if title == now.source), None)

    def _show(self) -> None:
        """Only the fields that the order reads, and what is missing for it."""
        order = self._order.currentData() or FILES
        needs = self._tool.order_needs(order)
        for name in (RUN, OTHER, VECTORS):
            self._fields[name].setVisible(name in needs)
        self._fields["share"].setVisible(bool(needs))
        missing = ""
        if RUN in needs and not self._ready:
            missing = _("This layer has no run yet. Train one, or choose another order.")
        elif OTHER in needs and self._ready < 2:
            missing = _("This order compares two runs; the layer has only one.")
        elif VECTORS in needs and not self._model.count():
            missing = _("No model is installed that gives vectors.")
        self.fault(missing)
        self._done.setEnabled(not missing)
        self.adjustSize()

    def _compute(self) -> None:
        order = self._order.currentData()
        needs = self._tool.order_needs(order)
        boxes = ((RUN, self._run), (OTHER, self._other))
        runs = [box.currentData() for name, box in boxes if name in needs]
        share = self._share.value() / 100 if needs else 0.0
        chosen = self._layer.currentData(), runs, self._model.currentData() or "", share
        if self._tool.choose_order(order, *chosen):
            self.accept()
