"""Finds the answers of a data set in their texts, and notes what had to be repaired."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from workbench.base.i18n import ngettext
from workbench.importers.base import Fault, Remark, is_number, show
from workbench.importers.offsets import OPEN, Offsets, Quote
from workbench.text.questions import Question

LISTED = 20  # answers that are not in their text are listed up to this number


@dataclass
class Placing:
    """Places answers and counts what was wrong with their offsets.

    file: its name, for messages. missing: sentences on answers that do not occur in their text.
    """

    file: str
    moved: int = 0
    repeated: int = 0
    missing: list[str] = field(default_factory=list)
    offsets: Offsets = field(default_factory=Offsets)

    def question(
        self,
        context: str,
        question: str,
        answers: Sequence[tuple[object, object]],
        *,
        is_null: bool,
        attrs: dict[str, object],
        place: str,
    ) -> Question:
        """`answers`: (text, start); `start` may be missing. `place`: of the question, in words."""
        found: dict[tuple[int, int], None] = {}
        for text, start in self._converted(context, answers):
            offsets = self._place(context, text, start)
            if offsets is not None:
                found[offsets] = None
            else:
                self.missing.append(f"{self.file}, {place}: {show(text, 60)}")
        return Question(question, tuple(found), is_null and not found, attrs)

    def _converted(
        self, context: str, answers: Sequence[tuple[object, object]]
    ) -> Sequence[tuple[object, object]]:
        """The answers with their starts in code points, if there is a way of counting in which all
        of them are at their starts.
        """
        quotes = [
            Quote(((start, OPEN),), text)
            for text, start in answers
            if isinstance(text, str) and type(start) is int and text.strip()
        ]
        try:
            counting = self.offsets.counting(context, quotes, fixed=True, mark=False)
        except Fault:
            return answers
        return [
            (text, counting.start(start) if type(start) is int else start)
            for text, start in answers
        ]

    def _place(self, context: str, text: object, start: object) -> tuple[int, int] | None:
        """Where the answer is, in code points; the occurrence nearest to a wrong start."""
        if not isinstance(text, str) or not text.strip():
            return None
        given = int(cast(float, start)) if is_number(start) else None
        if given is not None and given >= 0 and context.startswith(text, given):
            return given, given + len(text)
        wanted = text if text in context else text.strip()
        places = list(_occurrences(context, wanted))
        if not places:
            return None
        if given is None:
            self.repeated += len(places) > 1
            best = places[0]
        else:
            self.moved += 1
            best = min(places, key=lambda at: abs(at - given))
        return best, best + len(wanted)

    def remarks(self) -> Iterator[Remark]:
        """What the user must know about the answers read so far."""
        if self.moved:
            message = ngettext(
                "{file}: {n:,} answer was not found at its offset; the nearest occurrence of its "
                "text was used.",
                "{file}: {n:,} answers were not found at their offsets; the nearest occurrences "
                "of their texts were used.",
                self.moved,
            )
            yield Remark(message.format(file=self.file, n=self.moved))
        if self.repeated:
            message = ngettext(
                "{file}: {n:,} answer without an offset occurs several times in its text; the "
                "first occurrence was used.",
                "{file}: {n:,} answers without offsets occur several times in their texts; the "
                "first occurrences were used.",
                self.repeated,
            )
            yield Remark(message.format(file=self.file, n=self.repeated))
        if self.missing:
            message = ngettext(
                "{n:,} answer was not imported, as it does not occur in its text: {listed}",
                "{n:,} answers were not imported, as they do not occur in their texts: {listed}",
                len(self.missing),
            )
            listed = "; ".join(self.missing[:LISTED])
            more = "; …" if len(self.missing) > LISTED else "."
            yield Remark(message.format(n=len(self.missing), listed=listed + more))
        yield from (Remark(message) for message in self.offsets.remarks(self.file))


def _occurrences(context: str, text: str) -> Iterator[int]:
    at = context.find(text)
    while at >= 0:
        yield at
        at = context.find(text, at + 1)
