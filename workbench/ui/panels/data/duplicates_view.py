"""The duplicates of the Data page: groups on the left, the texts of the chosen one on the right."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QCheckBox, QMenu, QSplitter, QTextEdit, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.ui.panel import View
from workbench.ui.panels.data.dialogs import ASKED_ABOVE, DeleteDocuments
from workbench.ui.panels.data.duplicates_state import (
    MOST_MEMBERS,
    NEAR_CHOICES,
    RULES,
    SIZES,
    DuplicatesState,
)
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import combo, fill
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import column, line, row
from workbench.ui.widgets.pages import PageLayout
from workbench.ui.widgets.tables.table import Column, Table, ValueKind

if TYPE_CHECKING:
    from workbench.operations.documents.duplicates import DuplicateGroup
    from workbench.ui.panels.data.duplicates_state import GroupMember

RULE_TITLES = {
    "train": _("move to train"),
    "held-out": _("move to test or dev"),
    "remove": _("remove from train"),
}
RULE_TIPS = {
    "train": _("All documents of a group get its first split in the order train, dev, test."),
    "held-out": _("All documents of a group get its last split in the order train, dev, test."),
    "remove": _("Documents that are not in the last split of a group lose their split."),
}


class DuplicatesView(View):
    state: DuplicatesState

    def __init__(self, state: DuplicatesState) -> None:
        super().__init__(state)
        self._build_top()
        self._build_list()
        self._build_group()
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.addWidget(self.table)
        split.addWidget(self._right)
        split.setSizes([560, 440])
        hint = _(
            "Equal and similar texts make test scores too high if they are in train and test, and "
            "cost time if each of them is labelled. The search runs over the documents that pass "
            "the filters."
        )
        find = Button(_("Find duplicates"), "search", "primary", on=state.search)
        self._start = EmptyState("copy", _("Not searched yet"), hint, find)
        self._none = EmptyState(
            "check", _("No duplicates"), _("No two documents have equal or similar texts.")
        )
        self._stack = PageLayout()
        for part in (split, self._start, self._none):
            self._stack.addWidget(part)
        body = QWidget()
        body.setLayout(self._stack)
        layout = column(self._top, self._wait, self._problem, line(), (body, 1), gap=0)
        whole = PageLayout(self)
        whole.addWidget(layout)
        self.first = self.table

    # ------------------------------------------------------------ building

    def _build_top(self) -> None:
        state = self.state
        self._build_search()
        self._message = words("", "small", "muted")
        self._leaks = words("", "small", "warn", weight=600)
        self._ignored = QCheckBox(_("Ignored groups"))
        self._ignored.toggled.connect(state.list_ignored)
        self._build_group_acts()
        self._top = column(
            flow(
                self._near,
                self._size,
                self._find,
                self._overlap,
                self._message,
                self._leaks,
                self._ignored,
                None,
                self._more,
                self._rule,
                self._fix,
                gap=8,
            ),
            margins=(24, 4, 24, 10),
        )
        self._meter = Meter(name=_("Progress of the search"))
        cancel = Button(_("Cancel"), "x", "quiet", small=True, on=state.cancel)
        self._wait = row((self._meter, 1), cancel, margins=(24, 0, 24, 8))
        self._problem = Callout("", "bad")

    def _build_search(self) -> None:
        """What counts as a near-duplicate, and the buttons that search."""
        state = self.state
        self._near = combo(
            [(near, _near_text(near)) for near in NEAR_CHOICES], name=_("Similarity")
        )
        escaping.set_tip(
            self._near,
            _("Jaccard similarity of the n-grams of two texts: common ones divided by all"),
        )
        self._size = combo(
            [(size, _("n-grams of {n}", n=size)) for size in SIZES],
            name=_("Length of an n-gram"),
        )
        escaping.set_tip(self._size, _("Words of an n-gram; longer ones suit long texts"))
        for box in (self._near, self._size):
            box.setMinimumWidth(theme.px(150))
            box.setMaximumWidth(theme.px(190))
            box.activated.connect(
                lambda _at: state.choose(
                    near=self._near.currentData(), size=self._size.currentData()
                )
            )
        self._find = Button(_("Find"), "search", on=state.search, name=_("Find duplicates"))
        self._overlap = Button(
            _("Compare with files…"),
            "scan-search",
            on=self.ask_overlap,
            tip=_("Documents that share many words in a row with other texts"),
        )

    def _build_group_acts(self) -> None:
        """Acts on all groups: fix the leaks, copy labels, keep one of each."""
        state = self.state
        self._rule = combo(
            [(rule, RULE_TITLES[rule]) for rule in RULES], name=_("How leaks are fixed")
        )
        self._rule.setMaximumWidth(theme.px(190))
        self._rule.activated.connect(lambda _at: state.update(rule=self._rule.currentData()))
        self._fix = Button(_("Fix leaks"), "check", "primary", on=self._fix_all)
        self._all = QMenu(self)
        self._all.addAction(
            _("Copy labels in all groups, as gold"), lambda: state.label_alike(state.groups)
        )
        self._all.addAction(
            _("Copy labels in all groups, as suggestions"),
            lambda: state.label_alike(state.groups, suggest=True),
        )
        self._all.addAction(_("Keep one of each…"), lambda: self._keep_one(state.groups))
        self._all.addAction(_("Show all in the list"), lambda: state.show_in_list(state.groups))
        self._more = Button(
            _("All groups"),
            "copy",
            menu=self._all,
            tip=_("Labels are copied to documents that have none yet"),
        )

    def _build_list(self) -> None:
        state = self.state
        columns = (
            Column(_("Kind"), _kind, 146, icon=_icon, sort=lambda row: (not row.leak, row.exact)),
            Column(
                _("Similarity"),
                lambda row: row.similarity,
                96,
                kind=ValueKind.NUMBER,
                digits=2,
                sort=lambda row: row.similarity,
                hint=_("The lowest similarity of two texts that joined the group"),
            ),
            Column(
                _("Documents"),
                lambda row: len(row.ids),
                96,
                kind=ValueKind.COUNT,
                sort=lambda row: len(row.ids),
            ),
            Column(_("Splits"), _splits, 120, sort=_splits),
            Column(_("Text"), state.preview, prose=True),
        )
        self.table = Table(columns, name=_("Groups of duplicates"), key=lambda row: row.identity)
        self.table.chosen.connect(self._choose)
        self.table.opened.connect(lambda item: state.open(item.ids[0]))

    def _build_group(self) -> None:
        state = self.state
        self._text = QTextEdit()
        self._text.setProperty("plain", True)
        self._text.setReadOnly(True)
        self._text.setAccessibleName(_("Texts of the group, with their differences marked"))
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._text.setFrameShape(QTextEdit.Shape.NoFrame)
        self._text.document().setDocumentMargin(theme.px(12))
        self._source = combo(name=_("Document that is kept, or whose labels are copied"))
        menu = QMenu(self)
        for title, suggest in ((_("As gold"), False), (_("As suggestions"), True)):
            menu.addAction(title, partial(self._alike, suggest))
        self._alike_button = Button(
            _("Copy labels"),
            "tags",
            small=True,
            menu=menu,
            tip=_(
                "Copy the labels of the chosen document to the others; spans where the text is "
                "the same. Replaces the labels they have."
            ),
        )
        self._keep = Button(
            _("Keep one"),
            "trash-2",
            "danger",
            small=True,
            on=lambda: self._keep_one(self._groups(), self._source.currentData()),
            tip=_("Delete the other documents of this group"),
        )
        self._ignore = Button(_("Ignore"), "x", small=True, on=self._ignore_group)
        self._fix_one = Button(_("Fix leak"), "check", small=True, on=self._fix_group)
        self._open = Button(
            _("Open in Annotate"),
            "arrow-up-right",
            "quiet",
            small=True,
            on=lambda: state.open(self._source.currentData()),
        )
        acts = flow(
            self._source,
            self._alike_button,
            self._fix_one,
            self._keep,
            self._ignore,
            self._open,
            gap=8,
        )
        self._right = column((self._text, 1), line(), column(acts, margins=(16, 8, 16, 8)), gap=0)

    # ------------------------------------------------------------ acts

    def ask_overlap(self) -> None:
        """Compare the documents with text files outside of the project."""
        from workbench.ui.panels.data.overlap_dialog import OverlapDialog
        from workbench.ui.panels.data.overlap_state import OverlapState

        OverlapDialog(self.window(), OverlapState(self.state.selection)).exec()

    def _groups(self) -> tuple[DuplicateGroup, ...]:
        return (self.state.group,) if self.state.group is not None else ()

    def _choose(self) -> None:
        rows = self.table.chosen_rows()
        if rows and rows[0] is not self.state.group:
            self.state.choose_group(rows[0])

    def _alike(self, suggest: bool) -> None:
        self.state.label_alike(
            self._groups(), source=self._source.currentData(), suggest=suggest, overwrite=True
        )

    def _keep_one(self, groups: tuple[DuplicateGroup, ...], keep: int | None = None) -> None:
        """Asks for confirmation if there are many."""
        count = len(self.state.surplus(groups, keep))
        total = self.state.selection.total
        if count <= ASKED_ABOVE or DeleteDocuments(self.window(), count, total).exec():
            self.state.keep_one(groups, keep)

    def _ignore_group(self) -> None:
        for group in self._groups():
            self.state.ignore(group)

    def _fix_all(self) -> None:
        self.state.fix(self.state.groups, self.state.rule)

    def _fix_group(self) -> None:
        self.state.fix(self._groups(), self.state.rule)

    # ------------------------------------------------------------ showing

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        self._near.setCurrentIndex(NEAR_CHOICES.index(state.near))
        self._size.setCurrentIndex(SIZES.index(state.size))
        self._size.setVisible(state.near is not None)
        self._wait.setVisible(state.share is not None)
        self._meter.set(state.share)
        self._problem.set(state.problem, "bad")
        if concerns(fields, "found", "ignored"):
            self._show_groups()
        if concerns(fields, "found", "outdated", "ignored", "rule"):
            self._show_counts()
        if concerns(fields, "group", "members"):
            self._show_members()
        can = state.can_act
        for button in (self._fix, self._more, self._alike_button, self._keep, self._ignore):
            button.setEnabled(can)
        self._fix_one.setEnabled(can)

    def _show_groups(self) -> None:
        state = self.state
        self.table.set_rows(state.groups)
        place = 1 if state.found is None else 0 if state.groups else 2
        self._stack.setCurrentIndex(place)
        for part in (self._find, self._message):
            part.setVisible(state.found is not None)

    def _show_counts(self) -> None:
        state, result = self.state, self.state.found
        leaks = [group for group in state.groups if group.leak]
        self._leaks.setVisible(bool(leaks))
        for part in (self._rule, self._fix):
            part.setVisible(bool(leaks))
        self._more.setVisible(bool(state.groups))
        hidden = len(result.groups) - len(result.shown) if result is not None else 0
        self._ignored.setVisible(hidden > 0 or state.ignored)
        self._ignored.setText(_("Ignored groups ({n})", n=hidden))
        if result is None:
            return
        message = ngettext(
            "{n:,} group among {all:,} documents",
            "{n:,} groups among {all:,} documents",
            len(state.groups),
            all=result.documents,
        )
        if state.outdated:
            message = _("{message} (outdated)", message=message)
        self._message.setText(message)
        leak = ngettext("{n:,} leak across splits", "{n:,} leaks across splits", len(leaks))
        self._leaks.setText(leak)
        fix = ngettext("Fix {n:,} leak", "Fix {n:,} leaks", len(leaks))
        self._fix.set_text(fix)
        self._rule.setCurrentIndex(RULES.index(state.rule))
        escaping.set_tip(self._rule, RULE_TIPS[state.rule])

    def _show_members(self) -> None:
        state, group = self.state, self.state.group
        self._right.setVisible(group is not None)
        if group is None:
            return
        self.table.choose({group.identity})
        fill(
            self._source, [(member.id, member.key) for member in state.members], state.members[0].id
        )
        self._fix_one.setVisible(group.leak)
        self._ignore.set_text(_("Do not ignore") if group.ignored else _("Ignore"))
        self._text.clear()
        cursor = QTextCursor(self._text.document())
        for number, member in enumerate(state.members):
            self._write(cursor, member, first=number == 0)
        if len(group.ids) > MOST_MEMBERS:
            more = ngettext(
                "{n:,} more document", "{n:,} more documents", len(group.ids) - MOST_MEMBERS
            )
            cursor.insertBlock()
            cursor.insertText(more, _style("muted"))
        self._text.moveCursor(QTextCursor.MoveOperation.Start)

    def _write(self, cursor: QTextCursor, member: GroupMember, *, first: bool) -> None:
        block = QTextBlockFormat()
        block.setTopMargin(theme.px(6 if first else 14))
        cursor.setBlockFormat(block) if first else cursor.insertBlock(block)
        split = term(member.split) if member.split else _("no split")
        facts = [split, term(member.state) if member.state else "", member.labels]
        cursor.insertText(member.key, _style("text", bold=True))
        cursor.insertText(f"  {' · '.join(filter(None, facts))}", _style("muted"))
        cursor.insertBlock(QTextBlockFormat())
        at = 0
        for start, end in member.marked:
            cursor.insertText(member.text[at:start], _style("text"))
            cursor.insertText(member.text[start:end], _style("text", marked=True))
            at = end
        cursor.insertText(member.text[at:], _style("text"))


def _style(tone: str, *, bold: bool = False, marked: bool = False) -> QTextCharFormat:
    style = QTextCharFormat()
    style.setForeground(theme.qcolour(tone))
    if bold:
        style.setFontWeight(QFont.Weight.DemiBold)
    if marked:
        style.setBackground(theme.qcolour("warn_soft"))
        style.setFontUnderline(True)
    return style


def _near_text(near: float | None) -> str:
    if near is None:
        return _("equal texts")
    return _("similarity {near}", near=formats.decimal(near, 2))


def _kind(group: DuplicateGroup) -> str:
    if group.leak:
        return _("leak")
    return _("duplicate") if group.exact else _("near-duplicate")


def _icon(group: DuplicateGroup) -> tuple[str, str]:
    return ("triangle-alert", "warn") if group.leak else ("copy", "muted")


def _splits(group: DuplicateGroup) -> str:
    used = dict.fromkeys(group.splits)
    return ", ".join(term(split) if split else _("no split") for split in used)
