"""State of a review: possible errors, one of them in detail, and decisions about it. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.evaluation import errors, reviews
from workbench.tasks import spec as tasks
from workbench.text.result_view import UNKNOWN
from workbench.ui.panels.results.review.similar import SimilarState
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.operations.evaluation.errors import Detail
    from workbench.operations.evaluation.reviews import ReviewItem
    from workbench.storage.runs.runs import Run
    from workbench.text.labels import Layer
    from workbench.text.result_view import ResultView
    from workbench.ui.panel import PanelContext

VERDICTS, NONE = reviews.TITLES, tasks.NONE
LABELLED = ("span", "mark", "state", "flag")  # changes of a document that change its errors
Identity = tuple[object, ...]


class ReviewState(State):
    """Errors of a run, or doubtful gold labels: a subclass reads them.

    `items`: all of them, None while they are read. `shown`: those that pass the filters, in their
    order. `chosen`: the one in detail. `asked`: the list was asked for from elsewhere; it takes the
    focus when it is shown.
    """

    END: ClassVar[str] = ""  # said when the last one is reviewed

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.project, self.context = opened(context), context
        self.items: tuple[ReviewItem, ...] | None = None
        self.shown: tuple[ReviewItem, ...] = ()
        self.problem = ""
        self.chosen: Identity | None = None
        self.detail: Detail | None = None
        self.asked = False
        self.similar = SimilarState(context)
        self._on = False

    def close(self) -> None:
        self.similar.close()
        super().close()

    def watch(self, on: bool) -> None:
        """Whether the list is visible: it is read only then."""
        self._on = on
        if on:
            self.follow()

    def follow(self) -> None:
        """Read the list unless it is known."""
        raise NotImplementedError

    def take_asked(self) -> bool:
        """Whether the list was asked for since the last call."""
        was_asked, self.asked = self.asked, False
        return was_asked

    # ---------------------------------------------------------------- of a subclass

    @property
    def task(self) -> str:
        """Id of the task that reads gold and predictions, "" while it is unknown."""
        raise NotImplementedError

    @property
    def layer(self) -> Layer | None:
        """The layer whose gold is reviewed; None if there is none."""
        raise NotImplementedError

    @property
    def run(self) -> Run | None:
        """None where no run has made the predictions."""
        return None

    @property
    def sort(self) -> str:
        """The order of the list, whose value it shows."""
        return errors.CONFIDENCE

    @property
    def can_inspect(self) -> bool:
        return False

    def _arranged(self) -> tuple[ReviewItem, ...]:
        return self.items or ()

    def _read(self, item: ReviewItem) -> Detail | None:
        """Raises KeyError or WorkbenchError if the document was deleted meanwhile."""
        raise NotImplementedError

    def _decided(self, item: ReviewItem, verdict: str) -> None:
        """A decision was made that the list may show before it is read again."""

    # ---------------------------------------------------------------- shown values

    @property
    def view(self) -> ResultView:
        """How the predictions are shown."""
        return tasks.view_of(self.task) if self.task else UNKNOWN

    @property
    def item(self) -> ReviewItem | None:
        """The chosen one."""
        return next((item for item in self.shown if item.identity == self.chosen), None)

    def count(self, *verdicts: str) -> int:
        """Number of those with one of these verdicts; without any, of those reviewed."""
        items = self.items or ()
        if not verdicts:
            return sum(bool(item.verdict) for item in items)
        return sum(item.verdict in verdicts for item in items)

    def same_confusion(self) -> list[ReviewItem]:
        return errors.same_confusion(self.items or (), self.item) if self.item else []

    @property
    def can_decide(self) -> bool:
        item = self.item
        return item is not None and not item.verdict and not self.project.read_only

    # ---------------------------------------------------------------- choosing

    def _take(self, items: Sequence[ReviewItem], *, undone: bool = False) -> None:
        """Show these. undone: if one that was reviewed is open again, choose it."""
        closed = {item.identity for item in self.items or () if item.verdict}
        self.items = tuple(items)
        self.shown = self._arranged()
        if undone:
            opened = (item.identity for item in self.shown if not item.verdict)
            self.chosen = next((it for it in opened if it in closed), self.chosen)
        self.changed.emit(frozenset({"items", "shown"}))
        self._choose_shown()

    def _arrange(self) -> None:
        """Show those that pass the filters."""
        self.update(shown=self._arranged())
        self._choose_shown()

    def _choose_shown(self) -> None:
        """If the chosen one is not listed, choose the first open one."""
        item = self.item or next((item for item in self.shown if not item.verdict), None)
        item = item or next(iter(self.shown), None)
        self.choose(item.identity if item is not None else None)

    def choose(self, identity: Identity | None) -> None:
        self.update(chosen=identity)
        item, detail = self.item, None
        if item is not None:
            with suppress(KeyError, WorkbenchError):  # deleted meanwhile: the list is read again
                detail = self._read(item)
        self.update(detail=detail)
        if self.task:
            document = item.document_id if detail is not None and item is not None else None
            self.similar.follow(self.layer, self.task, self.run, document)

    def _go_on(self) -> None:
        """The next open one below the chosen one, else the first open one."""
        places = [number for number, item in enumerate(self.shown) if item.identity == self.chosen]
        at = places[0] + 1 if places else 0
        rest = (*self.shown[at:], *self.shown[:at])
        following = next((item for item in rest if not item.verdict), None)
        if following is None or following.identity == self.chosen:
            last = _("This is the last open error.")
            self.context.note(_(self.END) if following is None else last)
            self.choose(self.chosen)
        else:
            self.choose(following.identity)

    # ---------------------------------------------------------------- decisions

    def accept(self) -> None:
        """Make the prediction gold at this place, and continue."""
        raise NotImplementedError

    def keep(self) -> None:
        """Keep gold, remember it, and continue."""
        raise NotImplementedError

    def next(self) -> None:
        """Decide later."""
        self._go_on()

    def others(self) -> tuple[str, ...]:
        """The labels that gold can be changed to besides the prediction."""
        return ()

    def set_label_at(self, place: int) -> None:
        """Change gold to one of `others`, from 0."""

    def _decide(self, act: Callable[..., None], verdict: str, message: str) -> None:
        """Call `act(project, run or layer, item, origin=…)`, say so with Undo, and continue."""
        item, subject = self.item, self.run or self.layer
        if item is None or subject is None or not self.can_decide:
            return

        def decide() -> bool:
            act(self.project, subject, item, origin=self)
            return True

        if self.context.attempt(decide):
            self._decided(item, verdict)
            if message:
                self.context.note(message.format(key=item.key), undo=True)
            self._go_on()

    # ---------------------------------------------------------------- other pages

    def open(self) -> None:
        """Open the chosen one in Annotate at its place."""
        if (item := self.item) is not None:
            args = errors.place_in_annotate(self.detail, item.mistake)
            self.context.go("annotate", document=item.document_id, **args, **self._beside(item))

    def _beside(self, item: ReviewItem) -> dict[str, Any]:
        """Further arguments with which Annotate shows it."""
        return {}

    def inspect(self) -> None:
        """Open the document of the chosen one on Inspect, if a run has predicted it."""
        item, run = self.item, self.run
        if item is not None and run is not None:
            self.context.go("inspect", run=run.id, document=item.document_id)
