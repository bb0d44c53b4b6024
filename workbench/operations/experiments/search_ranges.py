"""What a search tries: a range of values for each setting, as text and as values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.base.records import JsonRecord
from workbench.training.methods import spec as methods
from workbench.training.spec import options as options_of

if TYPE_CHECKING:
    from workbench.base.options import Option
    from workbench.models.spec import ModelInfo
    from workbench.training.plan import Plan
    from workbench.training.spec import TrainSpec

LOG, LINEAR, WHOLE, LIST = "log", "linear", "whole", "list"
SCALES = {LOG: N_("log"), LINEAR: N_("linear"), WHOLE: N_("whole"), LIST: N_("list")}
AUTO = "auto"
_TEXT = re.compile(r"\s*(?P<low>[^:]+?)\s*\.\.\s*(?P<high>[^:]+?)\s*(?::\s*(?P<scale>\w+)\s*)?")


@dataclass(frozen=True)
class Range(JsonRecord):
    """Values of a setting. scale: LINEAR, LOG, WHOLE (numbers) from low to high, both included, or
    LIST, one of `values`; None in it is the automatic value. One value alone is that of every
    trial.
    """

    name: str
    scale: str
    low: float | None = None
    high: float | None = None
    values: tuple[Any, ...] = ()

    @property
    def is_fixed(self) -> bool:
        return self.scale == LIST and len(self.values) == 1

    @property
    def size(self) -> float:
        """How many different values it has; infinite for fractions."""
        if self.scale == LIST:
            return len(self.values)
        low, high = self.ends
        return high - low + 1 if self.scale == WHOLE else math.inf

    @property
    def ends(self) -> tuple[float, float]:
        """Of a range of numbers."""
        if self.low is None or self.high is None:
            raise TypeError(f"{self.name} is a list")
        return self.low, self.high

    def has(self, value: object) -> bool:
        if self.scale == LIST:
            return value in self.values
        number = isinstance(value, int | float) and not isinstance(value, bool)
        low, high = self.ends
        return number and low <= value <= high  # type: ignore[operator]  # a number

    def number(self, value: Any) -> Any:
        """A value of the setting; in a range of numbers as a number, also where it is a text."""
        return int(value) if self.scale != LIST and isinstance(value, str) else value

    def text(self) -> str:
        """As `parse` reads it."""
        if self.scale == LIST:
            return ", ".join(map(value_text, self.values))
        return f"{value_text(self.low)}..{value_text(self.high)}:{self.scale}"


def value_text(value: object) -> str:
    """A value as it is typed."""
    if value is None:
        return AUTO
    if not isinstance(value, float):
        return str(value)
    if not 0 < abs(value) < 1e-3:
        return f"{value:.4g}"
    digits, power = f"{value:.3e}".split("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(power)}"


def scales_of(option: Option) -> tuple[str, ...]:
    """The scales that a setting can have, the usual one first."""
    if option.kind == "int":
        return WHOLE, LOG, LIST
    if option.kind == "float":
        return LINEAR, LOG, LIST
    return (LIST, WHOLE) if _is_counted(option) else (LIST,)


def parse(option: Option, text: str) -> Range:
    """`1e-5..1e-4:log`, or a list of values: `8, 16, 32`. Raises SpecError."""
    if match := _TEXT.fullmatch(text):
        scale = match["scale"] or (WHOLE if option.kind in ("int", "text") else LINEAR)
        return between(option, match["low"], match["high"], scale)
    return listed(option, text.split(","))


def between(option: Option, low: str, high: str, scale: str) -> Range:
    """A range of numbers with these ends. Raises SpecError that names the setting and the value."""
    if scale not in scales_of(option) or scale == LIST:
        raise SpecError(
            _("{name} cannot have the scale {scale!r}.", name=option.name, scale=scale),
            hint=_("Scales: {names}.", names=", ".join(scales_of(option))),
        )
    if not low.strip() or not high.strip():
        raise SpecError(_("{name} needs a lowest and a highest value.", name=option.name))
    first, last = (_number(option, text) for text in (low, high))
    if first >= last:
        raise SpecError(
            _(
                "{name} goes from {low} to {high}: the second value must be larger.",
                name=option.name,
                low=value_text(first),
                high=value_text(last),
            )
        )
    if scale == LOG and first <= 0:
        raise SpecError(
            _(
                "{name} starts at {low}: a logarithmic scale has only values above 0.",
                name=option.name,
                low=value_text(first),
            )
        )
    return Range(option.name, scale, first, last)


def _number(option: Option, text: str) -> float:
    value = option.checked(text)
    if isinstance(value, str):  # such as a number of layers
        value = int(value) if value.isdecimal() else None
    if not isinstance(value, int | float):
        raise SpecError(
            _("{name} is {text!r}, expected a number.", name=option.name, text=text.strip())
        )
    return value


def listed(option: Option, texts: Iterable[str]) -> Range:
    """The values of a list, each once. Raises SpecError that names the setting and the value."""
    parts = [text.strip() for text in texts if text.strip()]
    values = tuple(dict.fromkeys(map(option.checked, parts)))
    if not values:
        raise SpecError(_("{name} needs at least one value.", name=option.name))
    return Range(option.name, LIST, values=values)


def parse_all(texts: Mapping[str, str], spec: TrainSpec) -> tuple[Range, ...]:
    """The ranges of settings by name. Raises SpecError."""
    text = texts.get("method")
    method = next(option for option in options_of(spec.task) if option.name == "method")
    first = (parse(method, text),) if text is not None else ()
    known = known_options(first, spec)
    return tuple(parse(_known(name, known), item) for name, item in texts.items())


def _known(name: str, known: Mapping[str, Option]) -> Option:
    if name not in known:
        raise SpecError(
            _("There is no setting {name!r} here.", name=name),
            hint=_("Known: {known}.", known=", ".join(known)),
        )
    return known[name]


def checked(ranges: Sequence[Range], spec: TrainSpec) -> dict[str, Option]:
    """The settings of the ranges by name. Raises SpecError for one that the task, a method or the
    model does not have, for one that occurs twice, or if nothing varies.
    """
    known = known_options(ranges, spec)
    for item in ranges:
        _known(item.name, known)
    names = [item.name for item in ranges]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SpecError(_("{name} has two ranges.", name=twice))
    if all(item.is_fixed for item in ranges):
        raise SpecError(_("Choose at least one setting with more than one value."))
    return {name: known[name] for name in names}


def known_options(ranges: Sequence[Range], spec: TrainSpec) -> dict[str, Option]:
    """The settings that every method of the search has."""
    tried = next((item.values for item in ranges if item.name == "method"), (spec.method,))
    tables = [
        {option.name: option for option in options_of(spec.task, method, spec.family)}
        for method in tried
    ]
    return {
        name: option
        for name, option in tables[0].items()
        if all(name in table for table in tables[1:])
    }


# ---------------------------------------------------------------- suggested ranges


@dataclass(frozen=True)
class Suggestion:
    """A range that the form offers; on: it is searched unless the user unticks it."""

    range: Range
    on: bool = True


def suggested(spec: TrainSpec, plan: Plan, model: ModelInfo) -> tuple[Suggestion, ...]:
    """Ranges around the automatic values of this task, model and number of documents, with those of
    the method.
    """
    rate, batch = plan.learning_rate, plan.batch_size
    batches = tuple(sorted({max(4, batch // 2), batch, batch * 2}))
    epochs = max(1, plan.epochs // 2), max(2, round(plan.epochs * 1.5))
    suggestions = (
        Suggestion(Range("learning_rate", LOG, _rounded(rate / 3), _rounded(rate * 3))),
        Suggestion(Range("epochs", WHOLE, *epochs)),
        Suggestion(Range("batch_size", LIST, values=batches)),
        *_of_method(spec.method, model),
        Suggestion(Range("dropout", LINEAR, 0.0, 0.3), bool(model.layers)),
        Suggestion(Range("warmup", LINEAR, 0.0, 0.2)),
        Suggestion(Range("weight_decay", LINEAR, 0.0, 0.1), on=False),
    )
    known = known_options((), spec)
    return tuple(item for item in suggestions if item.range.name in known)


def _of_method(method: str, model: ModelInfo) -> Iterable[Suggestion]:
    names = {option.name for option in methods.info(method).options}
    if "freeze" in names and model.layers > 1:
        yield Suggestion(Range("freeze", WHOLE, 0, max(1, round(model.layers * 2 / 3))))
    if "lora_rank" in names:
        yield Suggestion(Range("lora_rank", LIST, values=(4, 8, 16, 32)))
        yield Suggestion(Range("lora_dropout", LINEAR, 0.0, 0.2), on=False)
    if "adapter_size" in names:
        yield Suggestion(Range("adapter_size", LIST, values=(16, 32, 64, 128)))
    if "layer_decay" in names:
        yield Suggestion(Range("layer_decay", LINEAR, 1.0, 2.6), on=False)


def _rounded(value: float) -> float:
    """To one digit: 3.3e-5 is 3e-5."""
    return float(f"{value:.0e}")


def _is_counted(option: Option) -> bool:
    """Whether an option of kind text can be a number, such as one of frozen layers."""
    if option.kind != "text" or option.check is None:
        return False
    return _fits(option, "1") and not _fits(option, "a")


def _fits(option: Option, text: str) -> bool:
    try:
        option.checked(text)
    except SpecError:
        return False
    return True


def settings_of(
    ranges: Sequence[Range], values: Mapping[str, Any], known: Mapping[str, Option]
) -> dict[str, Any]:
    """The settings of a trial, as values of their types. values: of the ranges that vary."""
    return {
        item.name: _setting(
            item, known[item.name], item.values[0] if item.is_fixed else values[item.name]
        )
        for item in ranges
    }


def _setting(item: Range, option: Option, value: Any) -> object:
    if isinstance(value, float) and item.scale != LIST:
        low, high = item.ends
        value = min(max(float(f"{value:.3g}"), low), high)  # readable
    is_text = option.kind == "text" and value is not None
    return option.checked(str(value) if is_text else value)
