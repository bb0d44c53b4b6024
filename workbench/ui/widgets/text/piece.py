"""A piece of a text, its lines, and what their positions depend on."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtGui import QFont, QTextLayout, QTextLine

from workbench.ui.widgets.text.arc_layout import LineArc
from workbench.ui.widgets.text.offsets import Utf16Map
from workbench.ui.widgets.text.span_layout import SpanSegment, TextSpan


@dataclass(frozen=True, slots=True)
class Measures:
    """Everything that determines line positions. Pixels."""

    font: QFont
    width: float
    lane: float  # height of one lane of bars and captions
    lead: float  # between a line's text and its first lane
    paragraph: float  # below each paragraph
    least_lanes: int  # number of lanes reserved on every line, so that the first span moves nothing
    level: float = 0.0  # height of one level of relations above a line


@dataclass(slots=True, eq=False)
class Line:
    """One wrapped line. `top` is relative to the piece; units are UTF-16 units of the piece.

    Relations are drawn in the `head` above the text.
    """

    line: QTextLine
    top: float
    height: float  # of its text, without lanes
    pitch: float  # to the next line
    first: int
    after: int
    items: list[SpanSegment] = field(default_factory=list)
    arcs: list[LineArc] = field(default_factory=list)
    head: float = 0.0

    def shows(self, spans: list[TextSpan]) -> bool:
        """Whether these are its spans, in this order."""
        return [item.span for item in self.items] == spans

    @property
    def above(self) -> float:
        """The top of its relations; of its text, if it has none."""
        return self.top - self.head


@dataclass(slots=True, eq=False)
class Piece:
    """Code points [start, end) of one paragraph.

    `true_height` is None until shaped once; `layout` may be dropped again.
    """

    paragraph: int
    start: int
    end: int
    chained: bool
    true_height: float | None = None
    stale: bool = False  # spans have changed since the height was computed
    layout: QTextLayout | None = None
    units: Utf16Map | None = None
    mixed: bool = False
    lines: list[Line] | None = None

    @property
    def shaped(self) -> QTextLayout:
        """The layout of a piece that `Pieces.ensure` has shaped. Raises RuntimeError before."""
        if self.layout is None:
            raise RuntimeError("the piece is not shaped")
        return self.layout

    @property
    def point_map(self) -> Utf16Map:
        """Code points to UTF-16 units of a shaped piece. Raises RuntimeError before."""
        if self.units is None:
            raise RuntimeError("the piece is not shaped")
        return self.units

    @property
    def placed(self) -> list[Line]:
        """The lines of a shaped piece. Raises RuntimeError before."""
        if self.lines is None:
            raise RuntimeError("the lines of the piece are not placed")
        return self.lines
