"""Inputs of a model that continues a conversation with given replies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from workbench.runtime.chat_template import MAX_PROMPT_CHARS
from workbench.runtime.conversation import Conversation, Turns, encoded
from workbench.runtime.inputs import EncodedInput, Prepared, Preparer
from workbench.runtime.preparers.subwords import Subwords
from workbench.runtime.tokenizer import Tokenizer
from workbench.text import conversation
from workbench.text.document import Document

TRUNCATIONS = 4  # of the turns of a conversation, before its beginning is left out
REPLIED = "replied"  # array float32 (T,): 1 at the tokens of the reply, see `compared`
REPLY = 1  # `EncodedInput.text` at the tokens of the reply and its end, which are learned


def prompt_ids(tokenizer: Tokenizer, turns: Turns) -> list[int]:
    """What the model reads before its reply, at least one token.

    Raises WorkbenchError if the chat template fails.
    """
    return Conversation(tokenizer.chat).ids(turns, tokenizer) or [tokenizer.fallback]


def prompts(tokenizer: Tokenizer, documents: Sequence[Document], max_length: int) -> Prepared:
    """The text of each document as a conversation, up to where its answer begins.

    Where it is too long, the end of its longest turn is left out.
    """
    rows = [_shortened(tokenizer, document.text, max_length) for document in documents]
    inputs = [_input(ids, [], [], len(ids), cut=cut) for ids, cut in rows]
    cut = np.fromiter((was_cut for _encoded, was_cut in inputs), bool, len(inputs))
    return Prepared(list(documents), [item for item, _cut in inputs], np.arange(len(rows)), cut)


def _shortened(tokenizer: Tokenizer, text: str, most: int) -> tuple[list[int], bool]:
    """The tokens of a conversation, and whether it was truncated."""
    turns = conversation.read(text[: MAX_PROMPT_CHARS // 2])
    for attempt in range(TRUNCATIONS):
        ids = prompt_ids(tokenizer, turns)
        if (over := len(ids) - most) <= 0:
            return ids, attempt > 0
        place = max(range(len(turns)), key=lambda at: len(turns[at][1]))
        role, content = turns[place]
        _ids, offsets = encoded(tokenizer.backend, content, special=False)
        turns[place] = role, content[: offsets[-over - 1][1]] if len(offsets) > over else ""
    return prompt_ids(tokenizer, turns)[-most:], True


def answered(tokenizer: Tokenizer, answer: str) -> list[int]:
    """The tokens of an answer to a conversation, and its `ending`."""
    return _reply(tokenizer, answer, ending(tokenizer))[0]


def ending(tokenizer: Tokenizer) -> list[int]:
    """What the chat template writes after an answer, up to the end of a text; () without one."""
    if tokenizer.end is None:
        return []
    after = Conversation(tokenizer.chat).after_answer
    ids = encoded(tokenizer.backend, after, special=True)[0]
    return (
        [*ids[: ids.index(tokenizer.end)], tokenizer.end]
        if tokenizer.end in ids
        else [tokenizer.end]
    )


def replied(
    tokenizer: Tokenizer, turns: Turns, replies: Sequence[str], max_length: int
) -> list[tuple[EncodedInput, bool]]:
    """An input for each reply to the turns, which ends with the end of a text, and whether it was
    truncated.

    All replies follow the same tokens: the beginning of the turns is left out so far that the
    longest reply fits, down to half of an input; then the end of a reply is. The tokens before a
    reply have `text` -1, and offsets are of the reply.
    """
    before = prompt_ids(tokenizer, turns)
    after = ending(tokenizer)
    every = [_reply(tokenizer, reply, after) for reply in replies]
    longest = max((len(ids) for ids, _offsets in every), default=0)
    room = max(1, max_length // 2, max_length - longest)
    head = before[-room:]
    return [
        _input(head, ids, offsets, max_length, cut=len(head) < len(before))
        for ids, offsets in every
    ]


def compared(
    preparer: Preparer,
    documents: Sequence[Document],
    conversations: Sequence[tuple[Turns, Sequence[str]]],
    max_length: int,
) -> Prepared:
    """An input for each reply to the turns of each document, with the array REPLIED.

    preparer: `Subwords`, as of all causal models of transformers.
    """
    tokenizer = cast(Subwords, preparer).tokenizer
    rows = [replied(tokenizer, turns, some, max_length) for turns, some in conversations]
    items = [item for row in rows for item in row]
    inputs = [
        replace(
            encoded,
            arrays={**encoded.arrays, REPLIED: (encoded.text == REPLY).astype(np.float32)},
        )
        for encoded, _cut in items
    ]
    cut = np.fromiter((was_cut for _encoded, was_cut in items), bool, len(items))
    single = Prepared(list(documents), inputs, np.arange(len(inputs)), cut)
    return single.joint(documents, list(map(len, rows)))


def _reply(
    tokenizer: Tokenizer, reply: str, after: Sequence[int]
) -> tuple[list[int], list[tuple[int, int]]]:
    """The tokens of a reply and of what ends it, with their offsets."""
    clean = reply.encode("utf-8", "replace").decode()  # lone surrogates are not valid Unicode
    ids, offsets = encoded(tokenizer.backend, clean, special=False)
    return [*ids, *after], [*offsets, *[(len(reply), len(reply))] * len(after)]


def _input(
    before: list[int],
    ids: list[int],
    offsets: list[tuple[int, int]],
    max_length: int,
    *,
    cut: bool,
) -> tuple[EncodedInput, bool]:
    room = max(0, max_length - len(before))
    cut = cut or len(ids) > room
    ids, offsets = ids[:room], offsets[:room]
    whole = np.asarray([*before, *ids], np.int32)
    places = np.asarray([*[(0, 0)] * len(before), *offsets], np.int32).reshape(-1, 2)
    text = np.full(len(whole), -1, np.int8)
    text[len(before) :] = REPLY
    arrays = {"input_ids": whole, "token_type_ids": np.zeros(len(whole), np.int32)}
    return EncodedInput(arrays, places, text), cut
