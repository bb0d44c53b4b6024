"""Moments, sizes and shares in words."""

from __future__ import annotations

import time
from datetime import UTC, datetime

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


def when(at: float, now: float | None = None, *, brief: bool = False) -> str:
    """A moment in words: "today, 09:12" (`brief`: "09:12"), "yesterday", "Tuesday", "3 weeks ago". Seconds since the epoch."""
    now = time.time() if now is None else now
    then, today = time.localtime(at), time.localtime(now)
    days = (time.mktime(_midnight(today)) - time.mktime(_midnight(then))) / 86400
    if days < 0.5:
        clock = time.strftime("%H:%M", then)
        return clock if brief else _("today, {time}").format(time=clock)
    if days < 1.5:
        return _("yesterday")
    if days < 7:
        return _(DAYS[then.tm_wday])
    if days < 14:
        return _("last week")
    if days < 60:
        weeks = round(days / 7)
        return ngettext("{count} week ago", "{count} weeks ago", weeks).format(count=weeks)
    return time.strftime("%Y-%m-%d", then)


def when_iso(at: str, now: float | None = None, *, brief: bool = False) -> str:
    """The same from an ISO 8601 moment (UTC where it names no zone); what is none is given back as it is."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return at
    return when(
        (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), now, brief=brief
    )


def size(count: float) -> str:
    """Bytes as a person reads them: 512 B, 1.4 MB, 2 GB."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return (
                f"{count:.0f} {unit}"
                if unit in ("B", "kB") or count >= 100
                else f"{count:.1f} {unit}"
            )
        count /= 1000
    return f"{count:.1f} GB"


def points(share: float | None) -> str:
    """A fraction of 1 as scores are shown: 88.6; "–" for None."""
    return "–" if share is None else f"{100 * share:.1f}"


def _midnight(at: time.struct_time) -> tuple:
    return (at.tm_year, at.tm_mon, at.tm_mday, 0, 0, 0, 0, 0, -1)
