"""Notes and flags of a document and its spans, as records and files hold them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.base import deprecation
from workbench.text.spans import Place

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, Remark="DocumentRemark")

NOTE, FLAG = "note", "flag"
KINDS = (NOTE, FLAG)


@dataclass(frozen=True, slots=True)
class DocumentRemark:
    """`kind`: NOTE with `text`, or FLAG whose name is `text`.

    `layer`, `place`: of the span that it belongs to; "" and None for the document.
    """

    kind: str
    text: str
    layer: str = ""
    place: Place | None = None


def to_json(remarks: Iterable[DocumentRemark]) -> list[list[object]]:
    """[kind, text], of a span [kind, text, layer, [field, start, end, label, parts]]."""
    rows: list[list[object]] = []
    for remark in remarks:
        span = [remark.layer, list(remark.place)] if remark.place is not None else []
        rows.append([remark.kind, remark.text, *span])
    return rows


def from_json(raw: Iterable[Any]) -> tuple[DocumentRemark, ...]:
    """Raises TypeError or ValueError for anything else than `to_json` writes."""
    return tuple(_remark(*item) for item in raw)


def _remark(kind: object, text: object, layer: object = "", place: Any = None) -> DocumentRemark:
    if kind not in KINDS or not isinstance(text, str) or not text.strip():
        raise ValueError(f"{kind!r} is no note or flag")
    if place is None:
        return DocumentRemark(str(kind), text)
    field, start, end, label, parts = place
    pieces = tuple((int(a), int(b)) for a, b in parts)
    return DocumentRemark(
        str(kind), text, str(layer), (str(field), int(start), int(end), str(label), pieces)
    )
