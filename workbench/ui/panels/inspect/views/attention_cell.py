"""One row of an attention head, step by step: from dot products to the weighted sum of values.

A key that is selected in the table is shown element by element above it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.base.events import ALL, concerns
from workbench.base.i18n import _
from workbench.ui.panels.inspect.parts import (
    ChoicePart,
    EntryPart,
    MarkPart,
    PlotPart,
    RowBox,
    RulePart,
    TablePart,
    TextPart,
    ViewContext,
    ViewSpec,
)
from workbench.ui.style import formats
from workbench.ui.widgets.tables.table import Column
from workbench.ui.widgets.tokens.numbers_strip import NumbersStrip

if TYPE_CHECKING:
    from workbench.inspection.attention_cell.info import AttentionCell

EQUAL = 1e-5  # largest difference that counts as equal
MASKED = -1e29  # what a mask adds, at most
BIAS = 3  # the column of what only some models add
MASKS = {
    "none": _("bidirectional, nothing masked"),
    "causal": _("causal: later tokens are masked"),
    "local": _("local: distant tokens are masked"),
}
KINDS = {"self": _("Self-attention"), "cross": _("Cross-attention")}


def _has_bias(result: AttentionCell) -> bool:
    return bool((abs(result.bias) > EQUAL).any())


def _place(view: ViewContext) -> str:
    result: AttentionCell = view.result
    place = _(
        "Layer {layer} of {layers}, head {head} of {heads}, head width {width}",
        layer=result.layer,
        layers=result.layers,
        head=result.head,
        heads=result.heads,
        width=len(result.q),
    )
    return f"{place} · {MASKS[result.mask_kind]}"


def _is_equal(view: ViewContext) -> bool:
    return bool(view.result.difference <= EQUAL)


def _difference(view: ViewContext) -> str:
    return _(
        "Largest difference from the model's own output: {n}",
        n=formats.scientific(view.result.difference),
    )


def _target_hint(view: ViewContext) -> str:
    target = view.result.target
    return _("Decoder output: {text}", text=target) if target else ""


def _take_kind(view: ViewContext, kind: str) -> None:
    view.state.set_options(kind=kind, layer=1, query=view.state.default("query"))


def _follow(view: ViewContext, fields: frozenset[str]) -> None:
    """Show the head and the token that were selected in another view."""
    if fields is ALL or not concerns(fields, "chosen_head", "chosen_token"):
        return
    options: dict[str, int] = {}
    if view.page.chosen_head is not None:
        options |= dict(zip(("layer", "head"), view.page.chosen_head, strict=True))
    result, token = view.result, view.page.chosen_token
    follows = result is not None and result.kind != "cross"
    if follows and token is not None and token < len(result.queries):
        options["query"] = token  # of a long text, only the beginning is read
    view.state.set_options(**options)


# ---------------------------------------------------------------- the keys


def _columns(view: ViewContext) -> list[Column]:
    def number(name: str, digits: int = 2) -> Callable[[int], str]:
        def text(at: int) -> str:
            values = getattr(view.result, name)
            value = float(values[at]) if len(values) else 0.0
            return "−∞" if value < MASKED else formats.decimal(value, digits)

        return text

    return [
        Column(_("Key"), lambda at: view.result.keys[at].shown, 90),
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
            share=lambda at: float(view.result.weights[at]),
            hint=_("The attention weight; the weights of all keys add up to 1"),
        ),
    ]


def _vector(
    name: str,
    numbers: Callable[[AttentionCell, int], Any],
    token: Callable[[AttentionCell, int], str] = lambda _result, _at: "",
) -> PlotPart:
    """Numbers of the selected key, with the name of a token."""

    def values(view: ViewContext) -> tuple[list[float], str]:
        at = view.chosen("keys")
        if at is None:
            return [], ""
        return numbers(view.result, at).tolist(), token(view.result, at)

    return PlotPart(NumbersStrip, name, values, empty=((), ""))


def _sum(view: ViewContext) -> str:
    result, at = view.result, view.chosen("keys")
    if at is None:
        return ""
    if result.cap:
        message = _("Σ q × k = {dot}, times {scale}, capped at ±{cap} by tanh = {scaled}")
    else:
        message = _("Σ q × k = {dot}, times {scale} = {scaled}")
    return message.format(
        dot=formats.decimal(float(result.dots[at]), 2),
        scale=formats.decimal(result.scale, 4),
        cap=formats.decimal(result.cap, 0),
        scaled=formats.decimal(float(result.scaled[at]), 2),
    )


def _data(view: ViewContext) -> list[list[object]]:
    result: AttentionCell = view.result
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


ATTENTION_CELL = ViewSpec(
    title=_("Attention, step by step"),
    beside=(TextPart(_place, "small", "muted", elide=True, stretch=1),),
    controls=(
        EntryPart("layer", _("Layer")),
        EntryPart("head", _("Head")),
        ChoicePart(
            _("Query"),
            "query",
            lambda view: [
                (at, f"{at}  {query.shown}") for at, query in enumerate(view.result.queries)
            ],
            lambda view: view.result.query,
            name=_("Query token"),
            stretch=2,
        ),
        ChoicePart(
            _("Kind"),
            "kind",
            lambda view: [(kind, KINDS[kind]) for kind in view.result.kinds],
            lambda view: view.result.kind,
            act=_take_kind,
            name=_("Kind of attention"),
            stretch=2,
        ),
        EntryPart(
            "target",
            _("Target text"),
            resets="query",
            hint=_target_hint,
            visible=lambda view: "cross" in view.result.kinds,
            stretch=2,
        ),
    ),
    parts=(
        RowBox(
            MarkPart(
                lambda view: ("circle-check", "good") if _is_equal(view) else ("circle-x", "bad"),
                id="mark",
            ),
            TextPart(_difference, "small", stretch=1),
        ),
        _vector(_("q"), lambda r, _at: r.q, lambda r, _at: r.queries[r.query].shown),
        _vector(_("k"), lambda r, at: r.k[at], lambda r, at: r.keys[at].shown),
        _vector(_("q × k"), lambda r, at: r.products[at]),
        TextPart(_sum, "small", weight=600),
        TablePart(
            _("Keys"),
            _columns,
            lambda view: range(len(view.result.keys)),
            key=lambda at: at,
            first=lambda view: int(view.result.weights.argmax()),
            hidden=lambda view: () if _has_bias(view.result) else (BIAS,),
            id="keys",
            stretch=1,
        ),
        RulePart(),
        _vector(_("Σ weight · v"), lambda r, _at: r.output),
    ),
    changed=_follow,
    data=_data,
)
