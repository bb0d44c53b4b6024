"""Preferences in JSON: a prompt with a chosen and a rejected answer, as `trl` reads them.

Each is a text or a list of chat messages; without a prompt, both answers are whole conversations,
which begin alike (HH-RLHF).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
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
from workbench.text.dataset import Record
from workbench.text.document import Document, choice_names, text_hash, with_choices
from workbench.text.labels import PREFERENCE, Label, Layer

LAYER = "preference"
CHOSEN, REJECTED = "chosen", "rejected"
_PROMPTS = ("prompt", "question", "instruction", "input")
_SYSTEM = ("system", "system_prompt")
_KEYS = ("id", "prompt_id", "key", "uid")
_PLAIN = {*_PROMPTS, *_SYSTEM, *_KEYS, CHOSEN, REJECTED, "split", "group", "meta"}


class PreferenceImporter:
    def sniff(self, head: str, name: str) -> Guess:
        fields = [*(jsonl.first_object(head) or jsonl.keys_in(head))]
        if jsonl.opens(head) and {CHOSEN, REJECTED} <= {*fields}:
            return Guess(0.98, _("a prompt with a chosen and a rejected answer"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        rows = []
        for line, value in jsonl.values(source):
            try:
                document, better = _document(value)
            except Fault:
                continue
            answers = document.choices
            cells = document.text, answers[better], answers[1 - better]
            rows.append(TableRow(line, cells))
            if len(rows) == limit:
                break
        columns = (_("prompt"), _("chosen"), _("rejected"))
        return Table(columns, tuple(rows), (), _("a prompt with a chosen and a rejected answer"))

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if options.mapping:
            raise ImportFailed(
                _("{file}: the fields of preferences are fixed.", file=source.name),
                hint=_("Leave --map out."),
            )
        if not any(True for _value in islice(jsonl.values(source), 1)):
            return
        yield Layer(LAYER, PREFERENCE.id, tuple(map(Label, choice_names(2))), 0)
        for line, value in jsonl.values(source):
            try:
                document, better = _document(value)
                record = Record(document, {LAYER: "submitted"}, {LAYER: (str(better + 1),)})
                check(record)
                yield Row(line, record)
            except Fault as fault:
                yield Skipped(line, str(fault))


def _document(value: object) -> tuple[Document, int]:
    """The document, and the number of the chosen answer from 0. Raises Fault."""
    if isinstance(value, Fault):
        raise value
    if not isinstance(value, Mapping):
        raise Fault(_("expected an object, found {value}", value=show(value)))
    prompt, chosen, rejected = _texts(value)
    better = _place(chosen, rejected)
    answers = (chosen, rejected) if better == 0 else (rejected, chosen)
    key = next((str(value[name]) for name in _KEYS if value.get(name) not in (None, "")), "")
    group, meta = value.get("group"), value.get("meta")
    more = {**meta} if isinstance(meta, Mapping) else {}
    more |= {name: value[name] for name in value if name not in _PLAIN}
    document = replace(
        with_choices(key, prompt, answers),
        split=split_name(value.get("split")),
        group=None if group in (None, "") else str(group),
        meta=metadata(more.items()),
    )
    return document, better


def _place(chosen: str, rejected: str) -> int:
    """Where the chosen answer is: mixed, so that its place says nothing, and always the same."""
    digest = int(text_hash((("", min(chosen, rejected)), ("", max(chosen, rejected)))), 16)
    return digest % 2 if chosen < rejected else 1 - digest % 2


def _texts(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Prompt, chosen and rejected. Raises Fault."""
    chosen, rejected = (_conversation(row, name) for name in (CHOSEN, REJECTED))
    name = next((name for name in _PROMPTS if row.get(name) not in (None, "", [])), "")
    prompt = _messages(row, name) if name else []
    system = next((row[name] for name in _SYSTEM if isinstance(row.get(name), str)), "")
    if system.strip():
        prompt = [(conversation.SYSTEM, system), *prompt]
    shared = conversation.common(chosen, rejected)
    if not name:
        prompt = [*prompt, *chosen[:shared]]
    texts = []
    for field, messages in ((CHOSEN, chosen), (REJECTED, rejected)):
        own = messages[shared:]
        if len(own) != 1 or own[0][0] != conversation.ASSISTANT:
            raise Fault(_("{name!r} does not end with one answer of its own", name=field))
        texts.append(own[0][1])
    if not prompt or prompt[-1][0] != conversation.USER:
        raise Fault(_("there is no prompt of the user before the answers"))
    return conversation.written(prompt), texts[0], texts[1]


def _conversation(row: Mapping[str, Any], name: str) -> list[tuple[str, str]]:
    """The messages of an answer; a text is one message, or a conversation as HH-RLHF has it."""
    value = row.get(name)
    if not isinstance(value, str):
        return _messages(row, name)
    messages = conversation.read(value)
    if len(messages) == 1:
        return [(conversation.ASSISTANT, value)]
    return messages


def _messages(row: Mapping[str, Any], name: str) -> list[tuple[str, str]]:
    value = row.get(name)
    if isinstance(value, str):
        return conversation.read(value)
    try:
        return conversation.from_json(value)
    except ValueError:
        raise Fault(
            _("{name!r} is {value}, expected a text or chat messages", name=name, value=show(value))
        ) from None
