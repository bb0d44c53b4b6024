"""A form built from option records, so that new options need no new widgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QGridLayout,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from workbench.base.i18n import N_, _
from workbench.base.terms import term
from workbench.ui.style import escaping
from workbench.ui.widgets.controls.field import TitledField, choose, chosen_value, combo
from workbench.ui.widgets.controls.spin import SpinBox
from workbench.ui.widgets.controls.words import call, words

GROUPS = {"main": N_("Main"), "more": N_("More")}

AUTOMATIC = ""  # value of a choice that is left to the rule of its option


class Form(QFrame):
    """One field per record, in groups ordered by first occurrence.

    A record has `name`, `kind` (int, float, bool, choice, text), `default`, `help`, and may have
    `choices`, `title`, `group`, `low`, `high`. `changed` is emitted with the name of an option that
    the user changed. `values()` returns what differs from the defaults as strings for
    `parse_settings`; numbers are entered as text and validated there, so that an error can be shown
    at its field.
    """

    changed = Signal(str)

    def __init__(
        self,
        options: Sequence[Any],
        values: Mapping[str, Any] | None = None,
        *,
        columns: int = 1,
    ):
        """With several columns there are no groups, and the help of a field is its tooltip."""
        super().__init__()
        self._options = {option.name: option for option in options}
        self._others: dict[str, str] = {}  # values of options that are elsewhere
        self._wanted = ""  # text that is searched for
        self._fields: dict[str, TitledField | QWidget] = {}
        self._controls: dict[str, QWidget] = {}
        self._headings: dict[str, tuple[QWidget, list[str]]] = {}  # group → heading, options
        if columns > 1:
            self._place_in(columns)
        else:
            self._place_below()
        self.set_values(values or {})

    def _place_in(self, columns: int) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(10)
        for number, option in enumerate(self._options.values()):
            field = self._field(option)
            if isinstance(field, TitledField):
                field.set_hint("")
            escaping.set_tip(field, _(option.help))
            grid.addWidget(field, *divmod(number, columns))
        for column in range(min(columns, len(self._options))):
            grid.setColumnStretch(column, 1)

    def _place_below(self) -> None:
        options = tuple(self._options.values())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        for group in dict.fromkeys(getattr(option, "group", "") for option in options):
            members = [option for option in options if getattr(option, "group", "") == group]
            if group:
                title = GROUPS.get(group, group)
                heading = words(_(title), "small", "text", weight=600)
                self._headings[group] = heading, [option.name for option in members]
                layout.addWidget(heading)
            for option in members:
                layout.addWidget(self._field(option))

    def names(self) -> tuple[str, ...]:
        """The names of all options."""
        return tuple(self._options)

    def values(self) -> dict[str, str]:
        """name → text of every option whose value is not the default."""
        texts = {}
        for name, option in self._options.items():
            text = self.text(name)
            if text != _as_text(option.default):
                texts[name] = text
        return texts

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Set these values, and defaults for the rest; emits nothing.

        Values of options that are elsewhere tell whether those here have an effect (`idle_with`).
        """
        for name, option in self._options.items():
            self._show(name, values.get(name, option.default))
        known = values.items()
        self._others = {name: str(value) for name, value in known if name not in self._options}
        self._show_used()

    def set_errors(self, errors: Mapping[str, str]) -> None:
        """Show errors (name of an option → message) at their fields, and none at the others."""
        for name, widget in self._fields.items():
            if isinstance(widget, TitledField):
                widget.set_error(errors.get(name, ""))

    def filter(self, text: str) -> int:
        """Show only options whose name or help contains `text`; returns their number."""
        self._wanted = text.casefold().strip()
        return self._show_used()

    def _show_used(self) -> int:
        """Show what is searched for; without a search, what has an effect or was changed."""
        count = 0
        for name, widget in self._fields.items():
            option = self._options[name]
            words = f"{name} {_title(option)} {_(option.help)}".casefold()
            fits = self._wanted in words if self._wanted else self._is_used(option)
            widget.setVisible(fits)
            count += fits
        for heading, names in self._headings.values():
            heading.setVisible(any(not self._fields[name].isHidden() for name in names))
        return count

    def _is_used(self, option: Any) -> bool:
        if not (idle := getattr(option, "idle_with", ())):
            return True
        other, *values = idle
        known = self.text(other) if other in self._controls else self._others.get(other)
        return known not in values or self.text(option.name) != _as_text(option.default)

    def focused(self) -> str:
        """The name of the focused option, "" if none has the focus."""
        return next((name for name, control in self._controls.items() if control.hasFocus()), "")

    def focus(self, name: str) -> None:
        """Focus the control of an option, if it exists."""
        if name in self._controls:
            self._controls[name].setFocus()

    def control(self, name: str) -> QWidget:
        return self._controls[name]

    def put_beside(self, name: str, *parts: QWidget) -> None:
        """Place buttons beside the control of an option."""
        cast(TitledField, self._fields[name]).put_beside(*parts)

    def _field(self, option: Any) -> QWidget:
        control = self._control(option)
        self._controls[option.name] = control
        if isinstance(control, QCheckBox):
            it = QFrame()
            layout = QVBoxLayout(it)
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(2)
            layout.addWidget(control)
            layout.addWidget(words(_(option.help), "caption", "muted", wrap=True))
        else:
            it = TitledField(_title(option), control, _(option.help))
        self._fields[option.name] = it
        return it

    def _control(self, option: Any) -> QWidget:
        name = option.name
        it: QWidget
        if option.kind == "bool":
            it = check = QCheckBox(_title(option))
            check.toggled.connect(lambda _on: self._edited(name))
        elif getattr(option, "choices", ()):
            it = box = combo(_entries(option), typed=option.kind == "text")
            box.activated.connect(lambda _index: self._edited(name))
            if (line := box.lineEdit()) is not None:
                line.textEdited.connect(lambda _text: self._edited(name))
        elif option.kind == "spin":
            it = spin = SpinBox(
                int(getattr(option, "low", 0) or 0), int(getattr(option, "high", 0) or 2**31 - 1)
            )
            spin.valueChanged.connect(lambda _value: self._edited(name))
        else:
            it = line = QLineEdit()
            if getattr(option, "automatic", ""):
                line.setPlaceholderText(_("automatic: {rule}", rule=_(option.automatic)))
            line.textEdited.connect(lambda _text: self._edited(name))
        return call(it, _title(option), _(option.help))

    def _edited(self, name: str) -> None:
        self._show_used()
        self.changed.emit(name)

    def text(self, name: str) -> str:
        """The value of an option as text."""
        control = self._controls[name]
        if isinstance(control, QCheckBox):
            return _as_text(control.isChecked())
        if isinstance(control, QComboBox):
            return _as_text(chosen_value(control))
        if isinstance(control, QSpinBox):
            return str(control.value())
        return cast(QLineEdit, control).text().strip()

    def _show(self, name: str, value: Any) -> None:
        control = self._controls[name]
        blocked = control.blockSignals(True)
        if isinstance(control, QCheckBox):
            control.setChecked(value in (True, "true", "True", "1", "yes"))
        elif isinstance(control, QComboBox):
            choose(
                control,
                next(
                    (
                        choice
                        for choice in self._options[name].choices
                        if _as_text(choice) == _as_text(value)
                    ),
                    AUTOMATIC if value is None else value,
                ),
            )
        elif isinstance(control, QSpinBox):
            control.setValue(int(value))
        else:
            line = cast(QLineEdit, control)
            line.setText(_as_text(value))
            line.setCursorPosition(0)  # shows the start of a long value
        control.blockSignals(blocked)


def _entries(option: Any) -> list[tuple[Any, str]]:
    """(value, title) of the choices; the first is AUTOMATIC if the value can be left open."""
    entries = list(zip(option.choices, _choice_titles(option), strict=True))
    is_open = getattr(option, "automatic", "") and option.default is None
    return [(AUTOMATIC, _("Automatic")), *entries] if is_open else entries


def _choice_titles(option: Any) -> list[str]:
    """Titles of the choices of a task or plugin; other words are translated by `term`."""
    if titles := getattr(option, "choice_titles", ()):
        return [_(title) for title in titles]
    return [term(str(choice)) for choice in option.choices]


def _title(option: Any) -> str:
    title = _(option.title) if getattr(option, "title", "") else option.name.replace("_", " ")
    return title[:1].upper() + title[1:]


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)
