"""A pseudo-language for tests: text that passes `_()` gets Cyrillic letters.

Text that still has Latin letters has not passed. The data of the project is Greek, so that it
cannot be mistaken for text of the application. The font of the window has these letters: others
are looked up in every font of the system, each time a text is laid out.
"""

from __future__ import annotations

import gettext
import re
import string
from collections.abc import Callable
from pathlib import Path

from tests.ui.tips import read

CYRILLIC = str.maketrans(
    string.ascii_uppercase + string.ascii_lowercase,
    "".join(map(chr, (*range(0x410, 0x42A), *range(0x430, 0x44A)))),
)
ROWS = 120  # rows of a table that are checked
LETTERS = frozenset(map(chr, CYRILLIC.values()))
PLACE = re.compile(r"(\{\{.*?\}\}|\{%.*?%\}|\{[^{}]*\})")


class Pseudo(gettext.NullTranslations):
    """Keeps placeholders, so that `.format` works.

    `twice` collects texts that are already translated.
    """

    def __init__(self):
        super().__init__()
        self.twice: set[str] = set()

    def gettext(self, message: str) -> str:
        if any(letter in LETTERS for letter in PLACE.sub("", message)):
            self.twice.add(message)
        parts = PLACE.split(message)
        return "".join(
            part if number % 2 else part.translate(CYRILLIC) for number, part in enumerate(parts)
        )

    def ngettext(self, singular: str, plural: str, n: int) -> str:
        return self.gettext(singular if n == 1 else plural)


ALLOWED = (
    (r"\{\{.*?\}\}|\{%.*?%\}", "what a template may hold"),
    (r"(^|(?<= ))[A-Za-z]\.?$|^[A-Z](, [A-Z])+$", "keys with a letter"),
    (r"[^\s“”]*/[^\s“”]*", "paths"),
    (
        r"\S+\.(glossbench|jsonl|csv|tsv|conllu?|iob|bio|txt|onnx|json|safetensors)\b",
        "names of files",
    ),
    (r"\b(bilstm|starter-[a-z-]+|distilbert-base-uncased)\b", "names of models"),
    (r"\b(\w+\.)+(weight|bias)\b", "names of weights"),
    (r"“(parquet|segmenters|umap|quantized|cluster)”", "extras, as they are installed"),
    (
        r"\b(bert|gpt2|xlnet|float16|float32|[Aa]pache-2\.0|(cc-by-sa|CC-BY-SA)-3\.0)\b",
        "families, number formats and licences, as model folders and SPDX name them",
    ),
    (
        r"\b(Glossbench|Python|PySide6(-Essentials)?|Qt|torch|transformers|tokenizers|onnxruntime|safetensors|numpy|SQLite|sqlite-utils|pyqtgraph|scikit-learn|seqeval|nervaluate)\b",
        "programs",
    ),
    (r"(?<=\d)\+(cpu|cu\d+)\b", "versions of torch"),
    (
        r"\b(ONNX|CPU|CUDA|MPS|GPU|HF|cpu|cuda|mps|CoNLL-U|Inter|JetBrains Mono)\b",
        "formats, devices, fonts",
    ),
    (r"\b[A-Z][A-Z0-9]*(_[A-Z0-9]+)+(=\d)?", "environment variables"),
    (r"\b(Linux|macOS|Windows)-\S+", "the name of the system"),
    (
        r"\b(eglfs|linuxfb|minimal|minimalegl|offscreen|vkkhrdisplay|vnc|wayland|xcb)\b",
        "platform plugins of Qt",
    ),
    (r"\b(utf-\d+|cp125\d|latin-1|koi8-r|gb18030|big5|shift_jis|euc-kr)\b", "encodings"),
    (
        r"\b(Ctrl|Shift|Alt|Del|Backspace|Esc|Tab|Return|Enter|Space|Left|Right|Up|Down|Home|End|Ins|PgUp|PgDown|F\d\d?)\b(\+[A-Z]\b)?",
        "keys",
    ),
    (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "moments"),
    (r"\b([kMG]?B|ms|s)\b", "units"),
    (r"\b\d\.\de[-+]\d\d\b", "numbers"),
    (r"\b[0-9a-f]{8}([0-9a-f]{24})?\b", "fingerprints"),
    (r"\b(fp32|bf16|cuda:\d)\b", "number formats, devices"),
    (r"unexpected '\}'|\bOSError\b", "what Jinja and Python say"),
    (r"(?<![A-Za-z])(score|text)$", "names of layers of numbers and texts, in the same way"),
    (
        r"(?<![A-Za-z])(class|spans|pairs|coreference)$",
        "names that a new layer gets, stored with it",
    ),
    (r"^me$", "the name of a person who has given none, as the project file holds it"),
    (r"^(unsure|discuss)$", "standard flags: names that queries and the project file hold"),
    (r"\b(O|[BI]-)", "tags of the BIO scheme"),
)
QT = {
    "Scroll Left",
    "Scroll Right",
    "Close",
    "Float",
    "Closes the dock widget",
    "Undocks and re-attaches the dock widget",
}  # Qt's internal widgets


