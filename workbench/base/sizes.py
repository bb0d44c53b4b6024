"""Numbers of bytes in words. The window shows them in the user's locale, see `ui.style.formats`."""

from __future__ import annotations

from workbench.base.i18n import ngettext

UNITS = ("kB", "MB", "GB")  # decimal: 1 kB is 1000 bytes


def size(count: float, digits: int | None = None) -> str:
    """A number of bytes: 512 bytes, 1.4 MB, 274 MB. `digits`: decimal places."""
    count = round(count)
    if count < 1000:
        return ngettext("{n} byte", "{n} bytes", count)
    value, units = count / 1000, iter(UNITS)
    unit = next(units)
    while value >= 1000 and unit != UNITS[-1]:
        value, unit = value / 1000, next(units)
    return f"{value:.{decimals(count) if digits is None else digits}f} {unit}"


def decimals(count: float) -> int:
    """The decimal places that a size is shown with: none from 100 units on."""
    value = float(count)
    while value >= 1000:
        value /= 1000
    return 0 if value >= 100 and count < 1e12 else 1
