"""Common settings for the transformers library: no progress output, one-line errors."""

from __future__ import annotations

import logging


def first_line(error: BaseException) -> str:
    lines = str(error).split("\n")
    first = lines[0].strip()
    if (
        first.endswith(":") and len(lines) > 1
    ):  # the library's own checks name the field on the first line, the reason on the next
        first = f"{first} {lines[1].strip()}"
    return first[:300].removesuffix(".") or type(error).__name__


class quiet:
    """The library warns of every newly initialized head, which is expected here."""

    def __enter__(self) -> None:
        from transformers.utils import logging as theirs

        self.logger, self.before = theirs.get_logger("transformers"), theirs.get_verbosity()
        theirs.set_verbosity(logging.ERROR)
        theirs.disable_progress_bar()

    def __exit__(self, *_: object) -> None:
        from transformers.utils import logging as theirs

        theirs.set_verbosity(self.before)