def plain(text: str) -> str:
    """What remains of a text without language-independent parts; "" if it is fully translated."""
    if text in QT:
        return ""
    for pattern, _why in ALLOWED:
        text = re.sub(pattern, "", text)
    return text if re.search("[A-Za-z]", text) else ""


# ---------------------------------------------------------------- a project without Latin letters


def make_project(path: Path, dress: Callable[[str], str] = str) -> None:
    """Classes, spans and pairs in every state and split, runs, suggestions and a history.

    All names and texts are Greek and pass `dress`, which may append to them.
    """
    from workbench.operations.annotation import suggestion_edits
    from workbench.operations.annotation.annotate import NewSuggestion
    from workbench.operations.schema import labels
    from workbench.project.project import Project
    from workbench.storage.documents import documents
    from workbench.text.dataset import Record
    from workbench.text.document import Document
    from workbench.text.spans import Span

    project = Project.create(path)
    classes = labels.add_layer(
        project,
        dress("είδος"),
        "class",
        labels=(dress("καλό"), dress("κακό")),
        guideline=dress("Για όλο το κείμενο."),
    )
    labels.add_layer(project, dress("ονόματα"), "span", labels=(dress("άτομο"), dress("πόλη")))
    labels.add_layer(
        project, dress("ζεύγη"), "class", texts=2, labels=(dress("ίδιο"), dress("άλλο"))
    )
    records = []
    for number, split in enumerate((*("train",) * 6, *("dev",) * 6, *("test",) * 4, None, None)):
        state = ("submitted", "submitted", "draft", "discarded")[number % 4] if split else "pending"
        text = (("text", dress(f"Ο Νίκος ζει στην Αθήνα {number}.")),)
        if state == "pending":
            records.append(Record(Document(dress(f"α{number}"), text, split)))
            continue
        said = (dress("καλό"), dress("κακό"))[number % 2]
        spans = (Span(2, 7, dress("άτομο")), Span(16, 22, dress("πόλη")))
        states = {dress("είδος"): state, dress("ονόματα"): state}
        records.append(
            Record(
                Document(dress(f"α{number}"), text, split),
                states,
                {dress("είδος"): (said,)},
                {dress("ονόματα"): spans},
            )
        )
    records.append(
        Record(
            Document(
                dress("β"), (("text", dress("Βρέχει.")), ("text_b", dress("Χιονίζει."))), "dev"
            ),
            {dress("ζεύγη"): "submitted"},
            {dress("ζεύγη"): (dress("ίδιο"),)},
        )
    )
    with project.edit(dress("Έγγραφα")):
        ids = documents.add(project.db, records, source_id=project.source("person"))
    _runs(project, list(zip(ids, records, strict=True)), dress)
    layer = next(layer for layer in labels.layers(project) if layer.id == classes)
    new = [NewSuggestion(id, classes, layer.labels[0].id, score=0.8) for id in ids[-3:-1]]
    suggestion_edits.add_suggestions(project, 1, new)
    project.close()


def _runs(project, rows, dress) -> None:
    """A finished run of every task, with some errors, and a failed one."""
    from workbench.base import paths
    from workbench.operations.schema import labels
    from workbench.storage.runs import runs

    layers = {layer.name: layer.id for layer in labels.layers(project)}
    with project.write():
        for name, task, layer, status in (
            (dress("πρώτο"), "classify", dress("είδος"), "done"),
            (dress("δεύτερο"), "classify", dress("είδος"), "stopped"),
            (dress("τρίτο"), "tag", dress("ονόματα"), "done"),
            (dress("τέταρτο"), "tag", dress("ονόματα"), "interrupted"),
            (dress("πέμπτο"), "pairs", dress("ζεύγη"), "failed"),
        ):
            options = {"epochs": 2, "learning_rate": 0.0001}
            spec = {
                "task": task,
                "layer": layer,
                "model": "starter-bert",
                "model_name": dress("starter-bert"),
                "seed": 1,
                "options": options,
            }
            dev = (
                {"span_f1": 0.5, "token_accuracy": 0.8}
                if task == "tag"
                else {"macro_f1": 0.5, "accuracy": 0.6}
            )
            result = {
                "seconds": 31.0,
                "cpu_seconds": 30.0,
                "steps": 20,
                "best_step": 12,
                "loss": 0.3,
                "device": "cpu",
                "cut": 0,
            }
            made = runs.add(
                project.db,
                name,
                layer_id=layers[layer],
                spec=spec,
                status=status,
                scores={"dev": dev},
                result=result,
            )
            folder = paths.run_folder(project.path, made.id) / "model"
            folder.mkdir(parents=True)
            (folder / "glossbench.json").write_text("{}")
            (folder / "model.safetensors").write_bytes(b"0" * 1000)
            said = [
                (id, row.document.text_hash, _answer(task, number, dress))
                for number, (id, row) in enumerate(rows)
            ]
            runs.save_predictions(project.db, made.id, said)


