"""Inspect: results of inspectors for a run or a pretrained model and a text.

The model stays loaded in a host process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.events import Signal
from workbench.base.i18n import N_, _
from workbench.base.registry import registry
from workbench.base.settings import Settings
from workbench.inspection import spec as inspectors
from workbench.inspection.spec import Answer
from workbench.jobs.spec import JobSpec
from workbench.models import spec as specs
from workbench.operations import missing, models, predict, results, train
from workbench.storage import documents, listing
from workbench.storage.listing import DocumentRow
from workbench.tasks import spec as tasks
from workbench.text.document import Document
from workbench.text.labels import Layer
from workbench.text.rows import row_id
from workbench.text.spans import Span
from workbench.text.typed import typed as typed

if TYPE_CHECKING:
    from workbench.jobs.host import Host
    from workbench.jobs.spare import Spare
    from workbench.metrics.differences import Difference
    from workbench.models.spec import ModelInfo
    from workbench.project.project import Project
    from workbench.storage.runs import Run

Done = Callable[["Answer | None", "WorkbenchError | None"], None]
Dispatch = Callable[[Callable[[], None]], None]


@dataclass(frozen=True)
class Choice:
    """A model that can be inspected. `run` is its id and `task` its task, None and "" without one.

    `gives`: outputs of the encoder of a pretrained model; those of a run are read on demand.
    """

    key: str
    title: str
    folder: str
    task: str = ""
    run: int | None = None
    layer: str = ""
    allow_pickle: bool = False
    gives: tuple[str, ...] = ()

    @property
    def texts(self) -> int:
        return tasks.info(self.task).texts if self.task else 1

    @property
    def asks(self) -> bool:
        """Its documents have questions."""
        return bool(self.task) and tasks.info(self.task).asks


def choices(project: Project | None, settings: Settings | None = None) -> tuple[Choice, ...]:
    """Runs with a model, newest first, then every usable pretrained model."""
    found = _trained(project) if project else []
    cards = (card for card in models.list(settings) if card.usable and not card.is_bare)
    return (*found, *map(of_model, cards))


def _trained(project: Project) -> list[Choice]:
    runs = [
        run
        for run in results.all_runs(project)
        if run.kind == "train" and run.status in ("done", "stopped") and not missing.of_run(run)
    ]
    return [choice for run in runs if (choice := of_run(project, run)) is not None]


_TITLES = {
    "masked_lm": N_("{name} · masked words"),
    "next_lm": N_("{name} · next words"),
    "next_character": N_("{name} · next characters"),
    "previous_character": N_("{name} · previous characters"),
}


def of_model(card: ModelInfo) -> Choice:
    """A pretrained model; one that is trained for a task answers like a run."""
    title = next((_(text) for key, text in _TITLES.items() if key in card.gives), "{name}")
    return Choice(
        f"model {card.name}",
        title.format(name=card.name),
        card.path,
        card.task,
        allow_pickle=card.pickled,
        gives=card.gives,
    )


def of_run(project: Project, run: Run) -> Choice | None:
    """A run; None if its weights are missing."""
    try:
        return _with_folder(run, train.model_folder(project, run))
    except WorkbenchError:
        return None


def named_run(project: Project, name: str) -> Choice:
    """Raises WorkbenchError if there is no such run, or its weights are missing."""
    run = results.run_named(project, name)
    return _with_folder(run, train.model_folder(project, run))


def _with_folder(run: Run, folder: Path) -> Choice:
    name = run.spec.get("model_name") or run.spec.get("model", "")
    return Choice(
        f"run {run.id}",
        " · ".join(filter(None, (run.name, run.layer, name))),
        str(folder),
        results.task_of(run),
        run.id,
        run.layer,
    )


def of_folder(name: str, settings: Settings | None = None) -> Choice:
    """The folder of a run, or a pretrained model by name or folder.

    Raises ModelError if it is neither.
    """
    folder = Path(name)
    if (folder / specs.DESCRIPTION).is_file():
        return Choice(f"folder {folder}", folder.name, str(folder), predict.task_of(folder))
    return of_model(models.find(name, settings))


# ---------------------------------------------------------------- compatible inspectors


@dataclass(frozen=True)
class Offer:
    """An inspector as listed for one model.

    `question` is the heading it is listed under, a key of QUESTIONS. `refused` says why it does not
    support the model, "" if it does. `answers`: whether it shows predictions of the model rather
    than outputs of its encoder.
    """

    id: str
    title: str
    question: str
    view: str = ""
    refused: str = ""
    answers: bool = False


def offers(choice: Choice) -> tuple[Offer, ...]:
    """Every inspector of the registry, in order, with whether it supports the model."""
    encoder, outputs = choice.gives, None
    if choice.task:
        folder = Path(choice.folder)
        card = specs.card(folder, allow_pickle=choice.allow_pickle)
        encoder = inspectors.of_run(card.gives, folder)
        outputs = tasks.info(choice.task).provides(predict.options_of(folder))
    gives = inspectors.given(encoder, outputs)
    return tuple(
        Offer(
            entry.id,
            _(entry.title),
            inspectors.question(entry),
            str(entry.options.get("view", "")),
            registry().problem(entry) or _refusal(inspectors.missing(entry, gives)),
            bool(inspectors.needs(entry) - set(encoder)),
        )
        for entry in registry().all("inspector")
    )


def first(found: Sequence[Offer]) -> str:
    """The default inspector: of those that support the model, one that shows predictions."""
    fitting = [offer for offer in found if not offer.refused]
    return next((offer.id for offer in fitting if offer.answers), fitting[0].id if fitting else "")


def _refusal(lacks: Sequence[str]) -> str:
    if not lacks:
        return ""
    return _("This model does not provide: {names}.").format(names=", ".join(map(_title, lacks)))


def _title(given: str) -> str:
    """What an output of an encoder, a task or a prediction is, for display; its id if unknown."""
    from workbench.text import fields

    kind, known = fields.named(given), {**specs.GIVES, **inspectors.OUTPUTS, **tasks.GIVEN}
    for info in tasks.all_tasks():
        known |= info.further
    if kind is not None and kind.title:
        return _(kind.title)
    return _(known[given]) if given in known else given


# ---------------------------------------------------------------- requests


class Inspector:
    """Keeps one model at a time loaded in a host process.

    `changed(status)`: asleep, starting, ready, failed, crashed or closed.
    """

    def __init__(
        self,
        *,
        dispatch: Dispatch | None = None,
        spare: Spare | None = None,
        device: str = "auto",
        weights: str = "auto",
    ):
        self._dispatch, self._spare = dispatch, spare
        self._loading = {"device": device, "weights": weights}
        self._host: Host | None = None
        self._drop: Callable[[], None] | None = None
        self.choice: Choice | None = None
        self.changed = Signal("inspector.changed")

    @property
    def status(self) -> str:
        return self._host.status if self._host else "asleep"

    @property
    def message(self) -> str:
        """Why loading failed, with advice."""
        return f"{self._host.message} {self._host.hint}".strip() if self._host else ""

    def open(self, choice: Choice) -> None:
        """Select this model for the next request; the previous one is unloaded."""
        if (
            self.choice is not None
            and (choice.folder, choice.key) == (self.choice.folder, self.choice.key)
            and self._host is not None
        ):
            return
        from workbench.jobs.host import Host

        self.close()
        self.choice = choice
        params = {**self._loading, "model": choice.folder, "allow_pickle": choice.allow_pickle}
        self._host = Host(
            JobSpec(inspectors.TARGET, params, title=choice.title),
            dispatch=self._dispatch,
            spare=self._spare,
            read=Answer.from_plain,
        )
        self._drop = self._host.changed.connect(self.changed.emit)

    def ask(
        self,
        inspector: str,
        document: Document,
        done: Done,
        *,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """`done(answer, None)` or `done(None, error)`. Loads the model if needed.

        An unanswered request to the same inspector is dropped.
        """
        assert self._host is not None
        self._host.ask(
            inspector,
            request(inspector, document, options=options),
            done,
        )

    def ask_now(
        self,
        inspector: str,
        *documents: Document,
        options: Mapping[str, Any] | None = None,
        timeout: float = 120.0,
    ) -> Answer:
        """Without an event loop: inspect one document, or several in one result, and wait.

        Raises the error of the answer.
        """
        assert self._host is not None
        asked = request(inspector, *documents, options=options)
        found: Answer = self._host.ask_now(asked, timeout)
        return found

    def close(self) -> None:
        """End the process and free its memory."""
        if self._drop is not None:
            self._drop()
        if self._host is not None:
            self._host.close()
        self._host, self._drop, self.choice = None, None, None


def request(
    inspector: str, *documents: Document, options: Mapping[str, Any] | None = None
) -> dict[str, object]:
    """The request to the host: texts and, if imported with them, their tokens.

    Raises SpecError for unknown options, and for several documents if the inspector supports only
    one.
    """
    inspectors.options(inspector, options or {})
    info = inspectors.light(inspector)
    if len(documents) != 1 and not (info is not None and info.several):
        raise SpecError(
            _("{inspector} supports only one document at a time.").format(inspector=inspector)
        )
    return {
        "inspector": inspector,
        "documents": [_asked(item) for item in documents],
        "options": dict(options or {}),
    }


def _asked(document: Document) -> dict[str, Any]:
    more = {"questions": list(document.questions)} if document.questions else {}
    return {
        "texts": dict(document.texts),
        "tokens": {name: [list(pair) for pair in found] for name, found in document.tokens.items()},
        **more,
    }


# ---------------------------------------------------------------- documents and gold labels


@dataclass(frozen=True)
class Gold:
    """Gold labels of a document in the layer of a run.

    `label` of a class, flat `spans` of tags, `labels` of any kind, `number` of a score.
    `submitted`: whether the document is submitted.
    """

    label: str | None
    spans: tuple[Span, ...]
    submitted: bool
    left_out: int
    labels: tuple[str, ...] = ()
    number: float | None = None


def document(project: Project, document_id: int) -> Document:
    """Raises KeyError if it was deleted."""
    return documents.get(project.db, document_id)


def documents_of(project: Project, ids: Sequence[int]) -> dict[int, Document]:
    """Documents by id; those that were deleted are left out."""
    found = documents.records(project.db, layers=(), ids=ids)
    return {row_id(record.document): record.document for record in found}


def by_key(project: Project, key: str) -> Document:
    """Raises WorkbenchError if there is no document with this key."""
    found = documents.by_key(project.db, key)
    if found is None:
        raise WorkbenchError(_("There is no document {key!r}.").format(key=key))
    return found


def every_document(project: Project) -> tuple[Document, ...]:
    """All documents of the project, in order."""
    return tuple(record.document for record in documents.records(project.db, layers=()))


def find(
    project: Project, text: str = "", *, texts: int = 1, limit: int = 50
) -> tuple[DocumentRow, ...]:
    """Rows of documents for the selector: id, key, text; best search matches first."""
    ids = documents.ids(project.db, documents.Filter(text=text, texts=texts))[:limit]
    return documents.rows(project.db, ids)


def first_of_dev(project: Project, choice: Choice) -> Document | None:
    """The document selected first for a run: the first of dev, else any that fits."""
    for wanted in (
        documents.Filter(split="dev", texts=choice.texts),
        documents.Filter(texts=choice.texts),
    ):
        if (found := listing.neighbour(project.db, wanted, 0, 1)) is not None:
            return documents.get(project.db, found)
    return None


def layer(project: Project, choice: Choice) -> Layer | None:
    """The current layer of a run, None if it was deleted."""
    if choice.run is None:
        return None
    try:
        return results.layer_of(project, results.run(project, choice.run))
    except (WorkbenchError, KeyError):
        return None


def gold(project: Project, choice: Choice, document_id: int) -> Gold | None:
    """Gold labels of the run's layer; None for a pretrained model, or if the layer was deleted."""
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
        tuple(dict.fromkeys(given.labels())) if given is not None else (),
        record.numbers.get(found.name),
    )


def compare(given: Gold, spans: Sequence[Span]) -> tuple[Difference, ...]:
    """Comparison of gold and predicted spans: agreed, missed, extra, border, label."""
    from workbench.metrics.differences import compare as sides

    return sides(given.spans, spans)


def token_warning(choice: Choice, document: Document) -> str:
    """The note for a text without tokens if the model was trained on tokens; otherwise ""."""
    by_word = bool(choice.task) and tasks.info(choice.task).windows
    return predict.token_note(Path(choice.folder), [document]) if by_word else ""


def unknown_warning(answer: Answer, name: str) -> str:
    """The note if the model does not know many words of the text; otherwise ""."""
    if answer.unknown <= inspectors.UNKNOWN_LIMIT:
        return ""
    return _(
        "{share:.0%} of these words are unknown to {name}: it was trained on another "
        "language or script. Its predictions are not reliable."
    ).format(share=answer.unknown, name=name)
