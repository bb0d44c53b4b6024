"""Roles of columns:

`role=column` pairs specified by the user, or detected from the column names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.importers.fields import list_fields, table_cells
from workbench.text.formulas import ESCAPED_COLUMN
from workbench.text.labels import CLUSTER, MULTI, LayerKind

CHOICE, CHOICES, QUESTION, ANSWER = "choice", "choices", "question", "answer"
PREFERRED = "preferred"  # the better of several choices, or TIE
TOKENS = "tokens"  # a list of the tokens of the text
PERSON = "person"  # whose labels a record has
PLAIN = ("id", "text", "text_b", TOKENS, "split", "group", PERSON, QUESTION, CHOICES, CHOICE)
SCORE, WRITTEN = "score", "written"  # a number, and a text, of a document
LABELS, CHAINS = "labels", "chains"  # several classes; spans of chains
# These take a name: label:LAYER, meta:NAME.
NAMED = ("label", LABELS, "tag", "spans", CHAINS, "meta", ANSWER, PREFERRED, SCORE, WRITTEN)
KINDS = {LABELS: MULTI, CHAINS: CLUSTER}  # role → the kind of its layer, if it is not the usual one
CLASSES = ("label", LABELS)
# with these, records are not only questions with choices
_BESIDE_CHOICES = ("text_b", "label", LABELS, "tag", "spans", CHAINS, PREFERRED, SCORE, WRITTEN)
OF_CHOICES = (ANSWER, PREFERRED)
TAG, SPANS = IN_TEXT = ("tag", "spans")
REPEATABLE = (*IN_TEXT, LABELS)  # several columns of these may share a layer
MAX_COLUMNS = 10_000  # a table of texts has fewer columns; more would fill the memory
ROLES = (
    "id, text, text_b, tokens, label:LAYER, labels:LAYER, tag:LAYER, spans:LAYER, chains:LAYER, "
    "score:LAYER, written:LAYER, split, group, person, meta:NAME, question, choices, choice, "
    "answer:LAYER, preferred:LAYER"
)
_NUMBERED = re.compile(r"choice_\d+")  # columns of choices that our own export writes

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
    "classes",
    "categories",
    "topics",
    "column_label",
    "annotation",
    "entailment_label",
    "entailment_judgment",
)
_PERSON = ("annotator", "annotator_id", "annotator_name", "annotated_by", "worker_id", "workerid")
_SCORE = (
    "score",
    "similarity",
    "similarity_score",
    "relatedness",
    "relatedness_score",
)


HEADERS = (  # names of columns by which a header is recognized
    frozenset(name for names in _NAMES.values() for name in names)
    | set(_LABEL)
    | {"nr", "no", "text", "number", "index"}
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
        return self.kind in IN_TEXT

    @property
    def text(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else self.kind


def parse(mapping: Iterable[tuple[str, str]], *, asks: bool = False) -> tuple[Role, ...]:
    """Raises ImportFailed for an unknown role, a missing name, or a role given twice.

    asks: questions may be answered from the text, so that they need no choices.

    Several columns may hold tags or spans of the same layer: nested levels, for example; and
    several indicators of its classes.
    """
    parsed_roles: dict[Role, None] = {}
    taken: set[str] = set()
    for role, column in mapping:
        kind, _colon, name = role.partition(":")
        kind, name = kind.strip(), name.strip()
        if kind in NAMED and not name:
            raise ImportFailed(
                _(
                    "The role {role!r} needs a name, as in {kind}:{what}.",
                    role=role,
                    kind=kind,
                    what="NAME" if kind == "meta" else "LAYER",
                )
            )
        if kind not in PLAIN + NAMED or (kind in PLAIN and name):
            raise ImportFailed(
                _("There is no role {role!r}.", role=role),
                hint=_("Known: {roles}.", roles=ROLES),
            )
        parsed = Role(kind, name, column)
        if parsed.text in taken and kind not in (*REPEATABLE, CHOICE):
            raise ImportFailed(_("The role {role!r} is given twice.", role=role))
        taken.add(parsed.text)
        parsed_roles[parsed] = None
    if not asks:
        _check_choices(tuple(parsed_roles))
    return tuple(parsed_roles)


def _check_choices(parsed_roles: tuple[Role, ...]) -> None:
    """Raises ImportFailed for a question or an answer without choices."""
    kinds = {role.kind for role in parsed_roles}
    for item in parsed_roles:
        if item.kind in (QUESTION, *OF_CHOICES) and not kinds & {CHOICE, CHOICES}:
            raise ImportFailed(
                _(
                    "The role {role!r} is for multiple choice, and no column has choices.",
                    role=item.text,
                ),
                hint=_("Specify choice=FIELD for each choice, or choices=FIELD for a list."),
            )


def resolved(
    mapping: Iterable[tuple[str, str]], columns: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """The pairs, where a column may be named without the role in its name: `topic` for
    `label:topic`.
    """
    named: dict[str, list[str]] = {}
    for _role, column in written_in(columns):
        named.setdefault(column.partition(":")[2].strip(), []).append(column)
    pairs = []
    for role, column in mapping:
        others = named.get(column, ()) if column not in columns else ()
        pairs.append((role, others[0] if len(others) == 1 else column))
    return tuple(pairs)


def chooses(mapping: Iterable[tuple[str, str]]) -> bool:
    """Whether the roles are those of multiple choice, and none is for other documents."""
    kinds = {role.partition(":")[0].strip() for role, _column in mapping}
    return bool(kinds & {CHOICE, CHOICES}) and not kinds & {*_BESIDE_CHOICES}


def written_in(columns: Iterable[str]) -> list[tuple[str, str]]:
    """(role, column) of the columns that are named like a role, as our own export names them:
    `label:topic`. Columns of choices belong to an `answer:LAYER` or `preferred:LAYER`.
    """
    roles: dict[str, str] = {}
    numbered = []
    for column in columns:
        kind, _colon, name = column.strip().partition(":")
        if kind in NAMED and kind != "meta" and name.strip():
            roles.setdefault(f"{kind}:{name.strip()}", column)
        elif _NUMBERED.fullmatch(column):
            numbered.append((CHOICE, column))
    if not numbered:
        roles = {role: its for role, its in roles.items() if not role.startswith(OF_CHOICES)}
    answers = any(role.startswith(OF_CHOICES) for role in roles)
    return [*roles.items(), *(numbered if answers else ())]


def asks(mapping: Iterable[tuple[str, str]]) -> bool:
    """Whether the roles are those of questions with answers in a text."""
    kinds = {role.partition(":")[0].strip() for role, _column in mapping}
    return QUESTION in kinds and "answer" in kinds and not kinds & {CHOICE, CHOICES}


def hinted(mapped: Iterable[Role]) -> list[tuple[str, LayerKind]]:
    """(layer, kind) of the roles whose layers are not of the usual kind."""
    return [(role.name, KINDS[role.kind]) for role in mapped if role.kind in KINDS]


def with_text(
    roles: tuple[Role, ...], guessed: Iterable[tuple[str, str]], file: str
) -> tuple[Role, ...]:
    """The roles, with the detected columns of the text, or of both texts of a pair, if none was
    specified.

    Raises ImportFailed if the column of the text has another role.
    """
    if any(role.kind == "text" for role in roles):
        return roles
    texts = dict(guessed)
    column, second = texts.get("text", ""), texts.get("text_b", "")
    if not column or any(role.column == column for role in roles):
        raise ImportFailed(
            _("Which column of {file} holds the text?", file=file),
            hint=_("Specify it with text=COLUMN."),
        )
    taken = any(role.column == second or role.kind == "text_b" for role in roles)
    pair = (Role("text_b", "", second),) if second and not taken else ()
    return (Role("text", "", column), *pair, *roles)


def check_columns(roles: Iterable[Role], columns: Sequence[str], file: str) -> None:
    """Raises ImportFailed if a role names a missing column."""
    known = set(columns)
    for role in roles:
        if role.column not in known:
            raise ImportFailed(
                _(
                    "{file} has no column {column!r} (for {text}).",
                    file=file,
                    column=role.column,
                    text=role.text,
                ),
                hint=_(
                    "Its columns: {names}.",
                    names=", ".join(str(name)[:40] for name in columns[:20]) or _("none"),
                ),
            )


def guess(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    class_layer: str,
    pair_layer: str,
    span_layer: str = SPANS,
) -> tuple[tuple[str, str], ...]:
    """(role, column) pairs from the column names; without a known name the longest column is the
    text.

    All other columns become metadata, so that nothing is lost.
    """
    cells = {column: [row[n] for row in rows if n < len(row)] for n, column in enumerate(columns)}
    left = [column for column in columns if column != ESCAPED_COLUMN]
    mapping: list[tuple[str, str]] = []

    def take(role: str, names: Sequence[str]) -> None:
        for name in names:
            for column in left:
                if column.strip().lower() == name:
                    mapping.append((role, column))
                    left.remove(column)
                    return

    written = [pair for pair in written_in(left) if _fits(pair[0], cells[pair[1]])]
    in_text = [column for column in left if table_cells.are_spans(cells[column])]
    for column in {*in_text, *(column for _role, column in written)}:
        left.remove(column)
    lists = _lists_in({column: cells[column] for column in left})
    text = next(
        (
            column
            for name in _NAMES["text"]
            for column in left
            if column.strip().lower() == name and column not in lists
        ),
        "",
    )
    words, tags = list_fields.tokens_and_tags({text: cells.get(text, ()), **lists}, text)
    words = words or ("" if text else list_fields.tokens_alone(lists))
    mapping += [("text", text or words)] if text or words else []
    mapping += [(TOKENS, words)] if words and text else []
    layers = list_fields.layers_of(lists, tags, span_layer=span_layer)
    mapping += [(f"{TAG}:{layer}", column) for column, layer in layers.items()]
    for _role, column in mapping:
        left.remove(column)
    if not mapping and (longest := _longest(left, rows, columns)):
        mapping.append(("text", longest))
        left.remove(longest)
    if any(role == CHOICE for role, _column in written):
        take(QUESTION, (QUESTION,))
    for role in ("text_b", "id", "split", "group"):
        take(role, _NAMES[role])
    paired = any(role == "text_b" and any(map(filled, cells[its])) for role, its in mapping)
    take(f"label:{pair_layer if paired else class_layer}", _LABEL)
    mapping = [_several(role, column, cells[column], columns) for role, column in mapping]
    mapping += written
    known = {column for _role, column in written}
    in_text = [column for column in in_text if column not in known]
    mapping += [(f"{SPANS}:{table_cells.span_layer(name, span_layer)}", name) for name in in_text]
    mapping += _tagged(mapping, left, cells, span_layer)
    if not any(role.partition(":")[0] in (*CLASSES, *IN_TEXT) for role, _column in mapping):
        layer = pair_layer if paired else class_layer
        indicators = list_fields.indicator_columns({column: cells[column] for column in left})
        mapping += [(f"{LABELS}:{layer}", column) for column in indicators]
    mapping += [(role, column) for role, column in scores(cells) if column in left]
    texts = next((cells[column] for role, column in mapping if role == "text"), ())
    mapping += [(role, its) for role, its in people({key: cells[key] for key in left}, texts)]
    used = {column for _role, column in mapping}
    mapping += metadata(column for column in left if column not in used)
    return tuple(mapping)


def _lists_in(cells: Mapping[str, Sequence[str]]) -> dict[str, list[object]]:
    """The values of the columns all of whose cells hold lists."""
    lists: dict[str, list[object]] = {}
    for column, its in cells.items():
        values = [table_cells.list_of(cell) for cell in its]
        some = [value for value, cell in zip(values, its, strict=True) if cell.strip()]
        if some and None not in some:
            lists[column] = list(values)
    return lists


def several(mapped: Iterable[Role]) -> list[tuple[str, str]]:
    """(layer, column) of the roles of several classes."""
    return [(role.name, role.column) for role in mapped if role.kind == LABELS]


def _fits(role: str, cells: Sequence[str]) -> bool:
    """Whether the cells of a column are what its name says."""
    kind = role.partition(":")[0]
    if kind == SCORE:
        return all(map(_may_be_score, cells))
    if kind in (SPANS, CHAINS):
        return table_cells.are_spans(cells) or not any(cell.strip(" []") for cell in cells)
    return True


def _several(
    role: str, column: str, cells: Sequence[str], columns: Sequence[str]
) -> tuple[str, str]:
    """The pair of a column of classes with the role of several, if its cells have lists."""
    kind, _colon, name = role.partition(":")
    if kind == "label" and table_cells.are_several(cells, column, columns):
        return f"{LABELS}:{name}", column
    return role, column


def _tagged(
    mapping: Sequence[tuple[str, str]],
    left: Sequence[str],
    cells: Mapping[str, Sequence[str]],
    layer: str,
) -> list[tuple[str, str]]:
    """(role, column) of columns with a tag for each word of the text."""
    texts = next((cells[column] for role, column in mapping if role == "text"), ())
    used = {column for _role, column in mapping}
    return [
        (f"{TAG}:{layer}", column)
        for column in left
        if column not in used and table_cells.are_tags(cells[column], texts)
    ][:1]


def scores(cells: Mapping[str, Sequence[object]]) -> list[tuple[str, str]]:
    """(role, column) of the first column that is named like a score and has only numbers."""
    for column, values in cells.items():
        name = column.strip().lower()
        if name in _SCORE and any(map(filled, values)) and all(map(_may_be_score, values)):
            return [(f"{SCORE}:{name}", column)]
    return []


def people(cells: Mapping[str, Sequence[object]], texts: Sequence[object]) -> list[tuple[str, str]]:
    """(role, column) of the column that says who labelled a record, if several have one text."""
    for column, values in cells.items():
        if column.strip().lower() in _PERSON:
            pairs = {
                (str(text), str(who))
                for text, who in zip(texts, values, strict=False)
                if filled(who)
            }
            if len(pairs) > len({text for text, _who in pairs}):
                return [(PERSON, column)]
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
    columns_by_name: dict[str, str] = {}
    for column in columns:
        name = base_name = column.strip() or "column"
        number = 1
        while name in columns_by_name:
            number += 1
            name = f"{base_name} ({number})"
        columns_by_name[name] = column
    return [(f"meta:{name}", column) for name, column in columns_by_name.items()]


def _longest(
    left: Sequence[str], rows: Sequence[Sequence[str]], columns: Sequence[str]
) -> str | None:
    """Of the columns `left`, the one with most characters; `columns` are all of the rows."""
    sizes = {
        column: sum(len(row[n]) for row in rows if n < len(row))
        for n, column in enumerate(columns)
        if column in left
    }
    return max(sizes, key=lambda column: sizes[column], default=None)
