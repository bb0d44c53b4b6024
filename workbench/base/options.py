"""Option: one setting of a run, with its default, bounds and help text.

Text becomes a value once, by `Option.parse`, where it enters: a form, the command line. Everything
behind it holds values, which `Option.checked` lets pass without reading them as text again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import _

MAX_SEED = 2**32 - 1  # the largest seed that numpy's generators accept


@dataclass(frozen=True)
class Option:
    """One setting of a run. `kind` is int, float, bool, choice or text.

    `default` None means automatic; `automatic` then describes the rule, and "auto" is accepted.
    `low` and `high` are inclusive bounds. `group` is main (always shown) or more.
    `choice_titles` are display names of `choices`; without them the choices are shown as terms.
    `check` raises SpecError for a parsed value that does not fit.
    `idle_with`: the name of another option, then the values of it, as text, with which this one has
    no effect; forms hide it then.
    `suggestions` gives texts that a form can offer for an option of kind text.
    """

    name: str
    kind: str
    default: object
    help: str
    choices: tuple[str, ...] = ()
    group: str = "more"
    low: float | None = None
    high: float | None = None
    automatic: str = ""
    title: str = ""
    choice_titles: tuple[str, ...] = ()
    check: Callable[[Any], object] | None = None
    idle_with: tuple[str, ...] = ()
    suggestions: Callable[[], Iterable[str]] | None = None

    def parse(self, text: object) -> object:
        """The value that a text means, as `checked`; at the border where it enters, and only there.

        Raises SpecError that names the option, the text and what is allowed.
        """
        entered = str(text).strip()
        if self.automatic and (text is None or _is_auto(entered)):
            return None
        try:
            value = _READERS[self.kind](entered)
        except ValueError:
            raise self._error(entered, self._wanted()) from None
        return self._checked(value, entered)

    def checked(self, value: object) -> object:
        """A value in its own type, None if it is automatic; text, from a script, is parsed.

        Raises SpecError that names the option, the value and what is allowed.
        """
        if value is None and self.automatic:
            return None
        return self._checked(value, str(value)) if self._is_typed(value) else self.parse(value)

    def _is_typed(self, value: object) -> bool:
        """Whether a value is what `parse` returns for some text, bounds aside."""
        if isinstance(value, str):
            is_plain = value == value.strip() and not (self.automatic and _is_auto(value))
            return self.kind in ("choice", "text") and is_plain
        if isinstance(value, float):
            return self.kind == "float" and math.isfinite(value)
        return (self.kind, type(value)) in (("int", int), ("bool", bool))

    def _checked(self, value: Any, text: str) -> object:
        if self.kind == "choice" and value not in self.choices:
            choices = _("one of {choices}", choices=", ".join(self.choices))
            raise self._error(text, choices)
        if (self.low is not None and value < self.low) or (
            self.high is not None and value > self.high
        ):
            raise self._error(text, self._wanted())
        if self.check is not None:
            self.check(value)
        return value

    def _error(self, text: str, expected: str) -> SpecError:
        message = _(
            "{name} is {text!r}, expected {wanted}.", name=self.name, text=text, wanted=expected
        )
        return SpecError(message, hint=_(self.help))

    def _wanted(self) -> str:
        kinds = {
            "int": _("a whole number"),
            "float": _("a number"),
            "bool": _("yes or no"),
            "choice": _("a choice"),
            "text": _("text"),
        }
        low = _("from {number}", number=_bound(self.low)) if self.low is not None else ""
        high = _("to {number}", number=_bound(self.high)) if self.high is not None else ""
        auto = [_("or auto")] if self.automatic else []
        return " ".join([kinds[self.kind], *filter(None, (low, high)), *auto])


def _is_auto(text: str) -> bool:
    return text.lower() in ("auto", "")


def _bound(number: float) -> str:
    return str(int(number)) if number == int(number) else f"{number:g}"


def _read_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _read_bool(text: str) -> bool:
    known = {
        **dict.fromkeys(("true", "yes", "on", "1"), True),
        **dict.fromkeys(("false", "no", "off", "0"), False),
    }
    if text.lower() not in known:
        raise ValueError(text)
    return known[text.lower()]


_READERS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": _read_float,
    "bool": _read_bool,
    "choice": str,
    "text": str,
}


def complete(options: Sequence[Option], values: Mapping[str, Any], *, owner: str) -> dict[str, Any]:
    """Every option with its value, those not asked for at their defaults.

    Raises SpecError for an option that `owner` does not have, or a value that does not fit.
    """
    known = {option.name: option for option in options}
    if unknown := sorted(set(values) - set(known)):
        raise SpecError(
            _("{owner} has no option {name!r}.", owner=owner, name=unknown[0]),
            hint=_("Options: {names}.", names=", ".join(known) or "–"),
        )
    return {
        name: option.checked(values[name]) if name in values else option.default
        for name, option in known.items()
    }
