"""Common settings for the transformers library: no progress output."""

from __future__ import annotations

import logging


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
