"""Formats of the user's locale, from Qt."""

from __future__ import annotations

import re
import time

from PySide6.QtCore import QDate, QLocale, QTime

from workbench.ui.style import formats

_SPEC = re.compile(r"(?P<sign>\+?)(?P<grouped>,?)(?:\.(?P<digits>\d+))?(?P<kind>[defg%]?)")


class LocaleFormats:
    """Number, size and time formats of a QLocale."""

    def __init__(self, locale: QLocale):
        self._grouped, self._joined = QLocale(locale), QLocale(locale)
        self._joined.setNumberOptions(QLocale.NumberOption.OmitGroupSeparator)

    def number(self, value: float, spec: str) -> str:
        match = _SPEC.fullmatch(spec)
        is_whole = hasattr(value, "__index__")
        if match is None or (is_whole and not -(2**63) <= value < 2**63):
            return format(value, spec)
        locale = self._grouped if match["grouped"] else self._joined
        sign = locale.positiveSign() if match["sign"] and value >= 0 else ""
        kind, digits = match["kind"], int(match["digits"] or 6)
        if is_whole and kind in ("", "d"):
            return sign + locale.toString(int(value))
        if kind == "%":
            return sign + locale.toString(100.0 * float(value), "f", digits) + locale.percent()
        return sign + locale.toString(float(value), kind or "g", digits)

    def size(self, count: int, digits: int) -> str:
        return self._grouped.formattedDataSize(
            int(count), digits, QLocale.DataSizeFormat.DataSizeSIFormat
        )

    def clock(self, at: time.struct_time) -> str:
        return self._grouped.toString(QTime(at.tm_hour, at.tm_min), QLocale.FormatType.ShortFormat)

    def date(self, at: time.struct_time) -> str:
        return self._grouped.toString(
            QDate(at.tm_year, at.tm_mon, at.tm_mday), QLocale.FormatType.ShortFormat
        )


def use_system() -> None:
    """Use the formats of the system's settings, unless the locale is "C"."""
    system = QLocale.system()
    if system.language() != QLocale.Language.C:
        formats.use(LocaleFormats(system))
