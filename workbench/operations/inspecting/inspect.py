"""Inspect: runs and pretrained models that can be inspected, by what, and the documents for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import N_, _
from workbench.base.registry import registry
from workbench.base.settings import Settings
from workbench.baselines import spec as baselines
from workbench.inspection import spec as inspectors
from workbench.inspection.spec import Inspection
from workbench.models import spec as specs
from workbench.operations.models import installed
from workbench.operations.runs import ensemble, missing, predict, results
from workbench.operations.runs.kinds import contract as kinds
from workbench.storage.documents import documents
from workbench.storage.queries import listing
from workbench.storage.queries.listing import DocumentRow
from workbench.tasks import spec as tasks
from workbench.text.document import Document
from workbench.text.document import typed as typed
from workbench.text.labels import Layer
from workbench.text.rows import row_id
from workbench.text.spans import Span

if TYPE_CHECKING:
    from workbench.metrics.differences import Difference
    from workbench.models.spec import ModelInfo
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run


@dataclass(frozen=True)
class InspectableModel:
    """A model that can be inspected. `run` is its id and `task` its task, None and "" without one.

    `gives`: outputs of the encoder of a pretrained model; those of a run are read on demand.
    `members`: of an ensemble, whose `folder` is that of the first.
    """

    key: str
    title: str
    folder: str
    task: str = ""
    run: int | None = None
    layer: str = ""
    allow_pickle: bool = False
    gives: tuple[str, ...] = ()
    members: tuple[InspectableModel, ...] = ()
    name: str = ""  # of the run or the model alone

    @property
    def params(self) -> dict[str, Any]:
        """What `inspection.loading.load` needs."""
        params: dict[str, Any] = {"model": self.folder, "allow_pickle": self.allow_pickle}
        if self.members:
            params["members"] = [{"name": item.title, **item.params} for item in self.members]
        return params

    @property
    def texts(self) -> int:
        return tasks.info(self.task).texts if self.task else 1

    @property
    def asks(self) -> bool:
        """Whether its documents have questions."""
        return bool(self.task) and tasks.info(self.task).asks


def choices(
    project: Project | None, settings: Settings | None = None
) -> tuple[InspectableModel, ...]:
    """Runs with a model, newest first, then every usable pretrained model."""
    trained = _trained(project) if project else []
    cards = (card for card in installed.list(settings) if card.usable and not card.is_bare)
    return (*trained, *map(of_model, cards))


def _trained(project: Project) -> list[InspectableModel]:
    runs = (run for run in results.all_runs(project) if not refusal(project, run))
    choices = (of_run(project, run) for run in runs)
    return [choice for choice in choices if choice is not None]


def refused(project: Project) -> tuple[tuple[Run, str], ...]:
    """Ensembles that cannot be inspected, as some of their runs are missing, with the reason."""
    reasons = ((run, ensemble.lacking(project, run)) for run in results.all_runs(project))
    return tuple((run, reason) for run, reason in reasons if reason)


def refusal(project: Project, run: Run) -> str:
    """Why a run cannot be inspected even if its own files are there, "" if it can."""
    if run.status not in ("done", "stopped"):
        return _("Only finished runs can be inspected.")
    if reason := kinds.info(run.kind).not_inspected:
        return _(reason)
    return missing.of_run(run) or ensemble.lacking(project, run)


_TITLES = {
    "masked_lm": N_("{name} · masked words"),
    "next_lm": N_("{name} · next words"),
    "next_character": N_("{name} · next characters"),
    "previous_character": N_("{name} · previous characters"),
}


def of_model(card: ModelInfo) -> InspectableModel:
    """A pretrained model; one that is trained for a task answers like a run."""
    title = next((_(text) for key, text in _TITLES.items() if key in card.gives), "{name}")
    return InspectableModel(
        f"model {card.name}",
        title.format(name=card.name),
        card.path,
        card.task,
        allow_pickle=card.pickled,
        gives=card.gives,
        name=card.name,
    )


def of_run(project: Project, run: Run) -> InspectableModel | None:
    """A run; None if its files are missing, or those of a run that it averages."""
    try:
        return _of_run(project, run)
    except WorkbenchError:
        return None


def named_run(project: Project, name: str) -> InspectableModel:
    """Raises WorkbenchError if there is no such run, its files are missing, or it has no model."""
    run = results.run_named(project, name)
    if reason := kinds.info(run.kind).not_inspected:
        raise WorkbenchError(_(reason))
    return _of_run(project, run)


def _of_run(project: Project, run: Run) -> InspectableModel:
    """Raises WorkbenchError if files are missing."""
    members: tuple[InspectableModel, ...] = ()
    kind = kinds.of(run)
    if averaged := kind.parts(project, run):
        members = tuple(replace(_of_run(project, item), title=item.name) for item in averaged)
        folder = Path(members[0].folder)
    else:
        folder = kind.model(project, run)
    name = run.spec.get("model_name") or run.spec.get("model", "")
    return InspectableModel(
        f"run {run.id}",
        " · ".join(filter(None, (run.name, run.layer, name))),
        str(folder),
        results.task_of(run),
        run.id,
        run.layer,
        allow_pickle=predict.allows_pickle(run),
        members=members,
        name=run.name,
    )


def of_folder(name: str, settings: Settings | None = None) -> InspectableModel:
    """The folder of a run, or a pretrained model by name or folder.

    Raises ModelError if it is neither.
    """
    folder = Path(name)
    if (folder / specs.DESCRIPTION).is_file():
        return InspectableModel(
            f"folder {folder}", folder.name, str(folder), predict.task_of(folder)
        )
    return of_model(installed.find(name, settings))


# ---------------------------------------------------------------- compatible inspectors


@dataclass(frozen=True)
class InspectorChoice:
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


def offers(choice: InspectableModel) -> tuple[InspectorChoice, ...]:
    """Every inspector of the registry, in order, with whether it supports the model."""
    encoder, outputs = _given(choice)
    gives = inspectors.provided_outputs(encoder, outputs)
    own = inspectors.provided_outputs(encoder, ())
    return tuple(
        InspectorChoice(
            entry.id,
            _(entry.title),
            inspectors.question(entry),
            str(entry.options.get("view", "")),
            registry().problem(entry) or _refusal(inspectors.missing(entry, gives)),
            bool(inspectors.needs(entry) - own),
        )
        for entry in registry().all("inspector")
    )


def _given(choice: InspectableModel) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """The outputs of the encoder, and those of a run; None without."""
    if not choice.task:
        return choice.gives, None
    if choice.members:
        return None, inspectors.AVERAGED
    folder, task = Path(choice.folder), tasks.info(choice.task)
    if kind := baselines.kind_of(folder):
        return None, baselines.gives(baselines.info(kind), task)
    card = specs.card(folder, allow_pickle=choice.allow_pickle)
    return inspectors.of_run(card.gives, folder), task.provides(predict.options_of(folder))


def first(choices: Sequence[InspectorChoice]) -> str:
    """The default inspector: of those that support the model, one that shows predictions."""
    fitting = [offer for offer in choices if not offer.refused]
    return next((offer.id for offer in fitting if offer.answers), fitting[0].id if fitting else "")


def _refusal(lacks: Sequence[str]) -> str:
    if not lacks:
        return ""
    return _("This model does not provide: {names}.", names=", ".join(map(_title, lacks)))


def _title(id: str) -> str:
    """What an output of an encoder, a task or a prediction is, for display; its id if unknown."""
    from workbench.text import fields

    kind = fields.named(id)
    known = {**specs.GIVES, **inspectors.OUTPUTS, **tasks.FURTHER_OUTPUTS, **baselines.GIVES}
    for info in tasks.all_tasks():
        known |= info.further
    if kind is not None and kind.title:
        return _(kind.title)
    return _(known[id]) if id in known else id


# ---------------------------------------------------------------- documents and gold labels


@dataclass(frozen=True)
class DocumentGold:
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
    records = documents.records(project.db, layers=(), ids=ids)
    return {row_id(record.document): record.document for record in records}


def by_key(project: Project, key: str) -> Document:
    """Raises WorkbenchError if there is no document with this key."""
    document = documents.by_key(project.db, key)
    if document is None:
        raise WorkbenchError(_("There is no document {key!r}.", key=key))
    return document


def every_document(project: Project) -> tuple[Document, ...]:
    """All documents of the project, in order."""
    return tuple(record.document for record in documents.records(project.db, layers=()))


def find(
    project: Project, text: str = "", *, texts: int = 1, limit: int = 50
) -> tuple[DocumentRow, ...]:
    """Rows of documents for the selector: id, key, text; best search matches first."""
    ids = documents.ids(project.db, documents.Filter(text=text, texts=texts))[:limit]
    return documents.rows(project.db, ids)


def first_of_dev(project: Project, choice: InspectableModel) -> Document | None:
    """The document selected first for a run: the first of dev, else any that fits."""
    for filter_ in (
        documents.Filter(split="dev", texts=choice.texts),
        documents.Filter(texts=choice.texts),
    ):
        if (id := listing.neighbour(project.db, filter_, 0, 1)) is not None:
            return documents.get(project.db, id)
    return None


def layer(project: Project, choice: InspectableModel) -> Layer | None:
    """The current layer of a run, None if it was deleted."""
    if choice.run is None:
        return None
    try:
        return results.layer_of(project, results.run(project, choice.run))
    except (WorkbenchError, KeyError):
        return None


def gold(project: Project, choice: InspectableModel, document_id: int) -> DocumentGold | None:
    """Gold labels of the run's layer; None for a pretrained model, or if the layer was deleted."""
    gold_layer = layer(project, choice)
    if gold_layer is None:
        return None
    record = documents.record(project.db, document_id, (gold_layer.name,))
    target = tasks.info(choice.task).gold(record, gold_layer.name)
    return DocumentGold(
        getattr(target, "label", None),
        getattr(target, "spans", ()),
        record.states.get(gold_layer.name) == "submitted",
        target.left_out if target is not None else 0,
        tuple(dict.fromkeys(target.labels())) if target is not None else (),
        record.numbers.get(gold_layer.name),
    )


def compare(gold: DocumentGold, spans: Sequence[Span]) -> tuple[Difference, ...]:
    """Comparison of gold and predicted spans: agreed, missed, extra, border, label."""
    from workbench.metrics.differences import compare as sides

    return sides(gold.spans, spans)


def token_warning(choice: InspectableModel, document: Document) -> str:
    """The note for a text without tokens if the model was trained on tokens; otherwise ""."""
    by_word = bool(choice.task) and tasks.info(choice.task).windows
    return predict.token_note(Path(choice.folder), [document]) if by_word else ""


def unknown_warning(answer: Inspection, name: str) -> str:
    """The note if the model does not know many words of the text; otherwise ""."""
    if answer.unknown <= inspectors.UNKNOWN_LIMIT:
        return ""
    return _(
        "{share:.0%} of these words are unknown to {name}: it was trained on another "
        "language or script. Its predictions are not reliable.",
        share=answer.unknown,
        name=name,
    )
