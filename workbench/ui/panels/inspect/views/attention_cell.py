"""One row of an attention head, step by step: from dot products to the weighted sum of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.base.events import ALL, concerns
from workbench.base.i18n import _
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.views.option_field import OptionField
from workbench.ui.style import formats
from workbench.ui.widgets.controls.field import TitledField, choose, combo, fill
from workbench.ui.widgets.controls.words import Elided, IconLabel, words
from workbench.ui.widgets.layout import card, layout_of, line, row
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.tokens.numbers_strip import NumbersStrip

if TYPE_CHECKING:
    from workbench.inspection.attention_cell.info import AttentionCell
    from workbench.ui.panels.inspect.inspector_state import InspectorState

EQUAL = 1e-5  # largest difference that counts as equal
MASKED = -1e29  # what a mask adds, at most
BIAS = 3  # the column of what only some models add


class AttentionCellView(InspectorView):
    """A key that is selected in the table is shown element by element above it."""

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._note = Elided("", "small", "muted")
        self._mark, self._verdict = IconLabel("circle-check", "good", 16), words("", "small")
        self._layer = OptionField(state, "layer", _("Layer"))
        self._head = OptionField(state, "head", _("Head"))
        self._query = combo(name=_("Query token"))
        self._query.activated.connect(lambda at: state.set_options(query=at))
        self._kind = combo(name=_("Kind of attention"))
        self._kind.activated.connect(self._take_kind)
        self._target = OptionField(state, "target", _("Target text"), resets="query")
        self._target.hide()
        self._strips = [
            NumbersStrip(name) for name in (_("q"), _("k"), _("q × k"), _("Σ weight · v"))
        ]
        self._sum = words("", "small", weight=600)
        self._table = Table(_columns(self), name=_("Keys"), key=lambda at: at)
        self._table.chosen.connect(self._show_key)
        fields = row(
            (self._layer, 1),
            (self._head, 1),
            (TitledField(_("Query"), self._query), 2),
            (TitledField(_("Kind"), self._kind), 2),
            (self._target, 2),
            gap=12,
        )
        top = row(words(_("Attention, step by step"), weight=600), (self._note, 1))
        verdict = row(self._mark, (self._verdict, 1))
        above, below = self._strips[:3], self._strips[3]
        table = (self._table, 1)
        layout_of(self).addWidget(
            card(top, fields, verdict, *above, self._sum, table, line(), below, gap=8)
        )

    def show_state(self, fields: frozenset[str]) -> None:
        super().show_state(fields)
        if fields is not ALL and concerns(fields, "chosen_head", "chosen_token"):
            self._follow()
        if concerns(fields, "options"):
            for field in (self._layer, self._head, self._target):
                field.show_value()

    def clear(self) -> None:
        self._table.set_rows(())
        for strip in self._strips:
            strip.set((), "")

    def show_result(self, result: AttentionCell) -> None:
        fill(self._query, [(at, f"{at}  {query.shown}") for at, query in enumerate(result.queries)])
        choose(self._query, result.query)
        fill(self._kind, [(kind, KINDS[kind]) for kind in result.kinds], result.kind)
        place = _(
            "Layer {layer} of {layers}, head {head} of {heads}, head width {width}",
            layer=result.layer,
            layers=result.layers,
            head=result.head,
            heads=result.heads,
            width=len(result.q),
        )
        message = place
        self._note.setText(f"{message} · {MASKS[result.mask_kind]}")
        self._target.setVisible("cross" in result.kinds)
        written = _("Decoder output: {text}", text=result.target)
        self._target.set_hint(written if result.target else "")
        self._table.setColumnHidden(BIAS, not _has_bias(result))
        equal = result.difference <= EQUAL
        self._mark.set("circle-check" if equal else "circle-x", "good" if equal else "bad")
        largest = _(
            "Largest difference from the model's own output: {n}",
            n=formats.scientific(result.difference),
        )
        self._verdict.setText(largest)
        self._table.set_rows(list(range(len(result.keys))))
        if not self._table.chosen_rows():
            self._table.choose({int(result.weights.argmax())})
        self._show_key()

    def data(self) -> list[list[object]]:
        result = self.state.result
        named = {
            _("q · k"): result.dots,
            _("Scaled"): result.scaled,
            **({_("Bias"): result.bias} if _has_bias(result) else {}),
            _("Mask"): result.mask,
            _("softmax"): result.weights,
            _("Weight × norm of v"): result.value_norms,
        }
        rows: list[list[object]] = [[_("Key"), *named]]
        for at, key in enumerate(result.keys):
            rows.append([key.shown, *(float(item[at]) for item in named.values())])
        return rows

    def _follow(self) -> None:
        """Show the head and the token that were selected in another view."""
        options: dict[str, int] = {}
        if self.page.chosen_head is not None:
            options |= dict(zip(("layer", "head"), self.page.chosen_head, strict=True))
        result, token = self.visible, self.page.chosen_token
        follows = result is not None and result.kind != "cross"
        if follows and token is not None and token < len(result.queries):
            options["query"] = token  # of a long text, only the beginning is read
        self.state.set_options(**options)

    def _show_key(self) -> None:
        result, chosen = self.visible, self._table.chosen_rows()
        if result is None or not chosen:
            return
        at = chosen[0]
        names = (result.queries[result.query].shown, result.keys[at].shown, "", "")
        values = (result.q, result.k[at], result.products[at], result.output)
        for strip, name, numbers in zip(self._strips, names, values, strict=True):
            strip.set(numbers.tolist(), name)
        message = _("Σ q × k = {dot}, times {scale} = {scaled}")
        if result.cap:
            message = _("Σ q × k = {dot}, times {scale}, capped at ±{cap} by tanh = {scaled}")
        self._sum.setText(
            message.format(
                dot=formats.decimal(float(result.dots[at]), 2),
                scale=formats.decimal(result.scale, 4),
                cap=formats.decimal(result.cap, 0),
                scaled=formats.decimal(float(result.scaled[at]), 2),
            )
        )

    def _take_kind(self, _index: int) -> None:
        query = self.state.default("query")
        self.state.set_options(kind=self._kind.currentData(), layer=1, query=query)


MASKS = {
    "none": _("bidirectional, nothing masked"),
    "causal": _("causal: later tokens are masked"),
    "local": _("local: distant tokens are masked"),
}
KINDS = {"self": _("Self-attention"), "cross": _("Cross-attention")}


def _has_bias(result: AttentionCell) -> bool:
    return bool((abs(result.bias) > EQUAL).any())


def _columns(view: AttentionCellView) -> list[Column]:
    def number(name: str, digits: int = 2) -> Callable[[int], str]:
        def text(at: int) -> str:
            values = getattr(view.visible, name)
            value = float(values[at]) if len(values) else 0.0
            return "−∞" if value < MASKED else formats.decimal(value, digits)

        return text

    def weight(at: int) -> float:
        return float(view.visible.weights[at])

    return [
        Column(_("Key"), lambda at: view.visible.keys[at].shown, 90),
        Column(_("q · k"), number("dots"), 66, right=True, hint=_("Dot product of query and key")),
        Column(
            _("Scaled"),
            number("scaled"),
            66,
            right=True,
            hint=_("The dot product times the scale, mostly 1 / √ of the head width"),
        ),
        Column(
            _("Bias"),
            number("bias"),
            56,
            right=True,
            hint=_("Position bias that the model adds for the distance between the tokens"),
        ),
        Column(_("Mask"), number("mask"), 56, right=True, hint=_("What the mask adds")),
        Column(
            _("‖w·v‖"),
            number("value_norms"),
            66,
            right=True,
            hint=_("The weight times the norm of the value"),
        ),
        Column(
            _("softmax"),
            number("weights", 3),
            None,
            share=weight,
            hint=_("The attention weight; the weights of all keys add up to 1"),
        ),
    ]
