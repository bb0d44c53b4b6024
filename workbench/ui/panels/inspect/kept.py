"""What is kept of results on the Inspect page: files, and samples of language models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.inspecting import inspect_files
from workbench.operations.inspecting import retained_samples as kept_samples
from workbench.operations.inspecting.retained_samples import KeptSample

if TYPE_CHECKING:
    from workbench.operations.inspecting.inspect import Choice
    from workbench.text.document import Document
    from workbench.ui.panel import PanelContext


class Kept(State):
    """The part of the state of Inspect that keeps results.

    `choice` is the model, `document` the text.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context = context
        self.choice: Choice | None = None
        self.document: Document | None = None

    def save(self, write: Callable[[], object], path: Path) -> None:
        """Write a file of a view, and show a message, with a text that `write` returns."""
        try:
            lacks = write()
        except OSError as error:
            message = _("Cannot write {path}: {why}.")
            self.context.fail(
                WorkbenchError(message.format(path=path, why=error.strerror or error))
            )
        else:
            saved = _("Saved {path}").format(path=path)
            self.context.note(f"{saved}. {lacks}" if isinstance(lacks, str) and lacks else saved)

    def save_matrix(self, path: Path, values: Any, names: Sequence[str]) -> None:
        """Save a matrix (T, T) with row and column names as CSV, or without names as .npy."""
        self.save(lambda: inspect_files.write_matrix(path, values, names), path)

    def save_rows(self, path: Path, rows: Sequence[Sequence[object]]) -> None:
        """Save rows as CSV."""
        self.save(lambda: inspect_files.write_rows(path, rows), path)

    def save_result(self, path: Path, result: Any) -> None:
        """Save a result as JSON."""
        self.save(lambda: inspect_files.write_json(path, result), path)

    def kept_samples(self) -> tuple[KeptSample, ...]:
        """Samples of language models that were kept, of all projects."""
        return kept_samples.kept()

    def keep_sample(self, text: str, settings: Mapping[str, Any]) -> None:
        """Keep a continuation of the current text with its settings."""
        if self.document is None or self.choice is None:
            return
        sample = KeptSample(self.document.text, text, self.choice.title, settings)
        self._change_kept(lambda: kept_samples.keep(sample))

    def drop_sample(self, sample: KeptSample) -> None:
        self._change_kept(lambda: kept_samples.drop(sample))

    def _change_kept(self, change: Callable[[], None]) -> None:
        try:
            change()
        except OSError as error:
            message = _("The samples cannot be saved: {why}.")
            self.context.fail(WorkbenchError(message.format(why=error.strerror or error)))
