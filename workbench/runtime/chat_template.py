"""How a model writes a conversation: the chat template in the files of its tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.runtime.tokenizer_files import CONFIG, SPECIAL, read_json

FILE = "chat_template.jinja"
MAX_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """source: Jinja2, "" where it is not known, such as that of a server. tokens: the reserved
    tokens that it writes, by name, such as "bos_token".
    """

    source: str = ""
    tokens: Mapping[str, str] = field(default_factory=dict, hash=False)


def read(folder: Path | str) -> ChatTemplate | None:
    """The chat template of the model in a folder; None if it has none."""
    place = Path(folder)
    config = {**read_json(place / SPECIAL), **read_json(place / CONFIG)}
    source = _source(place / FILE, config.get("chat_template"))
    if not source or len(source) > MAX_CHARS:
        return None
    tokens = {name: _content(value) for name, value in config.items() if name.endswith("_token")}
    return ChatTemplate(source, {name: text for name, text in tokens.items() if text})


def _source(path: Path, configured: Any) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        pass
    if isinstance(configured, list):  # several by name; the others are for tools
        named = {entry.get("name"): entry for entry in configured if isinstance(entry, dict)}
        configured = named.get("default", {}).get("template")
    return configured if isinstance(configured, str) else ""


def _content(token: Any) -> str:
    content = token.get("content") if isinstance(token, dict) else token
    return content if isinstance(content, str) else ""
