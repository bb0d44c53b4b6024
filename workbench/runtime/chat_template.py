"""How a model writes a conversation: the chat template in the files of its tokenizer. Light."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.runtime.tokenizer_files import CONFIG, SPECIAL, read_json
from workbench.text.conversation import ASSISTANT as ASSISTANT
from workbench.text.conversation import ROLES as ROLES
from workbench.text.conversation import SYSTEM as SYSTEM
from workbench.text.conversation import USER as USER

FILE = "chat_template.jinja"
MAX_CHARS = 200_000
MAX_PROMPT_CHARS = 1_000_000  # maximum characters of a finished prompt


class TemplateError(SpecError):
    """A template that cannot be parsed or rendered. `line` is 1-based, None if unknown.

    `text` and `hint` are marked for translation, but not translated: an error is raised in a worker
    and shown in the language of another process. `text` may contain `line` and `values`.
    """

    def __init__(self, text: str, *, hint: str = "", line: int | None = None, **values: object):
        super().__init__(_(text, line=line, **values), hint=_(hint))
        self.text, self.line, self.values = text, line, values
        self.plain_hint = hint

    def at_line(self, line: int | None) -> TemplateError:
        """A copy of the error with a line number."""
        return TemplateError(self.text, hint=self.plain_hint, line=line, **self.values)

    def to_json(self) -> dict[str, object]:
        return {
            "text": self.text,
            "hint": self.plain_hint,
            "line": self.line,
            "values": self.values,
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> TemplateError:
        return cls(raw["text"], hint=raw["hint"], line=raw["line"], **raw["values"])


class TooLong(Exception):
    """A prompt has more than MAX_PROMPT_CHARS characters."""


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """source: Jinja2, "" where it is not known, such as that of a server. tokens: the reserved
    tokens that it writes, by name, such as "bos_token".
    """

    source: str = ""
    tokens: Mapping[str, str] = field(default_factory=dict, hash=False)


# How a model without a chat template is tuned to answer: as in Alpaca (Taori et al. 2023), without
# its preamble.
PLAIN = """\
{% for message in messages -%}
### {{ {'system': 'System', 'user': 'Instruction', 'assistant': 'Response'}[message.role] }}:
{{ message.content }}{% if message.role == 'assistant' %}{{ eos_token }}{% endif %}


{% endfor -%}
{% if add_generation_prompt -%}
### Response:
{% endif %}"""


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
