"""Origins of labels: the sources that are one to the user."""

from __future__ import annotations

from typing import NamedTuple


class Origin(NamedTuple):
    """Sources that are one to the user: `by` is the annotator if `kind` is person, else None."""

    kind: str
    ref: str = ""
    by: int | None = None


BY = "case s.kind when 'person' then s.annotator_id end"
OF_ORIGIN = f"select s.id from source s where s.kind = ? and s.ref = ? and {BY} is ?"
"""SQL of the ids of the sources of an origin, which gives the parameters."""
