"""Instructions with answers in JSON: fields as in Alpaca and Dolly, or chat messages.

Each answer of a conversation becomes a document, whose text is what was said before; the documents
of a conversation are one group, which stays in one split.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.importers.base import (
    Fault,
    Guess,
    Item,
    Options,
    Row,
    Skipped,
    Table,
    TableRow,
    check,
    show,
    split_name,
)
from workbench.importers.fields.document_values import metadata
from workbench.importers.json import jsonl
from workbench.importers.source import Source
from workbench.text import conversation
from workbench.text.conversation import ASSISTANT, SYSTEM, USER
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import WRITTEN_TEXT, Layer

LAYER = "answer"
_INSTRUCTIONS = ("instruction", "prompt")
_INPUTS = ("input", "context")
_ANSWERS = ("output", "response", "completion")
_CHATS = ("messages", "conversations")
_SYSTEM = ("system", "system_prompt")
_KEYS = ("id", "prompt_id", "key", "uid")
_PLAIN = {*_INSTRUCTIONS, *_INPUTS, *_ANSWERS, *_CHATS, *_SYSTEM, *_KEYS, "split", "group", "meta"}
_SHARED = {"system": SYSTEM, "human": USER, "user": USER, "gpt": ASSISTANT}  # roles of ShareGPT


class InstructionImporter:
    def sniff(self, head: str, name: str) -> Guess:
        fields = {*(jsonl.first_object(head) or jsonl.keys_in(head))}
        chosen = {"chosen", "rejected"} & fields
        if not jsonl.opens(head) or chosen:
            return Guess(0.0)
        if fields.intersection(_CHATS):
            return Guess(0.9, _("conversations with answers"))
        if fields.intersection(_INSTRUCTIONS) and fields.intersection(_ANSWERS):
            return Guess(0.97, _("instructions with answers"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        rows = [
            TableRow(line, (item.document.text, item.written[LAYER]))
            for line, item in islice(_items(source), limit)
            if not isinstance(item, Fault)
        ]
        columns = (_("instruction"), _("answer"))
        return Table(columns, tuple(rows), (), _("instructions with answers"))

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if options.mapping:
            raise ImportFailed(
                _("{file}: the fields of instructions are fixed.", file=source.name),
                hint=_("Leave --map out."),
            )
        if not any(True for _value in islice(jsonl.values(source), 1)):
            return
        yield Layer(LAYER, WRITTEN_TEXT.id)
        for line, item in _items(source):
            if isinstance(item, Fault):
                yield Skipped(line, str(item))
                continue
            try:
                check(item)
                yield Row(line, item)
            except Fault as fault:
                yield Skipped(line, str(fault))


def _items(source: Source) -> Iterator[tuple[int, Record | Fault]]:
    """The record of each answer, or why a line has none."""
    for line, value in jsonl.values(source):
        try:
            yield from ((line, record) for record in _records(value))
        except Fault as fault:
            yield line, fault


def _records(value: object) -> Iterator[Record]:
    """Raises Fault for a value without an instruction and an answer."""
    if isinstance(value, Fault):
        raise value
    if not isinstance(value, Mapping):
        raise Fault(_("expected an object, found {value}", value=show(value)))
    turns = _turns(value)
    answered = [
        at
        for at, (role, content) in enumerate(turns)
        if at and role == ASSISTANT and content.strip()
    ]
    if not answered:
        raise Fault(_("there is no answer to an instruction"))
    key = next((str(value[name]) for name in _KEYS if value.get(name) not in (None, "")), "")
    group = value.get("group")
    if len(answered) > 1 and group in (None, ""):
        group = key or conversation.written(turns[:2])
    meta = value.get("meta")
    more = {**meta} if isinstance(meta, Mapping) else {}
    more |= {name: value[name] for name in value if name not in _PLAIN}
    for number, at in enumerate(answered, 1):
        document = Document(
            f"{key}-{number}" if key and len(answered) > 1 else key,
            ((TEXT, conversation.written(turns[:at])),),
            split=split_name(value.get("split")),
            group=None if group in (None, "") else str(group),
            meta=metadata(more.items()),
        )
        yield Record(document, {LAYER: "submitted"}, written={LAYER: turns[at][1]})


def _turns(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """All turns of a row. Raises Fault."""
    name = next((name for name in _CHATS if row.get(name)), "")
    if name:
        turns = _messages(row[name], name)
    else:
        prompt = [_text(row, names) for names in (_INSTRUCTIONS, _INPUTS)]
        if not any(prompt):
            raise Fault(_("there is no instruction"))
        turns = [(USER, "\n\n".join(filter(None, prompt))), (ASSISTANT, _text(row, _ANSWERS))]
    system = _text(row, _SYSTEM)
    return [(SYSTEM, system), *turns] if system else turns


def _messages(raw: object, name: str) -> list[tuple[str, str]]:
    if isinstance(raw, list):  # ShareGPT has "from" and "value"
        raw = [
            {"role": _SHARED.get(str(item["from"]), item["from"]), "content": item.get("value")}
            if isinstance(item, Mapping) and "from" in item
            else item
            for item in raw
        ]
    try:
        return conversation.from_json(raw)
    except ValueError:
        message = _("{name!r} is {value}, expected chat messages", name=name, value=show(raw))
        raise Fault(message) from None


def _text(row: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The first of these fields that has a text, "" if none has."""
    values = (row.get(name) for name in names)
    return next((value for value in values if isinstance(value, str) and value.strip()), "").strip()
