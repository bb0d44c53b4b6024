"""Translation of all visible strings.

`_("…")` returns a text in the user's language. `N_("…")` only marks a text that is stored in a
table: `_(column.title)` translates it where it is shown. A text is a whole sentence with named
places, `_("{name} is missing.", name=name)`: f-strings are not passed, and sentences are not
concatenated. Values that are stored or read by programs (states, splits, kinds, JSON keys)
are not translated; a view that shows one looks it up in a table. Titles in `builtins.toml`, in the
catalogue of models and of the prompt templates, and docstrings of commands, count as marked.

A language is a gettext catalogue, `resources/translations/<language>/LC_MESSAGES/glossbench.mo`;
English needs none. Tables of commands, columns and command-line options call `_()` when their
module is imported, so the language must be chosen earlier: every process of the application,
workers included, starts in `workbench.__main__`, which calls `choose` first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gettext import NullTranslations

_installed: NullTranslations | None = None
_fill: Callable[[str, Sequence[Any], Mapping[str, Any]], str] | None = None


def _(text: str, /, **values: object) -> str:
    """The text in the installed language, its places filled with `values`.

    Without values it is returned as it is, for `format` to fill.
    """
    if _installed is not None and text:  # gettext answers "" with the catalogue's header
        text = _installed.gettext(text)
    if values:
        return _filled(text, values)
    return text if _fill is None else _Sentence(text)


def ngettext(singular: str, plural: str, count: int, /, **values: object) -> str:
    """The form of a sentence for `count`, its places filled with `values`; `{n}` is the count.

    Both forms are whole sentences with the same named places:
    `ngettext("{n} document in {split}", "{n} documents in {split}", n, split=split)`. Without
    values a sentence that has more places than `{n}` is returned as it is, for `format` to fill.
    """
    if _installed is not None:
        text = _installed.ngettext(singular, plural, count)
    else:
        text = singular if count == 1 else plural
    try:
        return _filled(text, {"n": count, **values})
    except KeyError:
        if values:
            raise
    return text if _fill is None else _Sentence(text)


def _filled(text: str, values: Mapping[str, Any]) -> str:
    return text.format_map(values) if _fill is None else _fill(text, (), values)


class _Sentence(str):
    """A translated text whose places are filled as `use_fill` says."""

    __slots__ = ()

    def format(self, *args: object, **kwargs: object) -> str:
        return str.format(self, *args, **kwargs) if _fill is None else _fill(self, args, kwargs)


def use_fill(fill: Callable[[str, Sequence[Any], Mapping[str, Any]], str] | None) -> None:
    """Let `fill` (text, args, kwargs) do what `format` does with a translated text from now on.

    The window writes numbers so that have a format specification, `{n:,}` or `{seconds:.1f}`, in
    the person's locale. None is `str.format`.
    """
    global _fill
    _fill = fill


def N_(text: str) -> str:
    """The text itself, marked for translation: the code that shows it calls `_`."""
    return text


def install(translation: NullTranslations | None) -> None:
    """Use this catalogue from now on; None is English. Texts translated at import do not change."""
    global _installed
    _installed = translation


def choose(folder: Path | None = None) -> None:
    """Install the catalogue for LANGUAGE, LC_ALL, LC_MESSAGES or LANG, the first that is set.

    English if there is none. `folder` holds the catalogues, by default those of the application.
    """
    from workbench.base import paths

    try:
        folder = folder or paths.resource("translations")
    except FileNotFoundError:  # English: gettext need not be imported
        return
    import gettext

    install(gettext.translation("glossbench", folder, fallback=True))
