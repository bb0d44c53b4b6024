"""Signs that a file was read in the wrong way, in records of any format, before they are stored.

Records that are valid but cannot be meant: prefixes of tags as labels, the header of a table as its
first record, the same text in most records, errors in most records.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from workbench.base.i18n import _, ngettext
from workbench.text.dataset import Record

_HYPHENS = ("-", "–", "—")
_PREFIX = re.compile(r"[BI]|[BIOESLUMW][-_]")
_HEADER = re.compile(
    r"(?:.*[_ -])?(?:labels?|tags?|ner|pos|class|category|target|lit|fine|type)", re.I
)
_COUNTED = 100_000  # texts that are compared
_MIN_DOCUMENTS = 3  # documents of which "most" means something
_MAX_LISTED_LABELS = 5
_MAX_EXCERPT_CHARS = 60  # characters of a text


class ContentChecks:
    """Reads the records of an import one by one; `warnings` says what is suspicious in all of them.

    A new file begins with `begin`.
    """

    def __init__(self) -> None:
        self._records = self._faults = self._all_records = 0
        self._file = ""
        self._labels: Counter[tuple[str, str]] = Counter()  # (layer, label) → records with it
        self._first: Counter[tuple[str, str]] = Counter()  # in the first records of the files
        self._spans: set[str] = set()  # layers of spans and tags
        self._texts: Counter[int] = Counter()
        self._examples: dict[int, str] = {}

    def begin(self, file: str) -> None:
        self._file, self._records, self._faults = file, 0, 0

    def fault(self) -> None:
        """A record with an error."""
        self._faults += 1

    def record(self, record: Record, person: str = "") -> None:
        """A record that can be stored; several people may have labelled the same text."""
        self._records += 1
        self._all_records += 1
        is_first = self._records == 1
        pairs = {(layer, label) for layer, marks in record.marks.items() for label in marks}
        first = set(pairs) if is_first else set()
        for layer, spans in record.spans.items():
            self._spans.add(layer)
            pairs.update((layer, span.label) for span in spans)
            if is_first:
                first.update((layer, span.label) for span in spans if span.start == 0)
        self._labels.update(pairs)
        self._first.update(first)
        if self._all_records <= _COUNTED:
            self._count_text(record, person)

    def _count_text(self, record: Record, person: str) -> None:
        texts = record.document.texts
        number = hash((texts, person))
        self._texts[number] += 1
        if self._texts[number] == 2:
            self._examples[number] = texts[0][1][: _MAX_EXCERPT_CHARS + 1]

    def failures(self) -> Iterator[str]:
        """A sentence if most records of the current file have errors."""
        if not self._faults:
            return
        if not self._records:
            template = ngettext(
                "{file}: no record was imported, {n:,} has an error. Check the format, delimiter "
                "and columns.",
                "{file}: no record was imported, all {n:,} have errors. Check the format, "
                "delimiter and columns.",
                self._faults,
                file=self._file,
            )
            yield template
        elif self._faults > self._records:
            yield _(
                "{file}: most records have errors ({faulty:,} of {all:,}). "
                "Check the format, delimiter and columns.",
                file=self._file,
                faulty=self._faults,
                all=self._faults + self._records,
            )

    def warnings(self) -> Iterator[str]:
        """What is suspicious in the records read so far."""
        yield from self._prefixes()
        yield from self._header()
        yield from self._repeated()

    def _prefixes(self) -> Iterator[str]:
        """Labels that are parts of tags."""
        suspicious_labels: dict[str, list[str]] = {}
        for layer, label in self._labels:
            if label in _HYPHENS:
                suspicious = not self._has_punctuation(layer)
            else:
                alone = len(label) > 1 or layer in self._spans  # B may be the name of a class
                suspicious = alone and _PREFIX.fullmatch(label) is not None
            if suspicious:
                suspicious_labels.setdefault(layer, []).append(label)
        for layer, labels in suspicious_labels.items():
            template = ngettext(
                "Layer {layer}: the label {labels} is a hyphen or a tag prefix without a name. "
                "Check the columns and the tag scheme.",
                "Layer {layer}: the labels {labels} are hyphens or tag prefixes without names. "
                "Check the columns and the tag scheme.",
                len(labels),
                layer=layer,
                labels=_listed(labels),
            )
            yield template

    def _has_punctuation(self, layer: str) -> bool:
        """Whether other punctuation marks are labels of a layer, too, as in some sets of tags."""
        names = [label for name, label in self._labels if name == layer and label not in _HYPHENS]
        return any(not any(map(str.isalnum, name)) for name in names)

    def _header(self) -> Iterator[str]:
        """Labels of first records only that may be the name of a column."""
        for (layer, label), n in self._first.items():
            if self._labels[layer, label] != n:
                continue
            others = [
                count
                for (name, other), count in self._labels.items()
                if name == layer and other != label
            ]
            usual = sum(others) >= _MIN_DOCUMENTS and min(others, default=0) > 1
            if usual or (others and _HEADER.fullmatch(label)):
                yield _(
                    "Layer {layer}: the label {label} occurs in the first record only. Check "
                    "whether that is the header of the file.",
                    layer=layer,
                    label=_listed([label]),
                )

    def _repeated(self) -> Iterator[str]:
        """The text of more than half of the documents."""
        counted = self._texts.total()
        for number, n in self._texts.most_common(1):
            if n < _MIN_DOCUMENTS or n * 2 <= counted:
                continue
            text = self._examples[number]
            excerpt = (
                text[: _MAX_EXCERPT_CHARS - 1] + "…" if len(text) > _MAX_EXCERPT_CHARS else text
            )
            yield ngettext(
                "{n:,} of {all:,} document has the text {text}. Check which column holds the text.",
                "{n:,} of {all:,} documents have the same text ({text}). Check which column holds "
                "the text.",
                counted,
                n=n,
                all=counted,
                text=repr(excerpt),
            )


def _listed(labels: list[str]) -> str:
    listed = ", ".join(repr(label) for label in labels[:_MAX_LISTED_LABELS])
    return f"{listed}, …" if len(labels) > _MAX_LISTED_LABELS else listed
