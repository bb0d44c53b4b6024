"""Full-text search (SQLite FTS5) in all scripts, and snippets of the texts found.

The index is contentless: it stores positions, not texts. `seg` segments texts and queries alike,
because FTS5 has no word boundaries in scripts without spaces; each word of a query is a phrase.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress

from workbench.base.watch import Watch
from workbench.storage.schema.values import Row, text_out
from workbench.text.queries.find import find, marks

# Letters of scripts without spaces between words: Thai, Lao, Burmese, Khmer, kana, Han, with their
# extensions.
_LETTER = (
    "\u0e01-\u0e5b\u0e81-\u0edf\u1000-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f\u1780-\u17ff"
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
# emoji and other symbols
_SYMBOL = "\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001fbff"
# Characters that are ignored: joiners, variation selectors, vowel points of Hebrew and Arabic,
# tatweel.
_IGNORED = (
    "\u200b-\u200f\u2060\ufe00-\ufe0f\u0591-\u05bd\u05bf-\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u0640"
)
_SPECIAL = re.compile(f"([{_LETTER}])|([{_SYMBOL}])|[{_IGNORED}]")

ADD_TRIGGER = "search_add"
CHUNK_TEXTS = 1_000  # texts that are read at a time; the operation can be cancelled in between
LARGE_BATCH_TEXTS = 5_000  # texts for which the index gets more memory
HASH_BYTES = 16 << 20
_DEFAULT_HASH_BYTES = 1 << 20  # of FTS5

FOLDED_SEARCH = (
    1000  # code points from the start in which a match without diacritics is searched for
)


def _replace(match: re.Match[str]) -> str:
    if match.lastindex == 1:
        return f" {match[1]} "
    return f" u{ord(match[2]):x} " if match.lastindex == 2 else ""


def seg(text: str | bytes | None) -> str:
    """Prepare a text for the index.

    Letters of scripts without spaces become words of their own, symbols become "u" and their code
    point, and ignored characters are removed. None gives "".
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
    """Convert user input to an FTS5 query: each word is a phrase, the last one also a prefix.

    Returns None if the input has no letters or digits.
    """
    phrases = [seg(word).replace('"', " ").strip() for word in text.split()]
    phrases = [phrase for phrase in phrases if any(_is_word_char(char) for char in phrase)]
    if not phrases:
        return None
    quoted = [f'"{phrase}"' for phrase in phrases]
    return " ".join(quoted) + ("*" if not text[-1].isspace() else "")


def phrase(text: str) -> str | None:
    """An FTS5 query for the words of `text` one after another; None if it has no letters or digits.

    Matches every text in which `find` finds `text` as whole words.
    """
    words = seg(text).replace('"', " ")
    return f'"{words}"' if any(_is_word_char(char) for char in words) else None


def _is_word_char(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNM" or unicodedata.category(char) == "Co"


def snippet(text: str, words: str = "", width: int = 160) -> str:
    """At most `width` code points on one line, around the first match of a word of `words`.

    "…" marks omitted text.
    """
    match = _first(text, words)
    start = match - width // 6 if match > width // 4 else 0  # visible in a narrow column, too
    line = " ".join(text[start : start + width].split())
    return ("…" if start else "") + line + ("…" if start + width < len(text) else "")


def _first(text: str, words: str) -> int:
    """Offset of the first match of a word of `words`, 0 if there is none.

    Matches that ignore diacritics are searched for only in the first `FOLDED_SEARCH` code points.
    """
    matches = [find(text, word, most=1).starts for word in words.split()]
    first = min((starts[0] for starts in matches if starts), default=None)
    if first is None and not text.isascii():
        first = next((start for start, _end in marks(text[:FOLDED_SEARCH], words)), None)
    return first or 0


def index_triggers() -> tuple[str, ...]:
    """SQL of the triggers that update the index.

    They are temporary because they call `seg`, which only the writer's connection has.
    """
    return (
        (
            f"create temp trigger {ADD_TRIGGER} after insert on main.body begin insert into "
            "search(rowid, content) values(new.id, seg(new.content)); end"
        ),
        "create temp trigger search_drop before delete on main.body begin"
        " insert into search(search, rowid, content) values('delete', old.id, "
        "seg(old.content)); end",
    )


def add_texts(conn: sqlite3.Connection, texts: Iterable[Row], count: int) -> None:
    """Index texts that were inserted without the trigger: (id in `body`, content), `count` of them.

    Each statement that inserts texts and fires the trigger ends with a part of the index of its
    own, and parts are merged several times. Here the words are collected in memory instead.
    """
    if not count:
        return
    with _large_hash(conn) if count >= LARGE_BATCH_TEXTS else nullcontext():
        conn.executemany(
            "insert into search(rowid, content) values(?, ?)",
            ((id, seg(content)) for id, content in texts),
        )


def stored_texts(conn: sqlite3.Connection, first: int, last: int, watch: Watch) -> Iterator[Row]:
    """(id, content) of the rows of `body` from `first` to `last`."""
    for start in range(first, last + 1, CHUNK_TEXTS):
        watch.at((start - first) / (last - first + 1))
        yield from conn.execute(
            "select id, content from body where id between ? and ? order by id",
            (start, min(start + CHUNK_TEXTS - 1, last)),
        ).fetchall()


@contextmanager
def _large_hash(conn: sqlite3.Connection) -> Iterator[None]:
    """Let the index collect more words before it writes them."""
    configure = "insert into search(search, rank) values('hashsize', ?)"
    conn.execute(configure, (HASH_BYTES,))
    try:
        yield
    finally:
        if conn.in_transaction:  # SQLite ends it itself when the disk is full
            conn.execute(configure, (_DEFAULT_HASH_BYTES,))
            # A library built to protect the tables of the index (as on macOS) keeps the entry.
            with suppress(sqlite3.OperationalError):
                conn.execute("delete from search_config where k = 'hashsize'")
