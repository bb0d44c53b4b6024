"""Keys per span and documents per hour when 60 documents are labelled by keyboard alone.

    .venv/bin/python tests/benchmarks/keyboard_labelling.py [--data FOLDER]

Labels 60 sentences of the GermEval 2014 test set (topic of the document, and people, places,
organizations and other names as spans) in the real window, with the labels of
`keyboard_labels.json`, and compares the stored labels with them afterwards. Every span is reached
by the fewest keys. Baseline: arrows, Ctrl+Shift+arrow and Ctrl+F alone, as it was before words
could be reached by `.`, `,` and two letters after an apostrophe.

Documents per hour are estimated with the keystroke-level model (Card, Moran and Newell 1983: 0.28 s
for a key of an average typist, 1.35 s for a decision: one a document and one a span) and reading at
238 words a minute (Brysbaert 2019), plus the measured CPU time of the window.

Measured in November 2026: baseline 8.8 keys a span, 12.9 keys a document, 322 documents an hour;
with words and letters 4.6, 7.7 and 370.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
HOME = tempfile.TemporaryDirectory(prefix="glossbench-bench-")
os.environ.update(
    {
        "HOME": HOME.name,
        **{f"XDG_{item}_HOME": f"{HOME.name}/{item}" for item in ("CONFIG", "DATA", "CACHE")},
    }
)

from meter import parsed, print_machine  # noqa: E402
from PySide6.QtCore import Qt  # noqa: E402
from PySide6.QtTest import QTest  # noqa: E402

KEY, DECISION, READING = 0.28, 1.35, 238 / 60  # seconds, seconds, words a second
LABELS = Path(__file__).with_name("keyboard_labels.json")
DATA = Path(os.environ.get("GLOSSBENCH_DATA", ROOT.parent / "shared")) / "datasets"
TEXTS = "ner-germeval2014-nested-de/test.conll"
CLASS_KEYS = "qwerty"
SHIFT, CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
NONE = Qt.KeyboardModifier.NoModifier
Press = tuple[Qt.Key | str, Qt.KeyboardModifier]
RIGHT, WORD = (Qt.Key.Key_Right, NONE), (Qt.Key.Key_Right, SHIFT | CONTROL)


def sentences(path: Path) -> list[str]:
    blocks = path.read_text(encoding="utf-8").strip().split("\n\n")
    return [" ".join(line.split("\t")[0] for line in block.split("\n")) for block in blocks]


def written(text: str) -> list[Press]:
    return [(letter, NONE) for letter in text]


class Plan:
    """The fewest keys from the caret to a selection. `words`: with the keys for words."""

    def __init__(self, view, *, words: bool):
        self._view, self._words = view, words

    def keys(self, start: int, end: int) -> list[Press]:
        ways = [self._by_arrows(start, end)]
        if self._words:
            ways += [self._by_words(start, end), *self._by_letters(start, end)]
        return min((way for way in ways if way is not None), key=len)

    def _by_arrows(self, start: int, end: int) -> list[Press] | None:
        """Character by character, or selecting words and dropping the selection."""
        view, caret = self._view, self._view.caret
        letters = [RIGHT] * (start - caret) if start >= caret else None
        back = [(Qt.Key.Key_Left, NONE)] * (caret - start) if start < caret else None
        steps = self._steps(caret, start)
        jumps = [WORD] * steps + [RIGHT] * bool(steps) if steps is not None else None
        home = [(Qt.Key.Key_Home, CONTROL)]
        first = self._steps(0, start)
        again = home + [WORD] * first + [RIGHT] * bool(first) if first is not None else None
        ways = [way for way in (letters, back, jumps, again) if way is not None]
        return min(ways, key=len) + self._stretch(start, end) if ways and view else None

    def _by_words(self, start: int, end: int) -> list[Press] | None:
        caret = self._view.caret
        there = self._steps(caret, start) if start >= caret else self._steps(start, caret)
        key = "." if start >= caret else ","
        return written(key * there) + self._stretch(start, end) if there is not None else None

    def _by_letters(self, start: int, end: int) -> list[list[Press]]:
        from workbench.ui.panels.annotate.jump import find_word, found_words

        text, view = self._view.text.text, self._view
        letters = text[start : start + 2]
        if len(letters) < 2 or letters.startswith(" "):
            return []
        low, high = view.selection or (view.caret, view.caret)
        at, again = find_word(text, letters, low + 1 if (low, high) != (0, 0) else 0), 0
        while at is not None and at != start and again < 5:
            at, again = find_word(text, letters, at + 1), again + 1
        if at != start:
            return []
        found = written("'" + letters + "''" * again)
        word_end = found_words(view, start, letters)[1]
        if end <= view.bounds.word_at(start)[1] or end == word_end:
            return [found]
        if end < word_end:
            return []
        more = self._steps_over(word_end, end)
        ways = [found + [WORD] * more] if more else []
        for last in (view.bounds.word_at(end - 1)[0], end - 2):  # without spaces: any place
            two = text[last : last + 2]
            there = last >= word_end and find_word(text, two, word_end) == last
            if len(two) == 2 and there and found_words(view, last, two)[1] == end:
                ways.append(found + written('"' + two))
        return ways

    def _stretch(self, start: int, end: int) -> list[Press]:
        """Nothing for one word: the key of a label takes the word at the caret."""
        if end <= self._view.bounds.word_at(start)[1]:
            return []
        steps = self._steps_over(start, end)
        return [WORD] * steps if steps else [(Qt.Key.Key_Right, SHIFT)] * (end - start)

    def _steps(self, start: int, end: int) -> int | None:
        """How many steps to the next word lead from one place exactly to another."""
        count, place = 0, start
        while place < end:
            place, count = self._view.bounds.next_word(place), count + 1
        return count if place == end else None

    def _steps_over(self, start: int, end: int) -> int | None:
        """Steps from one place until a selection without space ends at another; None if none."""
        count, place, text = 0, start, self._view.text.text
        while len(text[:place].rstrip()) < end:
            place, count = self._view.bounds.next_word(place), count + 1
        return count if len(text[:place].rstrip()) == end else None


def label(app, asked: dict, *, words: bool) -> dict[str, float]:
    """Label all documents with the fewest keys; counts of keys and seconds of the window."""
    page = app.window.panel("annotate").view
    text, counts = page.first, {"spans": 0, "span_keys": 0, "keys": 0, "cpu": 0.0, "words": 0}
    for _number, topic, spans in asked["documents"]:
        shown, place = text.text.text, 0
        begun, pressed = time.thread_time(), written(CLASS_KEYS[topic])
        _press(text, pressed)
        for content, name in spans:
            start = shown.index(content, place)
            place = start + len(content)
            keys = Plan(text, words=words).keys(start, place)
            keys.append((str(1 + asked["spans"].index(name)), NONE))
            _press(text, keys)
            counts["span_keys"] += len(keys)
            pressed += keys
        counts["spans"] += len(spans)
        _press(text, [(Qt.Key.Key_Return, NONE)])
        app.qt.processEvents()
        counts["keys"] += len(pressed) + 1
        counts["cpu"] += time.thread_time() - begun
        counts["words"] += len(shown.split())
    return counts


def _press(text, keys: list[Press]) -> None:
    for key, modifiers in keys:
        QTest.keyClick(text, key, modifiers)


def check(project, asked: dict) -> int:
    """Number of documents whose stored labels differ from those asked for."""
    from workbench.operations.transfer import data_export

    out = Path(HOME.name) / "out.jsonl"
    data_export.export_data(project, out, format="glossbench")
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()[1:]]
    found = {row["key"]: row for row in rows}
    wrong = 0
    for number, (_number, topic, spans) in enumerate(asked["documents"]):
        row = found[str(number)]
        kept = [
            [row["texts"]["text"][start:end], name]
            for start, end, name in row.get("spans", {}).get("names", ())
        ]
        same = row["marks"]["topic"] == [asked["topics"][topic]] and sorted(kept) == sorted(spans)
        wrong += not same
    return wrong


def _project(path: Path, asked: dict) -> Path:
    from workbench.operations.schema import labels
    from workbench.project.project import Project
    from workbench.storage.documents import documents
    from workbench.text.dataset import Record
    from workbench.text.document import Document

    project = Project.create(path)
    for name, kind, names in (
        ("topic", "class", asked["topics"]),
        ("names", "span", asked["spans"]),
    ):
        labels.add_layer(project, name, kind, labels=names)
    made = [
        Record(Document(str(number), (("text", text),)))
        for number, text in enumerate(asked["texts"])
    ]
    with project.edit("60 sentences", bulk=True):
        documents.add(project.db, made, source_id=project.source("import", "sentences"))
    project.close()
    return path


def main() -> int:
    from workbench.base import settings
    from workbench.ui.app import App, make_qt

    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--documents", type=int, default=60)
    chosen = parsed(parser, documents=3)
    source = chosen.data / TEXTS
    if not source.exists():
        print(f"not measurable here: {source} is missing")
        return 0
    asked = json.loads(LABELS.read_text(encoding="utf-8"))
    asked["documents"] = asked["documents"][: chosen.documents]
    texts = sentences(source)
    asked["texts"] = [texts[number] for number, _topic, _spans in asked["documents"]]
    app = App(make_qt(), settings.Settings(theme="light", warm_worker=False))
    app.window.resize(1280, 800)
    app.window.show()
    QTest.qWait(1000)  # until the window has installed its own handler of faults
    sys.excepthook = _failed
    wrong, rates = 0, []
    for name, words in (("baseline: arrows", False), ("words and letters", True)):
        path = _project(Path(HOME.name) / f"{int(words)}.glossbench", asked)
        assert app.open_project(path, page="annotate")
        QTest.qWait(500)
        counts = label(app, asked, words=words)
        wrong += check(app.project, asked)
        rates.append(_tell(name, counts, len(asked["documents"])))
    app.closed()
    print(f"documents per hour: {rates[1] / rates[0]:.2f} × baseline; wrong documents: {wrong}")
    print_machine()
    return int(wrong > 0)


def _failed(kind, error, trace) -> None:
    """A fault within an event ends the benchmark, not only the event."""
    sys.__excepthook__(kind, error, trace)
    os._exit(1)


def _tell(name: str, counts: dict[str, float], documents: int) -> float:
    seconds = counts["keys"] * KEY + (documents + counts["spans"]) * DECISION
    seconds += counts["words"] / READING + counts["cpu"]
    rate = 3600 * documents / seconds
    print(
        f"{name:20} {counts['span_keys'] / counts['spans']:5.1f} keys a span"
        f"{counts['keys'] / documents:7.1f} keys a document"
        f"{1000 * counts['cpu'] / documents:7.0f} ms of the window a document"
        f"{rate:6.0f} documents an hour (model)",
        flush=True,
    )
    return rate


if __name__ == "__main__":
    raise SystemExit(main())
