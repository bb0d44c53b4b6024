"""Settings: built from one table; changes take effect immediately."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFrame,
    QLineEdit,
    QListWidget,
    QTabBar,
    QWidget,
)

from workbench.base import paths
from workbench.base.i18n import N_, _
from workbench.ui.dialogs.plugins import PluginsPage
from workbench.ui.dialogs.plugins_state import PluginsState
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.form import Form
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import column, layout_of, row, scrolled

if TYPE_CHECKING:
    from workbench.ui.application import Application


@dataclass(frozen=True)
class SettingRecord:
    """Describes the control for one field of Settings; see `widgets.form`.

    `words` names the choices.
    """

    name: str
    kind: str
    title: str
    help: str
    group: str
    choices: tuple[Any, ...] = ()
    words: tuple[str, ...] = ()
    default: Any = None


ASKED = (
    SettingRecord(
        "theme",
        "choice",
        N_("Theme"),
        "",
        "look",
        ("system", "light", "dark"),
        (N_("Use system theme"), N_("Light"), N_("Dark")),
    ),
    SettingRecord(
        "text_size",
        "choice",
        N_("Text size"),
        N_("Shortcuts: Ctrl + and Ctrl −."),
        "look",
        theme.TEXT_SIZES,
        tuple(f"{text_size}%" for text_size in theme.TEXT_SIZES),
    ),
    SettingRecord(
        "font", "choice", N_("Font"), "", "look", ("inter", "system"), ("Inter", N_("System font"))
    ),
    SettingRecord(
        "annotator",
        "text",
        N_("Annotator"),
        N_("Your name, stored with the labels you create. Takes effect when a project is opened."),
        "work",
    ),
    SettingRecord(
        "documents_folder",
        "text",
        N_("Folder for projects"),
        N_("Folder for new projects and the sample. Empty: your documents folder."),
        "work",
    ),
    SettingRecord(
        "selection_bar",
        "bool",
        N_("Labels beside a selection"),
        N_("Shows labels beside text that is selected with the mouse in Annotate."),
        "work",
    ),
    SettingRecord(
        "device",
        "choice",
        N_("Device"),
        N_("Device for training and inference. Automatic uses the fastest one available."),
        "work",
        ("auto", "cpu", "cuda", "mps"),
        (N_("Automatic"), "CPU", "CUDA", N_("Apple MPS")),
    ),
    SettingRecord(
        "weights",
        "choice",
        N_("Precision in Inspect"),
        N_(
            "Weights of pretrained causal models. bf16 takes half the memory; automatic uses it on "
            "GPUs for models published in 16-bit precision."
        ),
        "work",
        ("auto", "fp32", "bf16"),
        (N_("Automatic"), "fp32", "bf16"),
    ),
    SettingRecord(
        "sessions",
        "bool",
        N_("Faster predictions"),
        N_(
            "After a training, converts the model for onnxruntime and compares both on the "
            "processor. Predictions use it where it is equal and faster. About 2 MB per run."
        ),
        "work",
    ),
    SettingRecord(
        "offline",
        "bool",
        N_("Work offline"),
        N_("Nothing is downloaded from the Hugging Face Hub while this is on."),
        "network",
    ),
    SettingRecord(
        "warm_worker",
        "bool",
        N_("Keep a worker process running"),
        N_(
            "Keeps a process with torch and transformers loaded, so that runs and Inspect start "
            "sooner. Uses about 350 MB."
        ),
        "network",
    ),
)
KEPT = (
    "initials",
    "colour",
    "person_uids",
    "model_folders",
    "pickle_allowed",
    "model_tasks",
    "recent",
    "window",
    "devices",
    "precision_trials",
    "plugin_folders",
    "plugins_enabled",
    "plugins_checked",
    "servers",
)  # set elsewhere, or not shown
GROUPS = (
    ("look", N_("Appearance")),
    ("work", N_("General")),
    ("network", N_("Models and network")),
    ("plugins", N_("Plugins")),
)
PLUGINS = len(GROUPS) - 1


def records(group: str) -> tuple[SettingRecord, ...]:
    """The controls of a tab."""
    return tuple(record for record in ASKED if record.group == group)


class SettingsDialog(Dialog):
    def __init__(self, app: Application) -> None:
        super().__init__(
            app.window, _("Settings"), _("Changes take effect immediately."), width=720
        )
        self._app = app
        self._tabs = QTabBar()
        self._tabs.setDrawBase(False)
        self._tabs.setExpanding(False)
        self._tabs.setAccessibleName(_("Setting categories"))
        self._forms: dict[str, Form] = {}
        self._pages = []
        self._plugins: PluginsState | None = None  # the page is built when first shown
        for group, title in GROUPS:
            self._tabs.addTab(_(title))
            if group == GROUPS[PLUGINS][0]:
                self._pages.append(column(gap=0))
                continue
            self._forms[group] = self._form(group)
            parts: list[QWidget] = [self._forms[group]]
            if group == "work":
                self._forms[group].put_beside(
                    "documents_folder",
                    Button(
                        _("Choose…"), "folder-open", on=self._choose_folder, name=_("Choose folder")
                    ),
                )
            if group == "network":
                parts.append(self._model_folders())
            self._pages.append(column(*parts, None, gap=12))
        self._tabs.currentChanged.connect(self._show)
        area = scrolled(column(*self._pages, gap=0))
        area.setMinimumHeight(theme.px(440))
        self.put(self._tabs, area)
        self._message = words("", "small", "muted")
        close = Button(_("Close"), kind="primary", on=self.accept)
        self.end(self._message, None, close)
        self._show(0)

    def show_plugins(self) -> None:
        self._tabs.setCurrentIndex(PLUGINS)

    def _form(self, group: str) -> Form:
        options = [_Unnamed(record) for record in records(group)]
        values = {option.name: getattr(self._app.settings, option.name) for option in options}
        form = Form(options, values)
        for record in records(group):
            if record.words:
                box = cast(QComboBox, form.control(record.name))
                for index, text in enumerate(record.words):
                    box.setItemText(index, _(text))
        form.changed.connect(lambda name, form=form: self._changed(form, name))
        return form

    def _model_folders(self) -> QFrame:
        self._list = QListWidget()
        self._list.addItems(self._app.settings.model_folders)
        self._list.setVisible(self._list.count() > 0)
        self._list.setFixedHeight(theme.px(96))
        remove = Button(_("Remove from list"), "x", "quiet", small=True, on=self._forget)
        add = Button(_("Add folder…"), "plus", small=True, on=self._add_folder)
        field = TitledField(
            _("Model folders"),
            self._list,
            _(
                "Models in the Hugging Face cache ({cache}) are listed automatically.",
                cache=paths.hub_cache(),
            ),
        )
        return column(field, row(add, remove, None), gap=6)

    def _show(self, index: int) -> None:
        if index == PLUGINS and self._plugins is None:
            pages = [entry.id for entry in self._app.panels()]
            tasks = self._app.new_tasks()
            self._plugins = PluginsState(self._app.settings, self._app.queue, tasks, pages)
            self._plugins.changed.connect(self._tell)
            self.finished.connect(lambda _result, state=self._plugins: state.close())
            layout_of(self._pages[PLUGINS]).addWidget(PluginsPage(self._plugins))
        for number, page in enumerate(self._pages):
            page.setVisible(number == index)
        self._tell()

    def _tell(self) -> None:
        has_plugins = self._plugins is not None and self._tabs.currentIndex() == PLUGINS
        self._message.setText(self._plugins.summary() if has_plugins and self._plugins else "")

    def _changed(self, form: Form, name: str) -> None:
        settings = self._app.settings
        text = form.text(name)
        before = getattr(settings, name)
        if isinstance(before, bool):
            value: Any = text == "true"
        elif isinstance(before, int):
            if not text.isdigit():
                form.set_errors({name: _("Enter a whole number.")})
                return
            value = int(text)
        else:
            value = text
        form.set_errors({})
        setattr(settings, name, value)
        if name in ("theme", "text_size", "font"):
            self._app.restyle()
        else:
            settings.save()
            self._app.settings_changed()

    def _choose_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(
            self,
            _("Choose a folder for projects"),
            self._app.settings.documents_folder or str(paths.documents_folder()),
        )
        if folder:
            cast(QLineEdit, self._forms["work"].control("documents_folder")).setText(folder)
            self._changed(self._forms["work"], "documents_folder")

    def _add_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, _("Choose a model folder"))
        if folder and folder not in self._app.settings.model_folders:
            self._app.settings.model_folders.append(folder)
            self._app.settings.save()
            self._list.addItem(folder)
            self._list.show()

    def _forget(self) -> None:
        for item in self._list.selectedItems():
            settings, folder = self._app.settings, item.text()
            settings.model_folders.remove(folder)
            settings.pickle_allowed = [text for text in settings.pickle_allowed if text != folder]
            self._list.takeItem(self._list.row(item))
        self._list.setVisible(self._list.count() > 0)
        self._app.settings.save()


class _Unnamed:
    """A record without its group, which the tab already names; every value counts as changed."""

    def __init__(self, record: SettingRecord):
        self.name, self.kind, self.title, self.help = (
            record.name,
            record.kind,
            record.title,
            record.help,
        )
        self.choices, self.default, self.group = record.choices, record.default, ""
