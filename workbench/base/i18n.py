"""The one door for strings that a person reads.

`_("…")` gives a text in the person's language. `N_("…")` only notes a text that stands in a table: `_(one.title)` translates it
where it is shown. A text is a whole sentence with named places, `_("{name} is missing.").format(name=name)`: no f-string goes in,
and no sentence is put together from pieces. What is stored or read by programs (states, splits, kinds, keys of JSON) never
passes; where a person sees such a word, the view has a table of words for it. Titles in `builtins.toml` and of
the prompt templates, and the docstrings of commands, count as noted.

A language is a gettext catalogue, `resources/translations/<language>/LC_MESSAGES/glossbench.mo`; English needs none. Tables of
commands, columns and command-line options call `_()` when their module is imported, so the language must stand before: every
process of the application, workers included, begins in `workbench.__main__`, which calls `choose` first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gettext import NullTranslations

_installed: NullTranslations | None = None
_fill: Callable[[str, Sequence[Any], Mapping[str, Any]], str] | None = None


def _(text: str) -> str:
    """The text in the language installed, itself where there is none."""
    if _installed is not None and text:  # gettext answers "" with the catalogue's header
        text = _installed.gettext(text)
    return text if _fill is None else _Sentence(text)


def ngettext(singular: str, plural: str, count: int) -> str:
    """The form of a sentence that goes with `count`, in the installed language.

    Both forms are whole sentences with the same named placeholders, filled afterwards:
    `ngettext("{n} document", "{n} documents", n).format(n=n)`.
    """
    if _installed is not None:
        text = _installed.ngettext(singular, plural, count)
    else:
        text = singular if count == 1 else plural
    return text if _fill is None else _Sentence(text)


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
    """The text itself, noted for translation: whoever shows it calls `_`."""
    return text


def install(translation: NullTranslations | None) -> None:
    """Translate by this catalogue from now on; None is English. What modules took at their import stays as it was."""
    global _installed
    _installed = translation


def choose(folder: Path | None = None) -> None:
    """Install the catalogue for LANGUAGE, LC_ALL, LC_MESSAGES or LANG, the first that is set; English where there is none.

    `folder` holds the catalogues, by default those of the application.
    """
    from workbench.base import paths

    try:
        folder = folder or paths.resource("translations")
    except FileNotFoundError:  # English only: nothing to look for, gettext is not even imported
        return
    import gettext

    install(gettext.translation("glossbench", folder, fallback=True))