def _answer(task: str, number: int, dress) -> dict:
    wrong = number % 3 == 0
    if task == "tag":
        spans = [
            {
                "start": 2,
                "end": 9 if wrong else 7,
                "label": dress("άτομο"),
                "score": 0.9,
                "field": "text",
            }
        ]
        return {"scores": {}, "label": None, "tokens": [], "spans": spans, "cut": False}
    label = (
        (dress("κακό"), dress("καλό"))[number % 2]
        if wrong
        else (dress("καλό"), dress("κακό"))[number % 2]
    )
    return {
        "scores": {label: 0.8, dress("άλλο"): 0.2},
        "label": label,
        "tokens": [],
        "spans": [],
        "cut": False,
    }


# ---------------------------------------------------------------- checks


class Seen:
    """Texts with plain Latin letters → where they were first seen.

    `without_data(text, place)` removes texts of the project from what is shown at a place.
    """

    def __init__(self):
        self.faults: dict[str, str] = {}
        self.places: set[str] = set()  # all that were visited
        self._place = ""
        self._known: set[str] = set()
        self.own: tuple[str, ...] = ()  # names in the imported files
        self.without_data: Callable[[str, str], str] = lambda text, _place: text

    @property
    def place(self) -> str:
        return self._place

    @place.setter
    def place(self, name: str) -> None:
        self._place = name
        self.places.add(name)

    def note(self, text: object, where: str) -> None:
        """Check a text of one or more lines; elided ones are seen in full elsewhere."""
        if not isinstance(text, str) or text in self._known:
            return
        self._known.add(text)
        text = self.without_data(read(self.without_data(text, self.place)), self.place)
        for name in self.own:
            text = text.replace(name, "")
        if plain(text) and not (where == "painted" and "…" in text):
            self.faults[text] = f"{self.place}: {where}"

    def look(self, *, hidden: bool = False, within=None) -> None:
        """Check every visible widget; with `hidden`, all widgets; with `within`, also the hidden
        ones in that widget.
        """
        from PySide6.QtWidgets import QApplication, QWidget

        if hidden:
            widgets = set(QApplication.allWidgets())
        else:
            widgets = set(visible_widgets())
        if within is not None:
            widgets |= {within, *within.findChildren(QWidget)}
        for widget in widgets:
            where = f"{type(widget).__name__} {widget.accessibleName()!r}"
            self._widget(widget, where)
            for action in widget.actions():
                self.note(action.text(), f"action in {where}")
                self.note(action.toolTip(), f"tooltip of an action in {where}")

    def _widget(self, widget, where: str) -> None:
        from PySide6 import QtWidgets

        for name in (
            "toolTip",
            "accessibleName",
            "accessibleDescription",
            "windowTitle",
            "statusTip",
            "whatsThis",
            "placeholderText",
        ):
            if hasattr(widget, name):
                self.note(getattr(widget, name)(), f"{name} of {where}")
        if isinstance(widget, QtWidgets.QLabel | QtWidgets.QAbstractButton):
            self.note(widget.text(), where)
        if isinstance(widget, QtWidgets.QAbstractSpinBox) and hasattr(widget, "suffix"):
            self.note(widget.prefix() + widget.suffix() + widget.specialValueText(), where)
        if isinstance(widget, QtWidgets.QTabBar):
            for number in range(widget.count()):
                self.note(widget.tabText(number), where)
                self.note(widget.tabToolTip(number), where)
        if isinstance(widget, QtWidgets.QMenu | QtWidgets.QGroupBox):
            self.note(widget.title(), where)
        if (
            isinstance(widget, QtWidgets.QComboBox | QtWidgets.QAbstractItemView)
            and widget.model() is not None
        ):
            self._model(widget.model(), where)

    def _model(self, model, where: str) -> None:
        from PySide6.QtCore import QAbstractListModel, QModelIndex, Qt

        columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(QModelIndex())
        roles = (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.ToolTipRole,
            Qt.ItemDataRole.AccessibleTextRole,
        )
        rows = min(model.rowCount(QModelIndex()), ROWS)
        for column in range(columns):
            for role in roles:
                self.note(
                    model.headerData(column, Qt.Orientation.Horizontal, role), f"header of {where}"
                )
            for row in range(rows):
                index = model.index(row, column)
                for role in roles:
                    self.note(index.data(role), f"cell of {where}")


def visible_widgets():
    """All visible widgets. Most are hidden, on pages that are not shown, and are not visited."""
    from PySide6.QtWidgets import QApplication, QWidget

    waiting = [window for window in QApplication.topLevelWidgets() if window.isVisible()]
    while waiting:
        widget = waiting.pop()
        yield widget
        waiting += [
            child
            for child in widget.children()
            if isinstance(child, QWidget) and child.isVisible() and not child.isWindow()
        ]


def watch_painting(seen: Seen) -> None:
    """Check texts that widgets paint themselves, too."""
    from PySide6.QtGui import QPainter

    draw = QPainter.drawText

    def drawn(self, *given):
        for unit in given:
            seen.note(unit, "painted")
        return draw(self, *given)

    QPainter.drawText = drawn
