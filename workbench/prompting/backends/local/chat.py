"""Conversations as a local model reads them. Special tokens in messages are ordinary text there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.prompting.generation import Message
from workbench.prompting.template import Conversation, TooLong
from workbench.runtime.tokenizer import Tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Backend

_MARK = "\ufdd0"  # a noncharacter, around the number of a special token that a message has


def ids(conversation: Conversation, messages: Sequence[Message], tokenizer: Tokenizer) -> list[int]:
    """What the model reads before its reply. A last message of the assistant begins the reply.

    Raises WorkbenchError if the chat template fails.
    """
    names = sorted(map(tokenizer.piece, tokenizer.special), key=len, reverse=True)
    written = [name for name in names if any(name in item.content for item in messages)]
    try:
        text = conversation.text([(item.role, _marked(item.content, written)) for item in messages])
    except TooLong as error:
        raise ModelError(_("The conversation is too long.")) from error
    parts = enumerate(text.split(_MARK))
    return [
        number
        for place, part in parts
        for number in (
            _encoded(tokenizer.backend, written[int(part)], special=False)
            if place % 2
            else _encoded(tokenizer.backend, part, special=True)
        )
    ]


def _marked(text: str, names: Sequence[str]) -> str:
    text = text.replace(_MARK, "\ufffd")
    for number, name in enumerate(names):
        text = text.replace(name, f"{_MARK}{number}{_MARK}")
    return text


def _encoded(backend: Backend, text: str, *, special: bool) -> list[int]:
    """special: whether special tokens in the text are read as such."""
    backend.encode_special_tokens = not special
    try:
        return list(backend.encode(text, add_special_tokens=False).ids)
    finally:
        backend.encode_special_tokens = False
