"""Tokenizers: compare two on the project's text, divide a word, see merges, learn one."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QCheckBox, QFileDialog, QFrame, QLineEdit, QTabBar, QWidget

from workbench.base.events import ALL, concerns
from workbench.base.i18n import N_, _
from workbench.ui.panels.models.tokenizers_state import KINDS, TokenizersState, fit_columns
from workbench.ui.style import formats, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo
from workbench.ui.widgets.controls.field import fill as fill_box
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.spin import SpinBox
from workbench.ui.widgets.controls.words import Elided, call, words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.later import LaterStack
from workbench.ui.widgets.layout import column, row
from workbench.ui.widgets.tables.table import Column, Table, ValueKind

TABS = (N_("Compare"), N_("Divide a word"), N_("Merges"), N_("Learn"))


_TOKENIZER, _FERTILITY, _UNKNOWN, *_CUTS = fit_columns(("128", "256", "512"))
COMPARED = (
    Column(_("Tokenizer"), lambda row: row[2]),
    Column.of(_FERTILITY, 130),
    Column.of(_UNKNOWN, 104),
    *(Column.of(cut, 112) for cut in _CUTS),
)
STEPS = (
    Column(_("Position"), lambda step: str(step.position), 76, right=True),
    Column(_("Tried, longest first"), lambda step: "  ".join(step.tried), prose=True),
    Column(_("Match"), lambda step: step.found or _("none: the word is unknown"), 190),
)
MERGES = (
    Column(_("Merge"), lambda row: row.merged, 84),
    Column(_("Pair"), lambda row: f"{row.first} {row.second}"),
    Column(_("f(ab)"), lambda row: row.count, 52, kind=ValueKind.COUNT),
    Column(_("f(a)"), lambda row: row.first_count, 52, kind=ValueKind.COUNT),
    Column(_("f(b)"), lambda row: row.second_count, 52, kind=ValueKind.COUNT),
    Column(_("Score"), lambda row: formats.significant(row.score, 3), 84, right=True),
)
SLOW = 200  # milliseconds without an answer after which “Computing…” is shown
SCORE, COUNT = "score", "count"  # rules of merging, keys of TokenizersState.merges


class Tokenizers(Dialog):
    """Four tabs; each shows its result at once or says what it needs."""

    def __init__(self, parent: QWidget, state: TokenizersState) -> None:
        hint = _("How text is divided into the tokens that a model reads.")
        super().__init__(parent, _("Tokenizers"), hint, width=980)
        self.state = state
        self._tabs = QTabBar()
        self._tabs.setDrawBase(False)
        self._tabs.setExpanding(False)
        self._tabs.setAccessibleName(_("Parts of the dialog"))
        for title in TABS:
            self._tabs.addTab(_(title))
        self._pages = LaterStack(
            self._compare, self._divide, self._merges, self._learn, made=self._made
        )
        self._pages.setMinimumHeight(theme.px(330))
        self._tabs.currentChanged.connect(self.show_tab)
        self._pages.setCurrentIndex(0)
        self.put(self._tabs, self._pages)
        close = Button(_("Close"), on=self.accept)
        self.end(None, close)
        state.listen(state.changed, self.render)
        self.render(ALL)

    def show_tab(self, number: int) -> None:
        self._tabs.setCurrentIndex(number)
        self._pages.setCurrentIndex(number)
        self.state.update(error="")  # of another tab
        if TABS[number] == TABS[2]:
            self.state.learn_merges()

    def done(self, result: int) -> None:
        """Also called on Escape and the close button: cancels a job."""
        self.state.close()
        super().done(result)

    # ---------------------------------------------------------------- tabs

    def _names(self, name: str, chosen: int = 0) -> TitledField:
        box = combo(self.state.titles, name=name)
        box.setCurrentIndex(min(chosen, box.count() - 1))
        return TitledField(name, box)

    def _compare(self) -> QFrame:
        self._first = self._names(_("First tokenizer"))
        self._second = self._names(_("Second tokenizer"), 1)
        self._go = Button(_("Compare"), "scan-search", "primary", on=self._start_compare)
        self._fits = Table(COMPARED, name=_("Compared tokenizers"), key=lambda row: row[0])
        self._fits.fit_height(3)
        note = _(
            "Tokens per word: special tokens excluded; numbers and symbols are words too. Below 1, "
            "the tokenizer joins some of them, as in “2.40” or “n't”. Unknown: words outside a "
            "vocabulary of words; for subwords and characters, words with an unknown letter. Cut: "
            "texts with more tokens than the limit."
        )
        return column(
            row((self._first, 1), (self._second, 1), gap=12),
            row(self._go, None),
            self._fits,
            words(note, "small", "muted", wrap=True),
            None,
            gap=12,
        )

    def _start_compare(self) -> None:
        boxes = (self._first.control, self._second.control)
        first, second = (str(box.property("currentData")) for box in boxes)
        self.state.compare(first, second)

    def _divide(self) -> QFrame:
        self._by = self._names(_("Tokenizer"))
        self._word = QLineEdit()
        self._slow = QTimer(self)  # shows that an answer takes time
        self._slow.setSingleShot(True)
        self._slow.setInterval(SLOW)
        self._slow.timeout.connect(self._render_division)
        self._by_box = self._by.control
        self._word.textChanged.connect(lambda _text: self._start_divide())
        self._by.control.currentIndexChanged.connect(  # type: ignore[attr-defined] # a combo box
            lambda _at: self._start_divide()
        )
        self._units = Elided("", "mono")
        self._units.setAccessibleName(_("Tokens"))
        self._steps = Table(STEPS, name=_("Steps of longest match"), key=id)
        self._steps_note = words("", "small", "muted", wrap=True)
        return column(
            row((self._by, 1), (TitledField(_("Word"), self._word), 1), gap=12),
            self._units,
            (self._steps, 1),
            self._steps_note,
            gap=10,
        )

    def _start_divide(self) -> None:
        self._slow.start()
        self.state.divide(str(self._by_box.property("currentData")), self._word.text())

    def _merges(self) -> QFrame:
        self._rules = {
            rule: Table(MERGES, name=name, key=lambda row: row.merged)
            for rule, name in ((SCORE, _("Merges by score")), (COUNT, _("Merges by count")))
        }
        titles = {SCORE: _("By score f(ab) / (f(a) · f(b))"), COUNT: _("By count f(ab), as BPE")}
        sides = [
            column(words(titles[rule], weight=600), (table, 1), gap=6)
            for rule, table in self._rules.items()
        ]
        self._merges_note = words("", "small", "muted", wrap=True)
        return column((row((sides[0], 1), (sides[1], 1), gap=14), 1), self._merges_note)

    def _learn(self) -> QFrame:
        self._kind = combo(KINDS, value=KINDS[0][0])
        self._size = SpinBox(30, 500_000)
        self._size.setSingleStep(1000)
        self._size.setValue(8000)
        call(self._size, _("Vocabulary size"))
        self._lower = QCheckBox(_("Lower-case all text"))
        self._lower.setChecked(True)
        self._start = Button(_("Learn and save…"), "save", "primary", on=self._ask_folder)
        self._stop = Button(_("Cancel"), "x", on=self.state.cancel, name=_("Cancel learning"))
        self._meter = Meter(None, name=_("Progress of learning"))
        self._learned = Callout("", "good")
        return column(
            row(
                (TitledField(_("Method"), self._kind), 1),
                TitledField(_("Vocabulary size"), self._size),
            ),
            self._lower,
            row(self._start, self._stop, None),
            self._meter,
            self._learned,
            None,
            gap=12,
        )

    def _ask_folder(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, _("New folder for the tokenizer"))
        if chosen:
            self.learn(Path(chosen))

    def learn(self, folder: Path) -> None:
        """Learn a tokenizer with the settings of the tab."""
        self.state.learn(
            folder,
            kind=str(self._kind.currentData()),
            size=self._size.value(),
            lowercase=self._lower.isChecked(),
        )

    # ---------------------------------------------------------------- render

    def _made(self, _number: int) -> None:
        if hasattr(self, "state"):
            self.render(ALL)

    def render(self, fields: frozenset[str]) -> None:
        state, built = self.state, self._pages.made()
        self.fault(state.error)
        needs = "" if state.has_text else _("Open a project first.")
        if 0 in built:
            self._go.setEnabled(state.has_text and not state.busy)
            self._fits.set_rows([(*item, state.title(item[0])) for item in state.fits.items()])
            self._fits.fit_height(2)
            self._go.set_text(_("Comparing…") if state.busy else _("Compare"))
        if 1 in built and concerns(fields, "division", "dividing"):
            self._render_division()
        if 2 in built:
            for rule, table in self._rules.items():
                table.set_rows(state.merges.get(rule, []))
            message = _("The first merges on the lower-cased words of a sample of the project.")
            self._merges_note.setText(needs or (_("Computing…") if state.merging else message))
        if 3 in built:
            self._start.setEnabled(state.has_text and not state.learning)
            self._stop.setVisible(state.learning)
            self._meter.setVisible(state.learning)
            self._learned.set(state.message or needs, "good" if state.message else "accent")
        if concerns(fields, "names"):
            self._render_names()

    def _render_names(self) -> None:
        fields = [getattr(self, name, None) for name in ("_first", "_second", "_by")]
        for field in fields:
            if field is not None:
                box = field.control
                fill_box(box, self.state.titles, box.currentData())

    def _render_division(self) -> None:
        if self.state.dividing:
            if not self._slow.isActive():
                self._units.setText("")
                self._steps.set_rows(())
                self._steps_note.setText(_("Computing…"))
            return
        division = self.state.division
        self._units.setText(" · ".join(division.units) if division else "")
        self._steps.set_rows(division.steps if division else ())
        message = _("At each position the longest entry of the vocabulary is taken.")
        other = _("This tokenizer does not use longest match: only its tokens are shown.")
        self._steps_note.setText(other if division and not division.steps else message)
