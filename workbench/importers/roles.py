"""Roles of columns:

`role=column` pairs specified by the user, or detected from the column names.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.text.formulas import ESCAPED_COLUMN

CHOICE, CHOICES, QUESTION, ANSWER = "choice", "choices", "question", "answer"
PLAIN = ("id", "text", "text_b", "split", "group", QUESTION, CHOICES, CHOICE)
SCORE, WRITTEN = "score", "written"  # a number, and a text, of a document
# These take a name: label:LAYER, meta:NAME.
NAMED = ("label", "tag", "spans", "meta", ANSWER, SCORE, WRITTEN)
TAG, SPANS = REPEATABLE = ("tag", "spans")  # several columns of these may share a layer
MOST_COLUMNS = 10_000  # a table of texts has fewer columns; more would fill the memory
ROLES = (
    "id, text, text_b, label:LAYER, tag:LAYER, spans:LAYER, score:LAYER, written:LAYER, split, "
    "group, meta:NAME, question, choices, choice, answer:LAYER"
)

_NAMES = {
    "text": ("text", "text_a", "sentence", "sentence1", "sentence_a", "premise", "content", "data",
             "column_data", "message", "body", "document", "review", "tweet", "utterance",
             "question", "comment", "words", "title"),
    "text_b": ("text_b", "sentence2", "sentence_b", "hypothesis", "text_pair", "text2"),
    "id": ("id", "key", "uid", "guid", "doc_id", "document_id", "pair_id"),
    "split": ("split", "partition"),
    "group": ("group", "doc", "author", "user_id"),
}  # fmt: skip
_LABEL = (
    "label",
    "labels",
    "class",
    "category",
    "target",
    "gold_label",
    "gold",
    "sentiment",
    "intent",
    "topic",
    "column_label",
    "annotation",
    "entailment_label",
    "entailment_judgment",
)
_SCORE = (
    "score",
    "similarity",
    "similarity_score",
    "relatedness",
    "relatedness_score",
)


@dataclass(frozen=True)
class Role:
    """`kind` is one of PLAIN or NAMED; `name` is the layer or the name of the metadata."""

    kind: str
    name: str
    column: str

    @property
    def is_tag(self) -> bool:
        """A tag for each token, with or without scheme prefixes."""
        return self.kind == TAG

    @property
    def in_text(self) -> bool:
        """Labels with offsets: tags or spans."""
        return self.kind in REPEATABLE

    @property
    def text(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else self.kind


def parse(mapping: Iterable[tuple[str, str]], *, asks: bool = False) -> tuple[Role, ...]:
    """Raises ImportFailed for an unknown role, a missing name, or a role given twice.

    asks: questions may be answered from the text, so that they need no choices.

    Several columns may hold tags or spans of the same layer: nested levels, for example.
    """
    found: dict[Role, None] = {}
    taken: set[str] = set()
    for role, column in mapping:
        kind, _colon, name = role.partition(":")
        kind, name = kind.strip(), name.strip()
        if kind in NAMED and not name:
            raise ImportFailed(
                _("The role {role!r} needs a name, as in {kind}:{what}.").format(
                    role=role, kind=kind, what="NAME" if kind == "meta" else "LAYER"
                )
            )
        if kind not in PLAIN + NAMED or (kind in PLAIN and name):
            raise ImportFailed(
                _("There is no role {role!r}.").format(role=role),
                hint=_("Known: {roles}.").format(roles=ROLES),
            )
        parsed = Role(kind, name, column)
        if parsed.text in taken and kind not in (*REPEATABLE, CHOICE):
            raise ImportFailed(_("The role {role!r} is given twice.").format(role=role))
        taken.add(parsed.text)
        found[parsed] = None
    if not asks:
        _check_choices(tuple(found))
    return tuple(found)


def _check_choices(found: tuple[Role, ...]) -> None:
    """Raises ImportFailed for a question or an answer without choices."""
    kinds = {role.kind for role in found}
    for item in found:
        if item.kind in (QUESTION, ANSWER) and not kinds & {CHOICE, CHOICES}:
            raise ImportFailed(
                _("The role {role!r} is for multiple choice, and no column has choices.").format(
                    role=item.text
                ),
                hint=_("Specify choice=FIELD for each choice, or choices=FIELD for a list."),
            )


def chooses(mapping: Iterable[tuple[str, str]]) -> bool:
    """Whether the roles are those of multiple choice."""
    return any(role in (CHOICE, CHOICES) for role, _column in mapping)


def asks(mapping: Iterable[tuple[str, str]]) -> bool:
    """Whether the roles are those of questions with answers in a text."""
    kinds = {role.partition(":")[0].strip() for role, _column in mapping}
    return QUESTION in kinds and "answer" in kinds and not kinds & {CHOICE, CHOICES}


def with_text(
    roles: tuple[Role, ...], guessed: Iterable[tuple[str, str]], file: str
) -> tuple[Role, ...]:
    """The roles, with the detected text column if none was specified.

    Raises ImportFailed if that column has another role.
    """
    if any(role.kind == "text" for role in roles):
        return roles
    column = dict(guessed).get("text", "")
    if not column or any(role.column == column for role in roles):
        raise ImportFailed(
            _("Which column of {file} holds the text?").format(file=file),
            hint=_("Specify it with text=COLUMN."),
        )
    return (Role("text", "", column), *roles)


def check_columns(roles: Iterable[Role], columns: Sequence[str], file: str) -> None:
    """Raises ImportFailed if a role names a missing column."""
    known = set(columns)
    for role in roles:
        if role.column not in known:
            raise ImportFailed(
                _("{file} has no column {column!r} (for {text}).").format(
                    file=file, column=role.column, text=role.text
                ),
                hint=_("Its columns: {names}.").format(
                    names=", ".join(str(name)[:40] for name in columns[:20]) or _("none")
                ),
            )


def guess(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, class_layer: str, pair_layer: str
) -> tuple[tuple[str, str], ...]:
    """(role, column) pairs from the column names; without a known name the longest column is the
    text.

    All other columns become metadata, so that nothing is lost.
    """
    left = [column for column in columns if column != ESCAPED_COLUMN]
    found: list[tuple[str, str]] = []

    def take(role: str, names: Sequence[str]) -> None:
        for name in names:
            for column in left:
                if column.strip().lower() == name:
                    found.append((role, column))
                    left.remove(column)
                    return

    take("text", _NAMES["text"])
    if not found and (longest := _longest(columns, rows)):
        found.append(("text", longest))
        left.remove(longest)
    for role in ("text_b", "id", "split", "group"):
        take(role, _NAMES[role])
    take(
        f"label:{pair_layer if any(role == 'text_b' for role, _ in found) else class_layer}", _LABEL
    )
    cells = {column: [row[n] for row in rows if n < len(row)] for n, column in enumerate(columns)}
    found += [(role, column) for role, column in scores(cells) if column in left]
    used = {column for _role, column in found}
    found += metadata(column for column in left if column not in used)
    return tuple(found)


def scores(cells: Mapping[str, Sequence[object]]) -> list[tuple[str, str]]:
    """(role, column) of the first column that is named like a score and has only numbers."""
    for column, values in cells.items():
        name = column.strip().lower()
        if name in _SCORE and any(map(filled, values)) and all(map(_may_be_score, values)):
            return [(f"{SCORE}:{name}", column)]
    return []


def filled(value: object) -> bool:
    """Whether a cell has a value."""
    return value is not None and not (isinstance(value, str) and not value.strip())


def _may_be_score(value: object) -> bool:
    try:
        return not filled(value) or math.isfinite(float(str(value)))
    except ValueError:
        return False


def metadata(columns: Iterable[str]) -> list[tuple[str, str]]:
    """(role, column) pairs for columns of metadata.

    Names that differ in the spaces around them only, and blank ones, are numbered.
    """
    found: dict[str, str] = {}
    for column in columns:
        name = wanted = column.strip() or "column"
        number = 1
        while name in found:
            number += 1
            name = f"{wanted} ({number})"
        found[name] = column
    return [(f"meta:{name}", column) for name, column in found.items()]


def _longest(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str | None:
    if not columns:
        return None
    sizes = [sum(len(row[n]) for row in rows if n < len(row)) for n in range(len(columns))]
    return columns[sizes.index(max(sizes))]
