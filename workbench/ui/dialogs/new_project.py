"""New project: name, folder, what to label, and the labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QCheckBox, QFileDialog, QLineEdit, QPlainTextEdit, QWidget

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import N_, _
from workbench.text.document import CHOICES
from workbench.text.labels import (
    ANSWER,
    CLASS,
    CLUSTER,
    LAYER_KINDS,
    MULTI,
    NUMBERS,
    ONE_OF,
    PREFERENCE,
    RELATION,
    SCORE,
    SPAN,
    TAG,
    WRITTEN_TEXT,
)
from workbench.ui.dialogs.files import folder_of
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import card, row

if TYPE_CHECKING:
    from workbench.ui.application import Application


@dataclass(frozen=True)
class ProjectKind:
    """One kind of annotation, and the layer created for it. example: of its labels."""

    id: str
    title: str
    hint: str
    layer: str
    kind: str
    texts: int
    example: str
    sample: str = ""  # a text and its annotation

    @property
    def has_labels(self) -> bool:
        return LAYER_KINDS[self.kind].takes_labels

    @property
    def has_scale(self) -> bool:
        return LAYER_KINDS[self.kind].record == NUMBERS


KINDS = (
    ProjectKind(
        "class",
        N_("Class"),
        N_("One label per document: topic, sentiment, intent"),
        "class",
        CLASS.id,
        1,
        N_("delay, crowding, driver"),
        N_("“The 42 was late again.” → delay"),
    ),
    ProjectKind(
        "spans",
        N_("Spans"),
        N_("Labelled pieces of text: names, times, places"),
        "spans",
        SPAN.id,
        1,
        N_("PERSON, PLACE, TIME"),
        N_("“Ada lives in Paris.” → PERSON: Ada, PLACE: Paris"),
    ),
    ProjectKind(
        "pairs",
        N_("Pairs"),
        N_("One label per pair of texts: same, contradiction"),
        "pairs",
        CLASS.id,
        2,
        N_("same, other"),
        N_("“Is it late?” + “Does it run on time?” → same"),
    ),
)


# Further layer kinds, offered where layers are added one by one.
MORE_KINDS = (
    ProjectKind(
        "classes",
        N_("Classes"),
        N_("Any number of labels per document: topics, complaints"),
        "topics",
        MULTI.id,
        1,
        N_("delay, crowding, driver"),
        N_("“Late, and far too full.” → delay, crowding"),
    ),
    ProjectKind(
        "choice",
        N_("Choice"),
        N_("The correct one of several texts, such as answers to a question"),
        "answer",
        ONE_OF.id,
        CHOICES,
        N_("numbered automatically"),
        N_("“Where does the 42 stop?” + “Elm Park”, “on Monday” → “Elm Park”"),
    ),
    ProjectKind(
        "preference",
        N_("Preference"),
        N_("The better of two or more answers to a prompt, or a tie"),
        "preference",
        PREFERENCE.id,
        CHOICES,
        N_("numbered automatically"),
        N_("“When does the 42 run?” + “Every ten minutes.”, “Often.” → “Every ten minutes.”"),
    ),
    ProjectKind(
        "number",
        N_("Number"),
        N_("A number on a scale per document: a rating, a grade"),
        "rating",
        SCORE.id,
        1,
        "",
        N_("“Best ride ever!” → 5"),
    ),
    ProjectKind(
        "similarity",
        N_("Similarity"),
        N_("A number on a scale per pair of texts: how similar they are"),
        "similarity",
        SCORE.id,
        2,
        "",
        N_("“The tram is late.” + “The tram is delayed.” → 4.5"),
    ),
    ProjectKind(
        "text",
        N_("Text"),
        N_("A written text per document: a summary, a translation, a rationale"),
        "text",
        WRITTEN_TEXT.id,
        1,
        "",
        N_("“The 42 was late again, and so was the 7.” → “Two trams were late.”"),
    ),
    ProjectKind(
        "questions",
        N_("Questions"),
        N_("Questions about a text, each answered by a part of it, or by none"),
        "answers",
        ANSWER.id,
        1,
        "",
        N_("“The 42 leaves at 6:10.” + “When does it leave?” → “6:10”"),
    ),
    ProjectKind(
        "tags",
        N_("Tags"),
        N_("A tag for every token: parts of speech"),
        "tags",
        TAG.id,
        1,
        N_("NOUN, VERB, ADJ"),
        N_("“Trams run late” → NOUN VERB ADV"),
    ),
    ProjectKind(
        "relation",
        N_("Relation"),
        N_("A labelled relation between two spans: works for, located in"),
        "relations",
        RELATION.id,
        1,
        N_("works for, located in"),
        N_("“Ada drives for Metro.” → Ada – works for – Metro"),
    ),
    ProjectKind(
        "chains",
        N_("Chain"),
        N_("Spans that mean the same person or thing, in numbered chains"),
        "coreference",
        CLUSTER.id,
        1,
        N_("mention"),
        N_("“Ada said that she was late.” → chain 1: Ada, she"),
    ),
)


def all_kinds() -> tuple[ProjectKind, ...]:
    """All kinds of layers that can be added, those not described above by their table row."""
    described = (*KINDS, *MORE_KINDS)
    known = {kind.kind for kind in described}
    others = (
        ProjectKind(row.id, row.title, row.title, row.id, row.id, 1, "")
        for row in LAYER_KINDS.values()
        if row.id not in known and row.editor
    )
    return (*described, *others)


def split_labels(text: str) -> list[str]:
    """Labels typed or pasted, separated by line breaks, commas or semicolons; unique, in order."""
    names: list[str] = []
    for part in re.split(r"[\n,;\t]+", text):
        name = " ".join(part.split())
        if name and name not in names:
            names.append(name)
    return names


class NewProject(Dialog):
    """Creates the file and opens it. With `data` the import dialog follows, else Data offers it."""

    def __init__(self, app: Application, data: Sequence[Path] = ()) -> None:
        super().__init__(
            app.window,
            _("New project"),
            _("Creates one file on your disk. Nothing leaves this computer."),
            width=640,
        )
        self._app, self._data = app, list(data)
        self._name = QLineEdit(self._free_name())
        self._folder = QLineEdit(str(folder_of(app)))
        self._name_field = TitledField(_("Name"), self._name)
        browse = Button(_("Choose…"), "folder-open", on=self._browse, name=_("Choose the folder"))
        self._folder_field = TitledField(_("Folder"), self._folder)
        self._folder_field.put_beside(browse)
        own = app.settings.annotator if app.settings.is_named else ""
        self._person = QLineEdit(own)
        self._person.setPlaceholderText(_("Your name"))
        hint = "" if own else _("Stored with the labels. It is remembered for other projects.")
        self._person_field = TitledField(_("Labels by"), self._person, hint)
        self.put(self._name_field, self._folder_field, self._person_field)
        self.put(words(_("What do you want to label?"), weight=600))
        self._boxes: dict[str, QCheckBox] = {}
        self._labels: dict[str, QPlainTextEdit] = {}
        self._fields: dict[str, TitledField] = {}
        self.put(row(*[(self._kind(kind), 1) for kind in KINDS], gap=12))
        self._more = {kind.id: self._box(kind) for kind in MORE_KINDS}
        self.put(flow(words(_("Also:"), "small", "muted"), *self._more.values()))
        self.put(
            words(
                _(
                    "All of this can be changed later on the Labels page. Labels found in "
                    "imported data are added."
                ),
                "caption",
                "muted",
                wrap=True,
            )
        )
        make = Button(_("Create project"), "file-plus-2", "primary", on=self.make)
        make.setDefault(True)
        self.end(None, Button(_("Cancel"), on=self.reject), make)
        self._name.textChanged.connect(lambda _text: self._name_field.set_error(""))
        self._name.selectAll()
        self._name.setFocus()

    def _box(self, kind: ProjectKind) -> QCheckBox:
        box = QCheckBox(_(kind.title))
        box.setAccessibleName(_("Label {what}", what=_(kind.title).lower()))
        escaping.set_tip(box, _(kind.hint))
        return box

    def _kind(self, kind: ProjectKind) -> QWidget:
        box = self._box(kind)
        text = QPlainTextEdit()
        text.setPlaceholderText(_(kind.example))
        text.setAccessibleName(_("Labels of {what}", what=_(kind.title).lower()))
        text.setTabChangesFocus(True)
        text.setMinimumHeight(theme.px(92))
        text.textChanged.connect(
            lambda: box.setChecked(box.isChecked() or bool(text.toPlainText().strip()))
        )
        field = TitledField(_("Labels, typed or pasted"), text, name=text.accessibleName())
        self._boxes[kind.id], self._labels[kind.id], self._fields[kind.id] = box, text, field
        return card(
            box,
            words(_(kind.hint), "caption", "muted", wrap=True),
            field,
            gap=8,
            margins=(14, 12, 14, 14),
        )

    def choose(self, kind: str, labels: str = "") -> None:
        """Select what to label and set its labels."""
        self._boxes[kind].setChecked(True)
        self._labels[kind].setPlainText(labels)

    def set_place(self, name: str, folder: Path) -> None:
        self._name.setText(name)
        self._folder.setText(str(folder))

    def make(self) -> None:
        """Create the file with its layers; an error is shown at its field."""
        self.fault("")
        path = self._path()
        if path is None or not self._app.may_leave():  # before anything is created
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._create(path)
        except WorkbenchError as error:
            self.fault(str(error))
            return
        except OSError as error:
            self._folder_field.set_error(
                _("Cannot write the file: {why}.", why=error.strerror or error)
            )
            return
        self.accept()
        args: dict[str, Any] = {"files": self._data} if self._data else {}
        if self._app.open_project(path, page="data", ask=False, **args) and not self._data:
            self._app.note(
                _("{name} created. Import text next.", name=path.name),
                self._import,
                action=_("Import…"),
            )

    def _import(self) -> None:
        self._app.go("data", dialog="import")

    def _path(self) -> Path | None:
        name, folder = self._name.text().strip(), self._folder.text().strip()
        if not name or set(name) & set('/\\:*?"<>|') or name.startswith("."):
            self._name_field.set_error(_('Enter a name without / \\ : * ? " < > |'))
            self._name.setFocus()
            return None
        if not folder:
            self._folder_field.set_error(_("Enter a folder."))
            return None
        path = Path(folder).expanduser() / (
            name if name.endswith(paths.PROJECT_SUFFIX) else name + paths.PROJECT_SUFFIX
        )
        if path.exists():
            self._name_field.set_error(
                _(
                    "{name} already exists. Choose another name; existing files are not "
                    "overwritten.",
                    name=path.name,
                )
            )
            return None
        return path

    def _create(self, path: Path) -> None:
        from workbench.operations.people import people
        from workbench.operations.schema import labels
        from workbench.project.project import Project

        settings, person = self._app.settings, " ".join(self._person.text().split())
        if person and not settings.is_named:
            people.introduce(settings, {"name": person})
        project = Project.create(path)
        try:
            if person and person != settings.annotator:
                people.begin_as(project, person)
            for kind in KINDS:
                if self._boxes[kind.id].isChecked():
                    labels.add_layer(
                        project,
                        kind.layer,
                        kind.kind,
                        texts=kind.texts,
                        labels=split_labels(self._labels[kind.id].toPlainText()),
                    )
            for kind in MORE_KINDS:
                if self._more[kind.id].isChecked():
                    labels.add_layer(project, kind.layer, kind.kind, texts=kind.texts)
        except BaseException:
            project.close()
            path.unlink(missing_ok=True)
            raise
        project.close()

    def _free_name(self) -> str:
        stem = self._data[0].stem if self._data else _("My project")
        return paths.free_name(folder_of(self._app), stem, paths.PROJECT_SUFFIX).stem

    def _browse(self) -> None:
        folder = QFileDialog.getExistingDirectory(
            self, _("Choose the folder of the project"), self._folder.text()
        )
        if folder:
            self._folder.setText(folder)
