"""Tokenizers: compared on the project's text, applied step by step, and learned. Without Qt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.operations.models import recommend
from workbench.operations.models import tokenizers as operations
from workbench.operations.models.tokenizers import Division
from workbench.operations.models.vectors import texts_of
from workbench.runtime.vocabularies.steps import COUNT, SCORE, Merge

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.runtime.inputs import Preparer
    from workbench.runtime.vocabularies.measures import Fit
    from workbench.ui.panel import PanelContext

STEPS = 20  # merges that are shown
fit_columns = operations.fit_columns
KINDS = tuple((id, _(title)) for id, title in operations.KINDS.items())
SEED = 1


class TokenizersState(State):
    """`fits`: name → fit of the two tokenizers compared last. `division`: of the typed word, which
    is out of date while `dividing`.

    `merges`: rule → first merges on the words of the project. `busy`: two tokenizers are being
    compared; `merging`: merges are being computed; `learning`: a tokenizer is being learned;
    `message`: the result of learning.
    """

    def __init__(self, context: PanelContext, names: tuple[str, ...]) -> None:
        super().__init__()
        self.context, self.names = context, names
        self.fits: dict[str, Fit] = {}
        self.division: Division | None = None
        self.merges: dict[str, list[Merge]] = {}
        self.busy, self.merging, self.learning = False, False, False
        self.error, self.message = "", ""
        self.dividing = False
        self._typed = ("", "")  # tokenizer and word to be divided
        self._preparers: dict[str, Preparer] = {}  # of tokenizers that divided a word

    @property
    def titles(self) -> list[tuple[str, str]]:
        """(name, title) of the tokenizers."""
        return [(name, self.title(name)) for name in self.names]

    def title(self, name: str) -> str:
        """The name of a model; of a learned tokenizer, that of its folder if no other has it."""
        path = Path(name)
        same = [
            other for other in self.names if other == path.name or Path(other).name == path.name
        ]
        return path.name if path.is_absolute() and len(same) < 2 else name

    @property
    def has_text(self) -> bool:
        return self.context.project is not None

    def compare(self, first: str, second: str) -> None:
        """Compare two tokenizers on a sample of the project."""
        project = self.context.project
        if project is None or self.busy:
            return

        def work() -> dict[str, Fit]:
            texts = recommend.sample(texts_of(project), seed=SEED)
            return operations.compare(dict.fromkeys((first, second)), texts)

        self.update(busy=True, error="")
        self.context.task(
            (self, "compare"),
            work,
            lambda fits: self.update(busy=False, fits=fits),
            failed=lambda error: self.update(busy=False, error=str(error)),
        )

    def divide(self, name: str, word: str) -> None:
        """Divide a word as the tokenizer does, in a thread: it may have to be converted.

        One word at a time; of those that wait, only the latest counts.
        """
        self._typed = (name, word.strip())
        if not self._typed[1]:
            self.update(division=None, dividing=False)
            return
        self.update(dividing=True)
        if not self.context.waiting((self, "divide")):
            self._divide_typed()

    def _divide_typed(self) -> None:
        name, word = typed = self._typed

        def work() -> Division:
            if name not in self._preparers:
                self._preparers[name] = operations.preparer_of(name)
            return operations.divided(self._preparers[name], [word])[0]

        self.context.task(
            (self, "divide"),
            work,
            lambda division: self._divided(typed, division=division, error=""),
            failed=lambda error: self._divided(typed, division=None, error=str(error)),
        )

    def _divided(self, typed: tuple[str, str], **values: object) -> None:
        if typed == self._typed:
            self.update(dividing=False, **values)
        elif self._typed[1]:
            self._divide_typed()

    def learn_merges(self) -> None:
        """The first merges on the words of the project by both rules."""
        project = self.context.project
        if project is None or self.merging or self.merges:
            return
        self.update(merging=True, error="")

        def work() -> dict[str, list[Merge]]:
            counts = operations.counts_of(recommend.sample(texts_of(project), seed=SEED))
            return {rule: operations.merges(counts, rule, STEPS) for rule in (SCORE, COUNT)}

        self.context.task(
            (self, "merges"),
            work,
            lambda merges: self.update(merging=False, merges=merges),
            failed=lambda error: self.update(merging=False, error=str(error)),
        )

    # ---------------------------------------------------------------- learning

    def learn(self, folder: Path, *, kind: str, size: int, lowercase: bool) -> None:
        """Learn a tokenizer on all texts of the project in a worker; `folder` is new."""
        project = self.context.project
        if project is None or self.learning:
            return
        self.update(learning=True, error="", message="")
        queue = self.context.queue

        def work(watch: Watch) -> dict[str, Any]:
            return operations.learn(
                queue, texts_of(project), folder,
                kind=kind, size=size, lowercase=lowercase, min_count=2, watch=watch,
            )  # fmt: skip

        self.context.task((self, "learn"), work, self._learned, failed=self._not_learned)

    def _not_learned(self, error: Exception) -> None:
        self.update(learning=False, error="" if isinstance(error, Cancelled) else str(error))

    def _learned(self, result: dict[str, Any]) -> None:
        size, output = result["size"], result["output"]
        template = ngettext(
            "{size:,} token, saved in {output}.",
            "{size:,} tokens, saved in {output}.",
            size,
            size=size,
            output=output,
        )
        message = template
        self.update(learning=False, message=message, names=(*self.names, output))

    def cancel(self) -> None:
        self.context.drop((self, "learn"))
        self.update(learning=False)

    def close(self) -> None:
        self.cancel()
        super().close()
