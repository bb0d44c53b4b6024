"""Whether the keys of plugin.toml that the application reads have values that it understands.

Nothing is imported: pages and inspectors with a wrong value can be reported at every start.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from workbench.base import paths
from workbench.base.i18n import _
from workbench.base.manifest import Contribution
from workbench.base.plugins import FILE, Plugin
from workbench.inspection.spec import QUESTIONS
from workbench.text.labels import LAYER_KINDS

PLACES = ("page", "dock")
REQUIRED = {"panel": ("place",)}
# What is expected of a value that does not fit, "" if it does.
Rule = Callable[[Any], str]


def fault(plugin: Plugin) -> str:
    """The first wrong value in the manifest of a plugin, "" if there is none."""
    messages = (of_contribution(plugin.folder, entry) for entry in plugin.contributions)
    return next((message for message in messages if message), "")


def of_contribution(folder: Path, contribution: Contribution) -> str:
    """The first wrong value of one entry: file, key, value and what is expected; or ""."""
    for key, rule in RULES.get(contribution.kind, {}).items():
        if key not in contribution.options:
            if key in REQUIRED.get(contribution.kind, ()):
                message = _("{file}: {id} has no key {key!r}. {expected}")
                return message.format(
                    file=folder / FILE, id=contribution.id, key=key, expected=rule(None)
                )
            continue
        value = contribution.options[key]
        if expected := rule(value):
            message = _("{file}: {key} of {id} is {value!r}. {expected}")
            return message.format(
                file=folder / FILE, key=key, id=contribution.id, value=value, expected=expected
            )
    return ""


def _icon(value: Any) -> str:
    names = sorted(paths.icon_names())
    if value in names:
        return ""
    similar = difflib.get_close_matches(str(value), names, n=5, cutoff=0.4)
    return _(
        "Expected the name of a file in {folder}, for example {names}.",
        folder=paths.resource("icons"),
        names=", ".join(similar or names[:5]),
    )


def _one_of(allowed: Collection[str]) -> Rule:
    def expected(value: Any) -> str:
        if isinstance(value, str) and value in allowed:
            return ""
        return _("Expected one of: {names}.", names=", ".join(allowed))

    return expected


def _some_of(allowed: Collection[str]) -> Rule:
    def expected(value: Any) -> str:
        if isinstance(value, list) and all(item in allowed for item in value):
            return ""
        return _("Expected a list of: {names}.", names=", ".join(allowed))

    return expected


def _strings(value: Any) -> str:
    fits = isinstance(value, list) and all(isinstance(item, str) and item for item in value)
    return "" if fits else _("Expected a list of strings.")


def _suffix(value: Any) -> str:
    """ "" is right for a format that writes a folder."""
    fits = isinstance(value, str) and value[:1] in ("", ".") and "/" not in value
    return "" if fits else _('Expected a file name suffix such as ".txt".')


def _package(value: Any) -> str:
    fits = isinstance(value, str) and value.isidentifier()
    return "" if fits else _("Expected the import name of a Python package.")


def _truth(value: Any) -> str:
    return "" if isinstance(value, bool) else _("Expected true or false.")


RULES: Mapping[str, Mapping[str, Rule]] = {  # kind → key → rule
    "panel": {"place": _one_of(PLACES), "icon": _icon},
    "importer": {"patterns": _strings},
    "segmenter": {"languages": _strings, "package": _package},
    "inspector": {"question": _one_of(tuple(QUESTIONS)), "needs": _strings, "questions": _truth},
    "strategy": {"needs": _strings, "layers": _some_of(tuple(LAYER_KINDS))},
    "exporter": {
        "suffix": _suffix,
        "several": _truth,
        "people": _truth,
        "questions": _truth,
        "folder": _truth,
    },
    "model_exporter": {"default": _truth},
}
