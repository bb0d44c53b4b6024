"""Constraints on the columns of the project file: storage class, allowed values, references.

`integrity` checks rows and the history against them; `checksums` covers all columns listed here.
`migrations` creates the tables; a test compares both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbench.text.document import SPLITS
from workbench.text.document import TEXT as DEFAULT_FIELD
from workbench.text.labels import READ_ONLY

IS_READ_ONLY = f"ifnull(json_extract(options, '$.{READ_ONLY}'), 0)"  # condition on a layer
STATES = ("pending", "draft", "submitted", "discarded")
SOURCE_KINDS = ("person", "import", "rule", "run", "prompt", "merge")
PATTERN_KINDS = ("words", "regex")
SUGGESTION_STATUSES = ("open", "accepted", "rejected")
RUN_STATUSES = (
    "waiting",
    "running",
    "done",
    "stopped",
    "failed",
    "out_of_memory",
    "crashed",
    "interrupted",
    "cancelled",
)


@dataclass(frozen=True)
class ColumnRules:
    """Constraints on one column.

    `storage`: "integer", "real", "text", "blob", "content" (text that may be stored as a blob) or
    "value" (text or number). `rule`: an SQL condition in which `{c}` stands for the value; it may
    call the functions of `value_check.register`. `null`: whether NULL is allowed. `refers`: the
    table whose ids the column holds. `exact`: ASCII text written by this program, which enters the
    checksum itself; of other text, a CRC enters it. `common`: ASCII text that most rows hold.
    """

    storage: str
    rule: str = ""
    null: bool = False
    refers: str = ""
    exact: bool = False
    common: str = ""

    @property
    def optional(self) -> ColumnRules:
        """A copy of the column that allows NULL."""
        return replace(self, null=True)


def _one_of(words: tuple[str, ...]) -> ColumnRules:
    listed = ", ".join(f"'{word}'" for word in words)
    return ColumnRules("text", f"{{c}} in ({listed})", exact=True)


def _ref(table: str) -> ColumnRules:
    return ColumnRules("integer", refers=table)


def _hex(digits: int) -> ColumnRules:
    rule = f"length({{c}}) = {digits} and {{c}} not glob '*[^0-9a-f]*'"
    return ColumnRules("text", rule, exact=True)


_TWO_DIGITS = "[0-9][0-9]"
NUMBER = ColumnRules("integer")
ID = ColumnRules("integer", "{c} > 0")
COUNT = ColumnRules("integer", "{c} >= 0")
FLAG = ColumnRules("integer", "{c} in (0, 1)")
REAL = ColumnRules("real")
TEXT = ColumnRules("text")
WORD = ColumnRules("text", exact=True)
NAME = ColumnRules("text", "{c} != ''")
FIELD = replace(NAME, common=DEFAULT_FIELD)
UID = _hex(16)
HASH = _hex(32)
_DATE = f"{_TWO_DIGITS * 2}-{_TWO_DIGITS}-{_TWO_DIGITS}"
_CLOCK = f"{_TWO_DIGITS}:{_TWO_DIGITS}:{_TWO_DIGITS}"
TIME = ColumnRules("text", f"{{c}} glob '{_DATE}T{_CLOCK}Z'", exact=True)
JSON = ColumnRules("text", "json_kind({c}) = 'dict'")
OFFSETS = ColumnRules("blob", "length({c}) % 8 = 0")
SPLIT = _one_of(SPLITS).optional
STATE = _one_of(STATES)

_AT_DOCUMENT = {"id": ID, "document_id": _ref("document"), "layer_id": _ref("layer")}
_BY = {
    "annotator_id": _ref("annotator").optional,
    "source_id": _ref("source"),
    "score": REAL.optional,
}

JOURNALED: Mapping[str, Mapping[str, ColumnRules]] = {
    "layer": {
        "id": ID,
        "uid": UID,
        "name": NAME,
        "kind": ColumnRules("text", "table_of_kind({c}) != ''", exact=True),
        "options": replace(JSON, rule="texts_of({c}) >= 0", null=True),
        "guideline": TEXT,
        "gold": _ref("annotator"),
    },
    "label": {
        "id": ID,
        "uid": UID,
        "layer_id": _ref("layer"),
        "parent_id": _ref("label").optional,
        "name": NAME,
        "colour": TEXT,
        "key": TEXT,
        "description": TEXT,
        "position": COUNT,
    },
    "source": {
        "id": ID,
        "kind": _one_of(SOURCE_KINDS),
        "ref": TEXT,
        "annotator_id": _ref("annotator").optional,
        "at": TIME,
    },
    "document": {
        "id": ID,
        "uid": UID,
        "key": TEXT,
        "split": SPLIT,
        "fold_group": TEXT.optional,
        "meta": JSON.optional,
        "batch_source_id": _ref("source").optional,
        "text_hash": HASH,
        "length": COUNT,
        "texts": COUNT,  # 0 for documents with choices
    },
    "body": {
        "id": ID,
        "document_id": _ref("document"),
        "field": FIELD,
        "content": ColumnRules("content"),
    },
    "tokens": {
        "id": ID,
        "document_id": _ref("document"),
        "field": FIELD,
        "borders": OFFSETS,
        "sentences": OFFSETS.optional,
    },
    "state": {
        **_AT_DOCUMENT,
        "annotator_id": _ref("annotator"),
        "state": STATE,
        "at": TIME,
    },
    "mark": {
        **_AT_DOCUMENT,
        "label_id": _ref("label").optional,
        "value": REAL.optional,
        **_BY,
    },
    "span": {
        "id": ID,
        "uid": UID,
        "document_id": _ref("document"),
        "field": FIELD,
        "layer_id": _ref("layer"),
        "label_id": _ref("label").optional,
        "start": COUNT,
        "end": COUNT,
        "parts": replace(JSON, rule="json_kind({c}) = 'list'", null=True),
        "attrs": JSON.optional,
        "group_id": NUMBER.optional,
        **_BY,
    },
    "relation": {
        "id": ID,
        "uid": UID,
        "document_id": _ref("document"),
        "layer_id": _ref("layer"),
        "label_id": _ref("label").optional,
        "from_span": _ref("span"),
        "to_span": _ref("span"),
        "attrs": JSON.optional,
        **_BY,
    },
    "answer": {
        **_AT_DOCUMENT,
        "question": TEXT,
        "field": FIELD,
        "start": COUNT.optional,
        "end": COUNT.optional,
        "text": TEXT.optional,
        "is_null": FLAG,
        "attrs": JSON.optional,
        **_BY,
    },
    "suggestion": {
        **_AT_DOCUMENT,
        "label_id": _ref("label").optional,
        "kind": _one_of(("class", "span")),
        "field": FIELD,
        "start": COUNT.optional,
        "end": COUNT.optional,
        "value": REAL.optional,
        "score": REAL.optional,
        "source_id": _ref("source"),
        "run_id": NUMBER.optional,
        "status": _one_of(SUGGESTION_STATUSES),
        "at": TIME.optional,
    },
    "note": {
        "id": ID,
        "uid": UID,
        "document_id": _ref("document").optional,
        "body": TEXT,
        "annotator_id": _ref("annotator").optional,
        "at": TIME,
        "span_id": _ref("span").optional,
    },
    "flag": {
        "id": ID,
        "document_id": _ref("document"),
        "name": NAME,
        "annotator_id": _ref("annotator").optional,
        "at": TIME,
        "span_id": _ref("span").optional,
    },
    "saved_filter": {"id": ID, "uid": UID, "name": NAME, "spec": JSON},
    "prompt": {"id": ID, "uid": UID, "name": TEXT},
    "prompt_version": {
        "id": ID,
        "prompt_id": _ref("prompt"),
        "number": ID,
        "body": TEXT,
        "parent_id": _ref("prompt_version").optional,
        "at": TIME,
        "spec": JSON,
    },
    "pattern": {
        "id": ID,
        "uid": UID,
        "label_id": _ref("label"),
        "kind": _one_of(PATTERN_KINDS),
        "body": NAME,
        "whole_words": FLAG,
        "match_case": FLAG,
        "active": FLAG,
        "note": TEXT,
    },
}
"""The tables whose changes can be undone, in the order of `migrations.JOURNALED`."""

OTHERS: Mapping[str, Mapping[str, ColumnRules]] = {
    "meta": {"key": WORD, "value": ColumnRules("value")},
    "annotator": {"id": ID, "uid": UID, "name": TEXT},
    "run": {
        "id": ID,
        "uid": UID,
        "name": NAME,
        "kind": WORD,
        "parent_id": NUMBER.optional,
        "layer_id": NUMBER.optional,
        "spec": JSON.optional,
        "base_fingerprint": WORD,
        "data_fingerprint": WORD,
        "test_fingerprint": WORD,
        "status": _one_of(RUN_STATUSES),
        "scores": JSON.optional,
        "result": JSON.optional,
        "versions": JSON.optional,
        "seen_test": COUNT,
        "at": TIME,
    },
    "prediction": {
        "run_id": _ref("run"),
        "document_id": ID,
        "text_hash": HASH,
        "payload": JSON,
    },
    "journal_step": {
        "id": ID,
        "title": TEXT,
        "undone": ColumnRules("integer", "{c} in (0, 1, 2)"),
        "at": TIME,
        "rows": COUNT,
        "size": COUNT,
    },
}

TABLES: Mapping[str, Mapping[str, ColumnRules]] = {**JOURNALED, **OTHERS}

_SINCE = {"pattern": 3}  # table → the first version of the file that has it


def of_version(version: int) -> tuple[str, ...]:
    """Names of the tables that files of this version have, in the order of `TABLES`."""
    return tuple(table for table in TABLES if _SINCE.get(table, 1) <= version)
