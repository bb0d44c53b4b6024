"""Regular expressions that a user enters."""

from __future__ import annotations

from collections.abc import Callable

import regex

from workbench.base.errors import SpecError
from workbench.base.i18n import _

SECONDS = 0.5  # maximum time per text


def matcher(pattern: str) -> Callable[[str], bool]:
    """A function that tells whether a text matches, ignoring case.

    Raises SpecError if the pattern is not valid; the function, if a text takes too long.
    """
    try:
        compiled = regex.compile(pattern, regex.IGNORECASE)
    except regex.error as error:
        raise SpecError(
            _("{pattern!r} is not a regular expression: {error}.").format(
                pattern=pattern, error=error
            ),
            hint=_("For plain text, put a backslash before characters such as ( [ * + ?"),
        ) from error

    def matches(text: str) -> bool:
        try:
            return compiled.search(text, timeout=SECONDS) is not None
        except TimeoutError as error:
            raise SpecError(
                _("{pattern!r} takes too long on a text.").format(pattern=pattern),
                hint=_("Avoid nested repetitions such as (a+)+."),
            ) from error

    return matches
