"""Full-text search in every script: `seg` makes words out of letters where a script writes none;
snippets are cut here.

The index is contentless: it keeps positions, not texts. Text and query pass through the same `seg`,
a query as phrases.
"""

from __future__ import annotations

import re
import unicodedata

from workbench.storage.values import text_out
from workbench.text.find import find, marks

# Letters of scripts without spaces between words: Thai, Lao, Burmese, Khmer, kana, Han and their
# extensions.
_LETTER = (
    "\u0e01-\u0e5b\u0e81-\u0edf\u1000-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f\u1780-\u17ff"
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
# emoji and their like
_PICTURE = "\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001fbff"
# Signs that a reader may leave out: joiners and variation selectors, vowel signs of Hebrew and
# Arabic, tatweel.
_SILENT = (
    "\u200b-\u200f\u2060\ufe00-\ufe0f\u0591-\u05bd\u05bf-\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u0640"
)
_SPECIAL = re.compile(f"([{_LETTER}])|([{_PICTURE}])|[{_SILENT}]")


NEAR = 1000  # code points


def _replace(match: re.Match[str]) -> str:
    if match.lastindex == 1:
        return f" {match[1]} "
    return f" u{ord(match[2]):x} " if match.lastindex == 2 else ""


def seg(text: str | bytes | None) -> str:
    """The text as the index reads it: a space around each such letter, a word for each emoji,
    silent signs left out.
    """
    if text is None:
        return ""
    text = text_out(text).replace("\0", " ")
    return (
        text
        if text.isascii()
        else _SPECIAL.sub(_replace, text).encode("utf-8", "replace").decode("utf-8")
    )


def query(text: str) -> str | None:
    """What a person typed → an FTS5 query: every word as a phrase, the last one also as a
    beginning.

    None if no word is in it.
    """
    phrases = [seg(word).replace('"', " ").strip() for word in text.split()]
    phrases = [phrase for phrase in phrases if any(_is_word_char(char) for char in phrase)]
    if not phrases:
        return None
    quoted = [f'"{phrase}"' for phrase in phrases]
    return " ".join(quoted) + ("*" if not text[-1].isspace() else "")


def _is_word_char(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNM" or unicodedata.category(char) == "Co"


def snippet(text: str, wanted: str = "", width: int = 160) -> str:
    """At most `width` code points on one line, around the first word of `wanted` that is found; "…"
    where something is left out.
    """
    found = _first(text, wanted)
    start = found - width // 6 if found > width // 4 else 0  # a narrow column shows the match too
    piece = text[start : start + width]
    line = " ".join(piece.split())
    return ("…" if start else "") + line + ("…" if start + width < len(text) else "")


def _first(text: str, wanted: str) -> int:
    """Where the first word of `wanted` is found; letters without diacritics only near the start."""
    places = [find(text, word, most=1).starts for word in wanted.split()]
    first = min((starts[0] for starts in places if starts), default=None)
    if first is None and not text.isascii():
        first = next((start for start, _end in marks(text[:NEAR], wanted)), None)
    return first or 0


def index_triggers() -> tuple[str, ...]:
    """TEMP triggers of the writer that keep the index:

    `seg` is a function of that connection alone.
    """
    return (
        (
            "create temp trigger search_add after insert on main.body begin insert into "
            "search(rowid, content) values(new.id, seg(new.content)); end"
        ),
        "create temp trigger search_drop before delete on main.body begin"
        " insert into search(search, rowid, content) values('delete', old.id, "
        "seg(old.content)); end",
    )
