"""Format numbers, sizes, times and fractions for display.

A state uses these functions without Qt. The application calls `use` at startup with the formats of
the user's locale, see `locale.py`; until then, and in tests, those of `Plain` apply.
Numbers in sentences, `_("{n:,} documents").format(n=n)`, use the same formats.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from numbers import Real
from string import Formatter
from typing import Any, Protocol, cast

from workbench.base import i18n, sizes
from workbench.base.i18n import N_, _, ngettext

DAYS = (
    N_("Monday"),
    N_("Tuesday"),
    N_("Wednesday"),
    N_("Thursday"),
    N_("Friday"),
    N_("Saturday"),
    N_("Sunday"),
)
UNKNOWN = "–"
MINUS = "−"  # as wide as the plus


class Formats(Protocol):
    """Number and time formats of a locale."""

    def number(self, value: float, spec: str) -> str:
        """`spec` is a Python format specification, such as "," or ".1f"."""
        ...

    def size(self, count: int, digits: int) -> str:
        """Bytes in SI units, with `digits` decimal places."""
        ...

    def clock(self, at: time.struct_time) -> str:
        """Hours and minutes."""
        ...

    def date(self, at: time.struct_time) -> str:
        """Year, month and day."""
        ...


class Plain:
    """English numbers, 24-hour clock, ISO 8601 dates: for the locale "C" and without a window."""

    def number(self, value: float, spec: str) -> str:
        return format(value, spec)

    def size(self, count: int, digits: int) -> str:
        return sizes.size(count, digits)

    def clock(self, at: time.struct_time) -> str:
        return time.strftime("%H:%M", at)

    def date(self, at: time.struct_time) -> str:
        return time.strftime("%Y-%m-%d", at)


_formats: Formats = Plain()


def use(formats: Formats) -> None:
    """Set the formats of numbers, sizes and times."""
    global _formats
    _formats = formats
    i18n.use_fill(None if isinstance(formats, Plain) else _Sentences().vformat)


class _Sentences(Formatter):
    """A Formatter that formats numbers with a format specification for the locale."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec and isinstance(value, Real):  # numbers of numpy are Real as well
            return _with_minus(_formats.number(cast(float, value), format_spec))
        return format(value, format_spec)


# ---------------------------------------------------------------- numbers


def count(value: int) -> str:
    """An integer with thousands separators: 12,345."""
    return _with_minus(_formats.number(value, ","))


def decimal(value: float, digits: int, *, signed: bool = False) -> str:
    """A number with `digits` decimal places; `signed` adds a plus sign, but not to zero."""
    rounded = round(value, digits)
    if rounded == 0:
        return _formats.number(0.0, f".{digits}f")  # not -0.0
    return _with_minus(_formats.number(value, f"{'+' if signed else ''}.{digits}f"))


def _with_minus(number: str) -> str:
    return MINUS + number[1:] if number.startswith("-") else number


def with_hyphen(text: str) -> str:
    """A shown number as other programs read it: with a hyphen for the minus sign."""
    is_negative = text.startswith(MINUS) and text[1:2].isdigit()
    return "-" + text[1:] if is_negative else text


def scientific(value: float) -> str:
    """A very small or large number: 2.0e-05."""
    return _with_minus(_formats.number(value, ".1e"))


def significant(value: float, digits: int = 6) -> str:
    """A number with at most `digits` significant digits: 0.00123, 2e-05."""
    return _with_minus(_formats.number(value, f".{digits}g"))


def typed(value: float) -> str:
    """As `significant`, for a field in which the user types the number."""
    return with_hyphen(significant(value))


def points(share: float | None, digits: int = 1, *, signed: bool = False) -> str:
    """A fraction of 1 as a score: 88.6; "–" for None."""
    return UNKNOWN if share is None else decimal(100 * share, digits, signed=signed)


def p_value(p: float) -> str:
    """A p-value with three decimal places: 0.038, "< 0.001"."""
    return f"< {decimal(0.001, 3)}" if p < 0.001 else decimal(p, 3)


def size(count: int) -> str:
    """A number of bytes: 512 bytes, 1.4 MB, 274 MB."""
    return _formats.size(count, sizes.decimals(count))


# ---------------------------------------------------------------- times


def clock(at: float) -> str:
    """The time of day of seconds since the epoch: 09:12."""
    return _formats.clock(time.localtime(at))


def duration(seconds: float) -> str:
    """0:31, 2:05, 1:02:05."""
    whole = max(0, round(seconds))
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


def day(date: str) -> str:
    """An ISO 8601 date in the format of the locale."""
    return _formats.date(time.strptime(date, "%Y-%m-%d"))


def when(at: float, now: float | None = None, *, brief: bool = False) -> str:
    """Format seconds since the epoch relative to now.

    Examples: "today, 09:12" (`brief`: "09:12"), "yesterday", "Tuesday", "3 weeks ago".
    """
    now = time.time() if now is None else now
    then, today = time.localtime(at), time.localtime(now)
    days = (time.mktime(_midnight(today)) - time.mktime(_midnight(then))) / 86400
    if days < 0.5:
        message = _formats.clock(then)
        return message if brief else _("today, {time}", time=message)
    if days < 1.5:
        return _("yesterday")
    if days < 7:
        return _(DAYS[then.tm_wday])
    if days < 14:
        return _("last week")
    if days < 60:
        weeks = round(days / 7)
        return ngettext("{count} week ago", "{count} weeks ago", weeks, count=weeks)
    return _formats.date(then)


def when_iso(at: str, now: float | None = None, *, brief: bool = False) -> str:
    """Same for an ISO 8601 time (UTC if it names no zone); other text is returned unchanged."""
    seconds = _seconds(at)
    return at if seconds is None else when(seconds, now, brief=brief)


def moment(at: str) -> str:
    """Date and time of day of an ISO 8601 time; other text is returned unchanged."""
    seconds = _seconds(at)
    if seconds is None:
        return at
    there = time.localtime(seconds)
    return _("{date}, {time}", date=_formats.date(there), time=_formats.clock(there))


def licence(name: str) -> str:
    """As SPDX writes it: "cc-by-sa-3.0" → "CC-BY-SA-3.0"."""
    from workbench.models.spec.licences import spdx

    return spdx(name)


def _seconds(at: str) -> float | None:
    """Since the epoch; None for a text that is not an ISO 8601 time."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _midnight(at: time.struct_time) -> tuple[int, int, int, int, int, int, int, int, int]:
    return (at.tm_year, at.tm_mon, at.tm_mday, 0, 0, 0, 0, 0, -1)
