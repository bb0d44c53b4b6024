"""Common settings for the transformers library: no progress output, and a quicker import."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from workbench.models.families.transformer import attention


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


@cache
def import_models() -> None:
    """Import the base of all models of the library, once for a process.

    Leaves out what takes a fifth of the time (1.4 of 6.3 CPU s from the start of a worker to the
    loaded starter-bert) and is of no use here: a second search of all files of the library, whose
    cache holds 128 of its 550 folders, and scipy, which losses of object detection need. Both are
    only tried: a version of the library without these names is imported as it is.
    """
    from transformers.utils import import_utils as theirs

    import_utils: Any = theirs
    with suppress(AttributeError, ImportError):
        import_utils.create_import_structure_from_path = of_its_folder(
            import_utils.create_import_structure_from_path
        )
    with suppress(AttributeError, ImportError):
        _import_losses(import_utils)
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    ALL_ATTENTION_FUNCTIONS["sdpa"] = attention.of(ALL_ATTENTION_FUNCTIONS["sdpa"])


def of_its_folder(structure: Callable[[Any], dict[Any, Any]]) -> Callable[[Any], dict[Any, Any]]:
    """`structure` of a package, asked for by its folder as in transformers/__init__.py, so that
    the same answer is found in its cache.
    """

    def found(path: Any) -> dict[Any, Any]:
        return structure(Path(path).parent if Path(path).name == "__init__.py" else path)

    return found


def _import_losses(import_utils: Any) -> None:
    """With the answer that scipy is not installed, which is forgotten afterwards."""
    real, has_scipy = import_utils._is_package_available, import_utils.is_scipy_available
    import_utils._is_package_available = lambda *_args, **_named: (False, "")
    try:
        has_scipy.cache_clear()
        has_scipy()
    finally:
        import_utils._is_package_available = real
    try:
        import transformers.loss.loss_utils  # noqa: F401
    finally:
        has_scipy.cache_clear()
