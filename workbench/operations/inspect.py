"""Inspect: ask a run or a pretrained model what it says of a text. The model stays loaded in a host process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.events import Signal
from workbench.base.i18n import _
from workbench.base.settings import Settings
from workbench.inspection.spec import TARGET, UNKNOWN_LIMIT, Answer
from workbench.jobs.spec import JobSpec
from workbench.operations import models, predict, results, train
from workbench.storage import documents
from workbench.tasks import spec as tasks
from workbench.text.document import Document
from workbench.text.labels import Layer

if TYPE_CHECKING:
    from workbench.jobs.host import Host
    from workbench.jobs.spare import Spare
    from workbench.metrics.differences import Difference
    from workbench.project.project import Project
    from workbench.storage.runs import Run

Done = Callable[["Answer | None", "WorkbenchError | None"], None]
Dispatch = Callable[[Callable[[], None]], None]


@dataclass(frozen=True)
class Choice:
    """A model that can be asked. `run` is its id, None for a pretrained model; `task` of a run, else what the model predicts."""

    key: str
    title: str
    folder: str
    task: str
    run: int | None = None
    layer: str = ""
    allow_pickle: bool = False

    @property
    def texts(self) -> int:
        return tasks.info(self.task).texts if self.run is not None else 1


def choices(project: Project | None, settings: Settings | None = None) -> tuple[Choice, ...]:
    """Finished runs with a model of their own, newest first, then every usable pretrained model."""
    found = (
        [
            _of_run(project, run)
            for run in results.all_runs(project)
            if run.kind == "train" and run.status in ("done", "stopped")
        ]
        if project
        else []
    )
    for card in models.list(settings):
        if card.usable:
            predicts = (
                "masked"
                if "masked_lm" in card.gives
                else "causal"
                if "next_lm" in card.gives
                else "none"
            )
            found.append(
                Choice(
                    f"model {card.name}",
                    _TITLES[predicts].format(name=card.name),
                    card.path,
                    predicts,
                    allow_pickle=card.pickled,
                )
            )
    return tuple(one for one in found if one is not None)


_TITLES = {
    "masked": _("{name} · masked words"),
    "causal": _("{name} · next words"),
    "none": _("{name} · subwords"),
}


def _of_run(project: Project, run: Run) -> Choice | None:
    try:
        folder = train.model_folder(project, run)
    except WorkbenchError:
        return None  # the weights are not here
    name = run.spec.get("model_name") or run.spec.get("model", "")
    return Choice(
        f"run {run.id}",
        " · ".join(filter(None, (run.name, run.layer, name))),
        str(folder),
        results.task_of(run),
        run.id,
        run.layer,
    )


class Inspector:
    """One model at a time in a host. `changed(status)`: asleep, starting, ready, failed, crashed or closed."""

    def __init__(
        self, *, dispatch: Dispatch | None = None, spare: Spare | None = None, device: str = "auto"
    ):
        self._dispatch, self._spare, self._device = dispatch, spare, device
        self._host: Host | None = None
        self._drop: Callable[[], None] | None = None
        self.choice: Choice | None = None
        self.changed = Signal("inspector.changed")

    @property
    def status(self) -> str:
        return self._host.status if self._host else "asleep"

    @property
    def message(self) -> str:
        """Why it failed, with what to do."""
        return f"{self._host.message} {self._host.hint}".strip() if self._host else ""

    def open(self, choice: Choice) -> None:
        """Have this model loaded when the next question comes; the one before it goes."""
        if (
            self.choice is not None
            and (choice.folder, choice.key) == (self.choice.folder, self.choice.key)
            and self._host is not None
        ):
            return
        from workbench.jobs.host import Host

        self.close()
        self.choice = choice
        params = {
            "model": choice.folder,
            "device": self._device,
            "allow_pickle": choice.allow_pickle,
        }
        self._host = Host(
            JobSpec(TARGET, params, title=choice.title), dispatch=self._dispatch, spare=self._spare
        )
        self._drop = self._host.changed.connect(self.changed.emit)

    def ask(self, document: Document, done: Done, *, top: int = 5, start: int = 0) -> None:
        """`done(answer, None)` or `done(None, error)`; an older question without an answer is dropped. Loads the model if needed."""
        assert self._host is not None
        self._host.ask(
            "inspect",
            request(document, top=top, start=start),
            lambda raw, error: done(Answer.from_json(raw) if raw else None, error),
        )

    def ask_now(
        self, document: Document, *, top: int = 5, start: int = 0, timeout: float = 120.0
    ) -> Answer:
        """Headless: ask and wait. Raises the error of the answer."""
        assert self._host is not None
        return Answer.from_json(
            self._host.ask_now(request(document, top=top, start=start), timeout)
        )

    def close(self) -> None:
        """End the process and give its memory back."""
        if self._drop is not None:
            self._drop()
        if self._host is not None:
            self._host.close()
        self._host, self._drop, self.choice = None, None, None


def request(document: Document, *, top: int = 5, start: int = 0) -> dict:
    """What the host is asked about a document: its texts and, where the import had them, its tokens."""
    tokens: Mapping = {
        name: [list(one) for one in borders] for name, borders in document.tokens.items()
    }
    return {"texts": dict(document.texts), "tokens": tokens, "top": top, "start": start}


def typed(text: str, text_b: str | None = None) -> Document:
    """A text that is in no project; with `text_b` a pair."""
    return Document("", (("text", text), *((("text_b", text_b),) if text_b is not None else ())))


# ---------------------------------------------------------------- documents and their gold


@dataclass(frozen=True)
class Gold:
    """What people said of a document in the layer of a run. `submitted`: whether it counts; `label` for classes, flat `spans` for tags."""

    label: str | None
    spans: tuple
    submitted: bool
    left_out: int


def document(project: Project, document_id: int) -> Document:
    """Raises KeyError where it was deleted."""
    return documents.get(project.db, document_id)


def find(project: Project, text: str = "", *, texts: int = 1, limit: int = 50) -> tuple:
    """Rows of documents to choose from: id, key, text; those that match the search first come first."""
    ids = documents.ids(project.db, documents.Filter(text=text, texts=texts))[:limit]
    return documents.rows(project.db, ids)


def first_of_dev(project: Project, choice: Choice) -> Document | None:
    """The document that the page begins with for a run: the first of dev, else any that fits."""
    for wanted in (
        documents.Filter(split="dev", texts=choice.texts),
        documents.Filter(texts=choice.texts),
    ):
        if found := list(documents.ids(project.db, wanted)[:1]):
            return documents.get(project.db, found[0])
    return None


def layer(project: Project, choice: Choice) -> Layer | None:
    """The layer of a run as it is today, None where there is none."""
    if choice.run is None:
        return None
    try:
        return results.layer_of(project, results.run(project, choice.run))
    except (WorkbenchError, KeyError):
        return None


def gold(project: Project, choice: Choice, document_id: int) -> Gold | None:
    """Gold of the run's layer; None for a pretrained model, or where the layer is gone."""
    found = layer(project, choice)
    if found is None:
        return None
    record = documents.record(project.db, document_id, (found.name,))
    given = tasks.info(choice.task).gold(record, found.name)
    return Gold(
        getattr(given, "label", None),
        getattr(given, "spans", ()),
        record.states.get(found.name) == "submitted",
        given.left_out if given is not None else 0,
    )


def compare(given: Gold, answer: Answer) -> tuple[Difference, ...]:
    """Gold beside predicted spans: agreed, missed, extra, border, label."""
    from workbench.metrics.differences import compare as sides

    return sides(given.spans, answer.spans)


def token_warning(choice: Choice, document: Document) -> str:
    """What to say where a tagger learned from imported tokens and this text has none; "" elsewhere."""
    by_word = choice.run is not None and tasks.info(choice.task).windows
    return predict.token_note(Path(choice.folder), [document]) if by_word else ""


def unknown_warning(answer: Answer, name: str) -> str:
    """What to say where the model does not know the words of the text; "" while it knows most."""
    if answer.unknown <= UNKNOWN_LIMIT:
        return ""
    return _(
        "{share:.0%} of these words are unknown to {name}: it was made for another language or script. Do not trust its answers."
    ).format(share=answer.unknown, name=name)
