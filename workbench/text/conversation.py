"""Conversations in one text: the turns of a chat, and how they are written and read.

A single turn of the user is its content. Several are paragraphs that begin with the role:
“User: …”, “Assistant: …”, “System: …”. The roles of HH-RLHF (Human) are read too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

ROLES = SYSTEM, USER, ASSISTANT = ("system", "user", "assistant")  # of turns
Turns = Sequence[tuple[str, str]]  # (role, content) of each turn
_NAMES = {name.lower(): name for name in ("System", "User", "Assistant")}
_READ = {**dict(zip(_NAMES, ROLES, strict=True)), "human": USER}
_BEGIN = re.compile(r"(?:\A\s*|\n\n)(System|User|Assistant|Human):[ \n]?")


def read(text: str) -> list[tuple[str, str]]:
    """The turns of a text; a text that begins with no role is one turn of the user."""
    begins = list(_BEGIN.finditer(text))
    if not begins or begins[0].start():
        return [(USER, text)]
    ends = [begin.start() for begin in begins[1:]] + [len(text)]
    return [
        (_READ[begin[1].lower()], text[begin.end() : end].strip())
        for begin, end in zip(begins, ends, strict=True)
    ]


def written(turns: Turns) -> str:
    """The text that `read` reads as these turns."""
    if len(turns) == 1 and turns[0][0] == USER and not _BEGIN.match(turns[0][1]):
        return turns[0][1]
    return "\n\n".join(f"{_NAMES[role]}: {content}" for role, content in turns)


def to_json(turns: Turns) -> list[dict[str, str]]:
    """The messages that chat templates and servers read."""
    return [{"role": role, "content": content} for role, content in turns]


def from_json(raw: object) -> list[tuple[str, str]]:
    """The turns of a list of {"role", "content"}. Raises ValueError for anything else."""
    if not isinstance(raw, list) or not raw:
        raise ValueError
    return [_turn(item) for item in raw]


def _turn(item: object) -> tuple[str, str]:
    if not isinstance(item, Mapping):
        raise ValueError
    role, content = item.get("role"), item.get("content")
    if role not in ROLES or not isinstance(content, str):
        raise ValueError
    return role, content


def common(first: Turns, second: Turns) -> int:
    """How many turns two conversations have in common at their beginning."""
    pairs = enumerate(zip(first, second, strict=False))
    shortest = min(len(first), len(second))
    return next((number for number, pair in pairs if pair[0] != pair[1]), shortest)
