"""What the view of an inspector is made of: controls and parts, without Qt.

A `ViewSpec` is named `view` in the index, in place of a class. `declared.DeclaredView` renders it:
a result that is shown or cleared, other options, another theme, selection, keys, files. Functions
of a description get the `ViewContext`; unless a part is `always` shown, they are called only with a
result. None in a sequence of parts is empty room that takes what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from workbench.ui.panels.inspect.examined import Examined
    from workbench.ui.panels.inspect.inspector_state import InspectorState, InspectPage

Function = Callable[..., Any]


class ViewContext(Protocol):
    """The view, as functions of a description see it.

    result: what is on screen, None before the first result and after a change of the model.
    state: of the inspector; examined: the same, of one that examines documents. page: the document,
    gold, labels and what is selected in all views. text: of the document. duration: the time that
    the result took, as a text. is_narrow: whether it is narrower than the description says.
    """

    state: InspectorState

    @property
    def result(self) -> Any: ...

    @property
    def examined(self) -> Examined: ...

    @property
    def page(self) -> InspectPage: ...

    @property
    def text(self) -> str: ...

    @property
    def duration(self) -> str: ...

    @property
    def is_narrow(self) -> bool: ...

    def chosen(self, id: str) -> Any:
        """What is selected in a part: the first row of a `TablePart`, else None; the number of a
        word in a `StripPart`, -1 for none; (row, column) in a `HeatPart`, -1 for none; the value of
        a `ChoicePart`. A part whose functions ask for it is shown again when the selection changes.
        """
        ...

    def chosen_rows(self, id: str) -> Sequence[Any]:
        """All rows that are selected in a `TablePart`."""
        ...

    def choose(self, id: str, value: Any) -> None:
        """Select in a part: the keys of rows in a `TablePart`, else what `chosen` returns; in
        `CurvesPart`, (curve, point).
        """
        ...

    def renew(self) -> None:
        """Show all parts again, after a change of what nobody tells."""
        ...


@dataclass(frozen=True, kw_only=True)
class ViewPart:
    """id: by which functions name the part. visible: whether it is shown, always without one.

    always: it is shown without a result, too. stretch: its share of the room that is left.
    """

    id: str = ""
    stretch: int = 0
    visible: Function | None = None
    always: bool = False


# ---------------------------------------------------------------- containers


@dataclass(frozen=True, init=False)
class Box(ViewPart):
    items: tuple[ViewPart | None, ...]
    gap: int

    def __init__(self, *items: ViewPart | None, gap: int = 8, **how: Any):
        object.__setattr__(self, "items", items)
        object.__setattr__(self, "gap", gap)
        super().__init__(**how)


class RowBox(Box):
    """Parts from left to right."""


class StackBox(Box):
    """Parts from top to bottom."""


class CardBox(Box):
    """Parts from top to bottom on a surface; margins: left, top, right, bottom, in pixels."""

    margins: tuple[int, int, int, int]

    def __init__(self, *items: ViewPart | None, margins: Any = (16, 14, 16, 16), **how: Any):
        object.__setattr__(self, "margins", margins)
        super().__init__(*items, **how)


class ScrolledBox(Box):
    """Parts from top to bottom that are scrolled where they are higher than their room."""


class RulePart(ViewPart):
    """A horizontal line."""


# ---------------------------------------------------------------- controls


@dataclass(frozen=True)
class ChoicePart(ViewPart):
    """A list of the values of an option; `items(view)` returns (value, text), by default those
    that the option has. `act(view, value)` replaces the setting of the option; without an option
    the choice is only of this view, and other parts ask for it by `view.chosen`.
    """

    title: str
    option: str = ""
    items: Function | None = None
    value: Function | None = None
    act: Function | None = None
    enabled: Function | None = None
    name: str = ""
    titled: bool = True
    contents: int = 0  # characters that are shown at least


@dataclass(frozen=True)
class SegmentsPart(ViewPart):
    """A choice of this view alone, (value, text) side by side; `view.chosen` returns the value."""

    name: str
    items: Sequence[tuple[object, str]]


@dataclass(frozen=True)
class CheckBoxPart(ViewPart):
    """An option that is on or off."""

    option: str
    title: str
    tip: str = ""


@dataclass(frozen=True)
class EntryPart(ViewPart):
    """An option as text; Enter or leaving the field sets it, an error is shown below.

    resets: an option whose value depends on this one, set to its default with each change.
    hint(view): a text below it.
    """

    option: str
    title: str
    resets: str = ""
    hint: Function | None = None


@dataclass(frozen=True)
class TextEntryPart(ViewPart):
    """A line of text: `act(view, text)` on Enter. cleared: also when it has become empty;
    emptied: it is empty after Enter; leaving: also when the focus leaves it.
    """

    placeholder: str
    act: Function
    name: str = ""
    title: str = ""
    cleared: bool = False
    emptied: bool = False
    leaving: bool = False


@dataclass(frozen=True)
class LayersPart(ViewPart):
    """The choice of a layer, shown if there is more than one; `layers(view)` are its numbers."""

    layers: Function
    layer: Function
    option: str = "layer"


@dataclass(frozen=True)
class OptionsPart(ViewPart):
    """All options of the inspector as a form."""


@dataclass(frozen=True)
class ButtonPart(ViewPart):
    """text: or a function that returns it. Without a text, `name` says what the icon stands for."""

    text: str | Function
    act: Function
    icon: str = ""
    kind: str = "normal"
    enabled: Function | None = None
    name: str = ""


# ---------------------------------------------------------------- parts


@dataclass(frozen=True)
class TextPart(ViewPart):
    """text: or a function that returns it. kind, tone, weight, wrap, select: as of `words`.

    elide: one line that ends with "…" where there is no room.
    """

    text: str | Function
    kind: str = "ui"
    tone: str = "text"
    weight: int = 400
    wrap: bool = False
    select: bool = False
    elide: bool = False


def title(text: str | Function, **how: Any) -> TextPart:
    return TextPart(text, weight=600, **how)


def caption(text: str | Function, **how: Any) -> TextPart:
    return TextPart(text, "caption", "muted", **how)


@dataclass(frozen=True)
class MarkPart(ViewPart):
    """An icon with a tone, `icon(view)`."""

    icon: Function


@dataclass(frozen=True)
class FiguresPart(ViewPart):
    """Numbers with their names: `values(view)` returns (name, value) pairs."""

    values: Function


@dataclass(frozen=True)
class TablePart(ViewPart):
    """`rows(view)` in `columns`, or `columns(view)`; key(row): identifies a row.

    first(view): the key of the row to select if none is selected, or with `reset_selection` after
    each result; follow(view): keys of the rows to select, after each change. chosen(view, row),
    opened(view, row), removed(view): on a selected row, on Enter, on Delete. menu(view):
    entries for the selected rows. fit: adapts the height to the rows, at most so many, or
    `fit(view)`; height: in pixels at 100%. hidden(view): numbers of columns. spans(row): whether
    its first column takes all. live: it shows more than the result, such as the selected token.
    """

    name: str
    columns: Sequence[Any] | Function
    rows: Function
    key: Callable[[Any], Hashable] = id
    many: bool = False
    sortable: bool = False
    first: Function | None = None
    reset_selection: bool = False
    follow: Function | None = None
    chosen: Function | None = None
    opened: Function | None = None
    removed: Function | None = None
    menu: Function | None = None
    fit: int | Function = 0
    height: int = 0
    hidden: Function | None = None
    spans: Function | None = None
    live: bool = False


@dataclass(frozen=True)
class StripPart(ViewPart):
    """`words(view)`, as `StripWord`, in lines; in the direction of `text(view)`, by default that of
    the document. chosen, clicked, opened(view, number): of a word; tip(view, number). follow(view):
    the number of the word to outline; live: also after changes of the state. fit: not higher than
    its words; scrolled: in a scroll area. focus: it can have the focus.
    """

    name: str
    words: Function
    tip: Function | None = None
    chosen: Function | None = None
    clicked: Function | None = None
    opened: Function | None = None
    follow: Function | None = None
    live: bool = False
    text: Function | None = None
    fit: bool = True
    scrolled: bool = True
    focus: bool = True


@dataclass(frozen=True)
class HeatPart(ViewPart):
    """A cell for each pair of the names `down(view)` and `across(view)`: `cell(view, row,
    column)` returns a `HeatCell`, tip(view, row, column) its content as a sentence. axes: what
    rows and columns are. first(view): the (row, column) that is selected unless another one is.
    style: widths and colours, a `HeatStyle`.
    """

    name: str
    axes: str
    down: Function
    across: Function
    cell: Function
    tip: Function
    first: Function | None = None
    style: Any = None


@dataclass(frozen=True)
class CurvesPart(ViewPart):
    """`series(view)` over the axes x and y; picked(view, curve, point): a point was selected.

    empty: what appears here. follow(view): the (curve, point) to mark. level(view): a dashed
    line at this y. legend: the names of the curves above.
    """

    name: str
    x: Any
    y: Any
    series: Function
    empty: str
    picked: Function | None = None
    follow: Function | None = None
    level: Function | None = None
    legend: bool = False


@dataclass(frozen=True)
class PlotPart(ViewPart):
    """A widget with `set`, which gets `values(view)`, and `empty` without a result: `make(name)`
    creates it. chosen(view, value): the user has selected something in it. scrolled: in a scroll
    area.
    """

    make: Callable[[str], Any]
    name: str
    values: Function
    empty: Any = ()
    chosen: Function | None = None
    scrolled: bool = False


@dataclass(frozen=True)
class CustomPart(ViewPart):
    """A widget that `make()` creates; `show(widget, result)` fills it, None clears it."""

    make: Callable[[], Any]
    show: Callable[[Any, Any], None] | None = None


# ---------------------------------------------------------------- the view


@dataclass(frozen=True)
class ViewSpec:
    """A view: a card with a title line, controls below it, and parts from top to bottom.

    title: by default that of the inspector, None for none. beside: what stands beside it.
    data(view): the numbers as rows of a table, the first names the columns; or the id of a
    `TablePart` with the values of its columns; by default all values of the result.
    changed(view, fields): called after changes of the state or the page. cards: the parts are
    cards themselves. narrow: the width below which `is_narrow` is true, pixels at 100%.
    """

    parts: Sequence[ViewPart | None] = ()
    title: str | None = ""
    beside: Sequence[ViewPart | None] = ()
    controls: Sequence[ViewPart | None] = ()
    data: Function | str | None = None
    changed: Function | None = None
    cards: bool = False
    narrow: int = 0

    def __post_init__(self) -> None:
        """Raises TypeError for what is no part, ValueError for two parts with one id."""
        ids = [part.id for part in _walk((*self.beside, *self.controls, *self.parts)) if part.id]
        if twice := next((id for id in ids if ids.count(id) > 1), ""):
            raise ValueError(f"two parts have the id {twice!r}")


def _walk(parts: Iterable[ViewPart | None]) -> Iterator[ViewPart]:
    """All parts, with those of boxes."""
    for part in parts:
        if part is None:
            continue
        if not isinstance(part, ViewPart):
            raise TypeError(f"{part!r} is not a part of a view")
        yield part
        yield from _walk(part.items) if isinstance(part, Box) else ()
