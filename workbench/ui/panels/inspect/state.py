"""What the Inspect page shows: a model, a text, and what the one says of the other."""

from __future__ import annotations

from dataclasses import replace

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.inspection.spec import Answer
from workbench.operations import annotate, inspect
from workbench.operations.inspect import Choice

TOKENS, SPANS, CLASS = "tokens", "spans", "class"
SAMPLE_TEXT = _("The 42 tram from Harbour Gate to Northfield was twenty minutes late")


class InspectState(State):
    """`choice` is the model, `document` what is asked about (`document_id` None for a typed text), `answer` what came back.

    `gold` and `differences` stand beside the answer where a run is asked about a document of the project.
    """

    def __init__(self, context):
        super().__init__()
        self.context, self.project = context, context.project
        self.choices: tuple[Choice, ...] = ()
        self.choice: Choice | None = None
        self.document, self.document_id = None, None
        self.answer: Answer | None = None
        self.view = TOKENS
        self.gold, self.differences = None, ()
        self.asking, self.status, self.error = False, "asleep", ""
        self.chosen_token: int | None = None
        self._view_chosen = False
        self._inspector = inspect.Inspector(
            dispatch=context.dispatch, spare=context.queue.spare, device=context.settings.device
        )
        self.listen(self._inspector.changed, self._host_changed)
        self.listen(self.project.changed, self._project_changed)

    def close(self) -> None:
        super().close()
        self._inspector.close()

    # ---------------------------------------------------------------- what is asked

    def look(self) -> None:
        """Read runs and models again; the latest finished run is chosen where nothing is yet."""
        found = inspect.choices(self.project, self.context.settings)
        keys = [one.key for one in found]
        self.update(choices=found)
        if self.choice is None or self.choice.key not in keys:
            if found:
                self.choose(found[0].key)
            else:
                self.update(choice=None, answer=None)

    def choose(self, key: str) -> None:
        """Another model; the same text is asked again."""
        found = next((one for one in self.choices if one.key == key), None)
        if found is None or (self.choice is not None and found == self.choice):
            return
        self._inspector.open(found)
        self._view_chosen = False
        self.update(
            choice=found,
            answer=None,
            gold=None,
            differences=(),
            error="",
            view=TOKENS,
            chosen_token=None,
        )
        if self.document is None or len(self.document.texts) != found.texts:
            self._begin()
        else:
            self.ask()

    def choose_model(self, model: str) -> None:
        """A pretrained model by name or folder."""
        self.choose(
            next(
                (
                    one.key
                    for one in self.choices
                    if one.run is None and model in (one.folder, one.key.removeprefix("model "))
                ),
                "",
            )
        )

    def _begin(self) -> None:
        """A text to start with: the first of dev for a run, else the first of the project, else a sentence of ours."""
        found = inspect.first_of_dev(self.project, self.choice)
        if found is not None:
            self._take(found, found.id)
        else:
            self._take(
                inspect.typed(SAMPLE_TEXT, SAMPLE_TEXT if self.choice.texts == 2 else None), None
            )

    def type_text(self, text: str, text_b: str | None = None) -> None:
        """A text that is in no project."""
        second = (text_b or "") if self.choice and self.choice.texts == 2 else None
        self._take(inspect.typed(text, second), None)

    def pick(self, document_id: int) -> None:
        """A document of the project."""
        try:
            self._take(inspect.document(self.project, document_id), document_id)
        except KeyError:
            self.context.fail(WorkbenchError(_("This document is no longer in the project.")))

    def step(self, direction: int) -> None:
        """The next (+1) or previous (-1) document of the project."""
        found = annotate.neighbour(self.project, self.document_id, direction)
        while found is not None and len(inspect.document(self.project, found).texts) != self.texts:
            found = annotate.neighbour(self.project, found, direction)
        if found is not None:
            self.pick(found)

    def find(self, text: str) -> tuple:
        """Documents to pick from."""
        return inspect.find(self.project, text, texts=self.texts)

    @property
    def texts(self) -> int:
        return self.choice.texts if self.choice else 1

    def _take(self, document, document_id: int | None) -> None:
        self.update(
            document=document,
            document_id=document_id,
            answer=None,
            gold=None,
            differences=(),
            chosen_token=None,
        )
        self.context.commands_changed()
        self.ask()

    # ---------------------------------------------------------------- what comes back

    @property
    def can_ask(self) -> bool:
        return self.choice is not None and self.document is not None and not self.asking

    def ask(self) -> None:
        """Ask the model again about the present text."""
        if self.choice is None or self.document is None:
            return
        asked = (self.choice, self.document)
        self.update(asking=True, error="")
        self._inspector.ask(
            self.document, lambda answer, error: self._answered(asked, answer, error)
        )

    def more(self) -> None:
        """The positions of a long text that a masked model has not been asked about yet."""
        if self.answer is None or not self.unanswered:
            return
        asked, before = (self.choice, self.document), self.answer
        self.update(asking=True)
        done = before.first + before.answered
        self._inspector.ask(
            self.document,
            lambda answer, error: self._answered(asked, _joined(before, answer), error),
            start=done,
        )

    @property
    def unanswered(self) -> int:
        """How many subwords of a long text have no answer yet."""
        if self.answer is None or self.answer.kind != "masked":
            return 0
        return max(0, self.answer.subwords - self.answer.first - self.answer.answered)

    def _answered(self, asked: tuple, answer: Answer | None, error: WorkbenchError | None) -> None:
        if asked != (self.choice, self.document):
            return  # meanwhile another question stands
        if error is not None or answer is None:
            self.update(asking=False, answer=None, error=str(error) if error else "")
            return
        gold = (
            inspect.gold(self.project, self.choice, self.document_id)
            if self.document_id is not None
            else None
        )
        differences = (
            inspect.compare(gold, answer) if gold is not None and answer.kind == "tag" else ()
        )
        self.update(asking=False, answer=answer, gold=gold, differences=differences, error="")
        if not self._view_chosen:
            self.update(view=CLASS if answer.kind in ("classify", "pairs") else TOKENS)

    def show(self, view: str) -> None:
        self._view_chosen = True
        self.update(view=view)

    def choose_token(self, number: int | None) -> None:
        self.update(chosen_token=number)

    @property
    def views(self) -> tuple[str, ...]:
        """What can be shown of this model's answers."""
        task = self.choice.task if self.choice else ""
        return {"tag": (TOKENS, SPANS), "classify": (TOKENS, CLASS), "pairs": (TOKENS, CLASS)}.get(
            task, (TOKENS,)
        )

    @property
    def labels(self) -> dict[str, object]:
        """The labels of the run's layer as they are today, by name: their colours."""
        found = inspect.layer(self.project, self.choice) if self.choice else None
        return {one.name: one for one in found.labels} if found else {}

    @property
    def warnings(self) -> tuple[str, ...]:
        if self.answer is None:
            return ()
        found = [
            inspect.unknown_warning(self.answer, self.choice.title),
            inspect.token_warning(self.choice, self.document),
        ]
        if self.answer.cut:
            found.append(_("The text is longer than the model takes; its end was not read."))
        return tuple(one for one in found if one)

    @property
    def loading(self) -> bool:
        return self.asking and self.status in ("asleep", "starting")

    def correct(self) -> None:
        """Open the document in Annotate."""
        if self.document_id is not None:
            self.context.go("annotate", document=self.document_id)

    # ---------------------------------------------------------------- news

    def _host_changed(self, status: str) -> None:
        error = self._inspector.message if status in ("failed", "crashed") else self.error
        self.update(
            status=status, error=error, asking=self.asking and status not in ("failed", "crashed")
        )

    def _project_changed(self, changes) -> None:
        if changes.touches("run"):
            self.look()
        if self.document_id is None or self.answer is None:
            return
        if changes.touches("label") or any(
            changes.touches(one, self.document_id) for one in ("span", "mark", "state", "document")
        ):
            try:
                gold = inspect.gold(self.project, self.choice, self.document_id)
            except KeyError:
                gold = None  # the document was deleted
            differences = (
                inspect.compare(gold, self.answer)
                if gold is not None and self.answer.kind == "tag"
                else ()
            )
            self.update(gold=gold, differences=differences)


def _joined(before: Answer, new: Answer | None) -> Answer | None:
    """Both answers to one long text in one."""
    if new is None:
        return None
    tokens = tuple(
        one if one.best else other for one, other in zip(before.tokens, new.tokens, strict=True)
    )
    return replace(new, tokens=tokens, first=before.first, answered=before.answered + new.answered)
