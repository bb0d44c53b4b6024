"""State of the Create splits dialog, with a preview of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.events import State
from workbench.base.watch import Watch
from workbench.operations.documents import splits
from workbench.operations.documents.splits import SplitChoice, SplitData, SplitPreview
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.project.changes import Changes
    from workbench.ui.panel import PanelContext

split_columns = splits.columns
PREVIEW = "splits-preview"  # task


class SplitsState(State):
    """`percent` of train, dev and test; `layers`: names and submitted documents; `chosen` layers.

    `fields`: metadata fields with their values; `field`: the one by which is split, "" for none,
    with the values `train_on` and `test_on`, "" for all others.

    `preview` belongs to the newest choice, or to an older one while `busy` or while `error`
    describes what is wrong with the newest. The documents are read once per choice of layers and
    field.
    Everything is computed off the main thread, for the newest choice only.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.percent: dict[str, int] = {"train": 80, "dev": 10, "test": 10}
        self.seed = self.project.seed
        self.keep = True
        self.layers = splits.split_layers(self.project)
        self.fields = splits.metadata_fields(self.project)
        self.field = self.train_on = self.test_on = ""
        self.chosen = tuple(name for name, submitted in self.layers.items() if submitted)
        self.preview: SplitPreview | None = None
        self.error = ""
        self.busy = False
        self._data: SplitData | None = None
        self.listen(self.project.changed, self._project_changed)
        self._look()

    @property
    def choice(self) -> SplitChoice:
        """The current choice. Raises SpecError if the percentages are invalid."""
        return SplitChoice(
            self.chosen,
            self.seed,
            splits.checked_shares(**self.percent),
            keep=self.keep,
            by=self.field,
            train_on=tuple(filter(None, (self.train_on,))),
            test_on=tuple(filter(None, (self.test_on,))),
        )

    @property
    def ready(self) -> bool:
        """Whether the preview is up to date and changes at least one document."""
        if self.busy or self.error or self.preview is None:
            return False
        return self.preview.changed > 0

    def set_share(self, split: str, percent: int) -> None:
        if percent == self.percent[split]:  # Enter in its field
            return
        self.update(percent={**self.percent, split: percent})
        self._look()

    def set_seed(self, seed: int) -> None:
        if seed == self.seed:
            return
        self.update(seed=seed)
        self._look()

    def set_keep(self, keep: bool) -> None:
        self.update(keep=keep)
        self._look()

    def set_field(self, field: str) -> None:
        """Train on the most frequent value of a metadata field at first; "" for none."""
        first = next(iter(self.fields.get(field, ())), "")
        self.update(field=field, train_on=first, test_on="")
        self._look()

    def set_values(self, **values: str) -> None:
        """Set `train_on` or `test_on`."""
        self.update(**values)
        self._look()

    def switch_layer(self, name: str, on: bool) -> None:
        chosen = {*self.chosen, name} if on else set(self.chosen) - {name}
        self.update(chosen=tuple(layer for layer in self.layers if layer in chosen))
        self._look()

    def close(self) -> None:
        self.context.drop(PREVIEW)
        super().close()

    def _project_changed(self, _changes: Changes) -> None:
        self._data = None
        self._look()

    def _look(self) -> None:
        """Compute the preview of the current choice; that of an older choice ends early and is
        dropped.
        """
        self.context.drop(PREVIEW)
        try:
            choice = self.choice
            choice.check()
        except SpecError as error:
            self.update(error=error.message, busy=False)
            return
        if not choice.layers:
            self.update(error="", preview=None, busy=False)
            return
        data = self._data
        if data is not None and (data.layers, data.by) != (choice.layers, choice.by):
            data = None
        self.update(error="", busy=True)

        def work(*, watch: Watch) -> tuple[SplitData, SplitPreview]:
            read = data or splits.split_data(self.project, choice.layers, choice.by, watch=watch)
            return read, splits.preview_splits(read, choice, watch=watch)

        def done(result: tuple[SplitData, SplitPreview]) -> None:
            self._data, preview = result
            self.update(preview=preview, busy=False)

        def failed(error: Exception) -> None:
            self.update(preview=None, busy=False)
            self.context.fail(error)

        self.context.task(PREVIEW, work, done, failed=failed)
