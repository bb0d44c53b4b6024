"""The data of a training: layer, documents, omitted documents with reasons, and how the model
tokenizes the texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.registry import registry
from workbench.models import spec as models
from workbench.operations.documents import splits
from workbench.operations.evaluation import scoring
from workbench.operations.runs.cut_texts import CutCount
from workbench.operations.schema import labels as schema
from workbench.runtime.preparers.words import WordPreparer
from workbench.storage.annotation import annotations as annotation_rows
from workbench.storage.documents import documents, statistics
from workbench.storage.labels import labels
from workbench.tasks import spec as tasks
from workbench.text.labels import Layer
from workbench.text.rows import row_id
from workbench.text.segmenters import base as segmenters
from workbench.training.general import fold_of
from workbench.training.plan import input_length, rare_documents
from workbench.training.spec import limited

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo
    from workbench.project.project import Project
    from workbench.runtime.inputs import Preparer
    from workbench.tasks.spec import TaskInfo
    from workbench.text.dataset import Record
    from workbench.text.document import Document
    from workbench.training.spec import TrainSpec


@dataclass(frozen=True)
class LeftOut:
    """`count` documents (or spans, if the reason says so) that training does not use."""

    reason: str
    count: int


@dataclass(frozen=True)
class DataPlan:
    """The data that a training would use, by split.

    `problem` says why it cannot start, "" if it can. `unsplit` documents have no split yet,
    `assigned` documents get a split, or another one, at the start; `used` counts them in the split
    they will have. `rare`: see `workbench.training.plan.rare_documents`.
    """

    task: str
    layer: Layer | None
    used: Mapping[str, int]
    unsplit: int
    left_out: tuple[LeftOut, ...]
    warnings: tuple[str, ...]
    problem: str = ""
    assigned: int = 0
    rare: int = 0


# ---------------------------------------------------------------- the layer


def fitting_layers(project: Project, task: str) -> tuple[tuple[Layer, int], ...]:
    """The layers that a task can learn, each with its number of submitted documents, most first."""
    return fitting_by_task(project, (task,))[task]


def fitting_by_task(
    project: Project, ids: Iterable[str]
) -> dict[str, tuple[tuple[Layer, int], ...]]:
    """`fitting_layers` for several tasks; documents are counted once."""
    every, submitted = labels.layers(project.db), labels.submitted_counts(project.db)
    pairs = sorted(
        ((layer, submitted.get(row_id(layer), 0)) for layer in every), key=lambda item: -item[1]
    )
    return {
        task: tuple(pair for pair in pairs if tasks.fits(tasks.info(task), pair[0])) for task in ids
    }


def only_task(project: Project, layer: str | None = None) -> str:
    """The task that fits the layer `layer`, or the submitted layers of the project.

    Raises SpecError, with the tasks to choose from, if several fit or none does.
    """
    fitting = fitting_by_task(project, [info.id for info in tasks.all_tasks()])
    by_task = {
        task: [its.name for its, count in pairs if count and layer in (None, its.name)]
        for task, pairs in fitting.items()
    }
    by_task = {task: names for task, names in by_task.items() if names}
    if len(by_task) == 1:
        return next(iter(by_task))
    named = [
        _("{task} (layer {layers})", task=task, layers=", ".join(names))
        for task, names in by_task.items()
    ]
    raise SpecError(
        _("Missing --task: several tasks fit the submitted documents.")
        if by_task
        else _("Missing --task: no task fits the submitted documents."),
        hint=_("Tasks that fit: {tasks}.", tasks=", ".join(named)) if named else "",
    )


def choose_layer(project: Project, task: str, name: str | None = None) -> tuple[Layer, str]:
    """The layer to train on, and a note if it was chosen among several.

    Without a name: the only layer that fits; of several, the one with most submitted documents.
    Raises SpecError if the name is unknown or does not fit the task, or nothing fits.
    """
    fitting = fitting_layers(project, task)
    if name is not None:
        return _named_layer(project, task, name, fitting), ""
    if not fitting:
        kinds = f" {_('or')} ".join(tasks.info(task).layer_kinds)
        texts = tasks.info(task).texts
        raise SpecError(
            ngettext(
                "The project has no layer for task {task}, which requires one of kind {kinds} for "
                "documents with {n} text.",
                "The project has no layer for task {task}, which requires one of kind {kinds} for "
                "documents with {n} texts.",
                texts,
                task=task,
                kinds=kinds,
            ),
            hint=_("Import labelled data or add a layer on the Labels page."),
        )
    layer = fitting[0][0]
    if len(fitting) == 1:
        return layer, ""
    others = ", ".join(layer.name for layer, _count in fitting[1:])
    return layer, _(
        "Layer {layer} was selected: it has the most submitted documents (other layers: {others}).",
        layer=layer.name,
        others=others,
    )


def _named_layer(
    project: Project, task: str, name: str, fitting: Sequence[tuple[Layer, int]]
) -> Layer:
    for layer, _count in fitting:
        if layer.name == name:
            return layer
    layer = schema.layer_named(project, name)
    raise SpecError(
        _("Layer {name!r} does not fit task {task}.", name=name, task=task),
        hint=_(
            "Layers that fit: {fit}. Tasks for {name}: {tasks}.",
            fit=", ".join(layer.name for layer, _count in fitting) or _("none"),
            name=name,
            tasks=", ".join(task.id for task in tasks.fitting(layer)) or _("none"),
        ),
    )


def unlearned(project: Project) -> str:
    """A sentence about layers with labels that no task can learn; "" if there are none."""
    names = [
        layer.name
        for layer in labels.layers(project.db)
        if layer.traits.editor and not tasks.fitting(layer)
    ]
    if not names:
        return ""
    return ngettext(
        "No task can learn layer {names}.",
        "No task can learn the layers {names}.",
        len(names),
        names=", ".join(names),
    )


# ---------------------------------------------------------------- used documents


def plan(
    project: Project,
    task: str,
    layer: str | None = None,
    *,
    train_limit: int | None = None,
    fold: str = "",
    seed: int = 1,
    every_class: bool = False,
) -> DataPlan:
    """The documents that training on the layer would use and omit, with reasons.

    train_limit: only this many training documents, sampled with the seed; every_class: each class
    among them if there is room. fold: see the setting of that name; folds are divided with the
    seed.

    Missing splits are computed as they will be assigned, but not written. Reads all submitted
    documents of the layer: not for the main thread.
    """
    try:
        chosen, remark = choose_layer(project, task, layer)
    except SpecError as error:
        return DataPlan(task, None, {"train": 0, "dev": 0, "test": 0}, 0, (), (), str(error))
    tally = LabelTally(project, task, chosen)
    if tally.needs_splits and not tally.problem():
        tally.place(splits.planned_splits(project, chosen.name))
    tally.divide(fold, seed)
    warnings = (remark,) if remark else ()
    return tally.plan(train_limit, seed, warnings, every_class=every_class)


class LabelTally:
    """Counts the submitted documents of a layer in one pass."""

    def __init__(self, project: Project, task: str, layer: Layer):
        self.project, self.task, self.layer = project, task, layer
        self.ids: dict[str | None, list[int]] = {"train": [], "dev": [], "test": [], None: []}
        self.reasons: Counter[str] = Counter()
        self.labels: Counter[str] = Counter()
        self._labels_of: dict[int, tuple[str, ...]] = {}  # of documents that may be trained on
        self.overlapping = 0
        self._fold_problem = ""
        self.unsplit = self.assigned = 0
        submitted = 0
        for record in documents.records(project.db, layers=(layer.name,), submitted_in=layer.name):
            submitted += 1
            self._count(record)
        waiting = len(documents.ids(project.db, documents.Filter(texts=layer.texts))) - submitted
        if waiting > 0:
            self.reasons[_("not submitted")] = waiting
        self.unsplit = len(self.ids[None])

    @property
    def needs_splits(self) -> bool:
        """Whether documents get a split when training starts."""
        return bool(self.ids[None] or not self.ids["dev"] or not self.ids["train"])

    def place(self, splits: Mapping[int, str]) -> None:
        """Count documents in these splits, by id."""
        self.assigned = sum(id in splits for ids in self.ids.values() for id in ids)
        moved: dict[str | None, list[int]] = {split: [] for split in self.ids}
        for split, ids in self.ids.items():
            for id in ids:
                moved[splits.get(id, split)].append(id)
        self.ids = moved

    def divide(self, fold: str, seed: int) -> None:
        """Count the documents of a fold of train and dev as dev, the others as train; see the
        setting of that name.
        """
        if (chosen := fold_of(fold)) is None:
            return
        number, count = chosen
        ids = sorted(self.ids["train"] + self.ids["dev"])
        parts = splits.folds(self.project, self.layer.name, ids, count, seed=seed)
        dev = set(parts[number - 1])
        self.ids["train"] = [id for id in ids if id not in dev]
        self.ids["dev"] = [id for id in ids if id in dev]
        if not all(parts):
            self._fold_problem = ngettext(
                "Only {n} document of train and dev is submitted for layer {layer!r}, or their "
                "groups are too large: it cannot be divided into {count} folds.",
                "Only {n} documents of train and dev are submitted for layer {layer!r}, or their "
                "groups are too large: they cannot be divided into {count} folds.",
                len(ids),
                layer=self.layer.name,
                count=count,
            )

    def _count(self, record: Record) -> None:
        if why := scoring.why_left_out(tasks.info(self.task), record, self.layer.name):
            self.reasons[why] += 1
            return
        gold = tasks.info(self.task).gold(record, self.layer.name)
        if gold is None:
            return
        self.overlapping += gold.left_out
        if record.document.split != "test":
            names = tuple(gold.labels())
            if record.document.split != "dev":
                self.labels.update(names)
            self._labels_of[row_id(record.document)] = names
        self.ids[record.document.split].append(row_id(record.document))

    def plan(
        self,
        train_limit: int | None = None,
        seed: int = 1,
        warnings: tuple[str, ...] = (),
        *,
        every_class: bool = False,
    ) -> DataPlan:
        used = {split: len(self.ids[split]) for split in ("train", "dev", "test")}
        left_out = [LeftOut(reason, count) for reason, count in self.reasons.items()]
        if train_limit and used["train"] > train_limit:
            left_out.append(
                LeftOut(
                    _("over the maximum number of training documents"), used["train"] - train_limit
                )
            )
            used["train"] = train_limit
        if self.overlapping:
            left_out.append(LeftOut(tasks.info(self.task).why_left_out(), self.overlapping))
        train = self.sample(train_limit, seed, every_class=every_class)
        return DataPlan(
            self.task,
            self.layer,
            used,
            self.unsplit,
            tuple(left_out),
            warnings + self._warnings(train),
            self.problem(),
            self.assigned,
            rare_documents(self._labels_of.get(id, ()) for id in train),
        )

    def sample(self, limit: int | None, seed: int, *, every_class: bool = False) -> list[int]:
        """The training documents that a run uses, ids."""
        labels = (lambda id: self._labels_of.get(id, ())) if every_class else None
        return limited(self.ids["train"], limit, seed, labels)

    def problem(self) -> str:
        total = sum(map(len, self.ids.values()))
        if not total:
            return _(
                "No document is submitted for layer {layer!r}. Label and submit "
                "documents, or import labelled documents.",
                layer=self.layer.name,
            )
        if problem := tasks.info(self.task).problem(self.labels, self.layer.name):
            return problem
        if total < 3:
            return ngettext(
                "Only {n} document is submitted for layer {layer!r}; training needs at least 3, "
                "for train and dev.",
                "Only {n} documents are submitted for layer {layer!r}; training needs at least 3, "
                "for train and dev.",
                total,
                layer=self.layer.name,
            )
        return self._fold_problem

    def _warnings(self, used: Sequence[int]) -> tuple[str, ...]:
        """used: the training documents."""
        counts = Counter(chain.from_iterable(self._labels_of.get(id, ()) for id in used))
        rare = [name for name in self.layer.names if 0 < counts[name] < 3]
        never = [name for name in self.layer.names if not counts[name]]
        messages = []
        if never:
            messages.append(
                _(
                    "Labels without training documents: {labels}. The model cannot learn them.",
                    labels=", ".join(never),
                )
            )
        if rare:
            messages.append(
                _("Fewer than three training examples: {labels}.", labels=", ".join(rare))
            )
        if leaks := statistics.leaking(self.project.db):
            message = ngettext(
                "{n:,} document of dev or test has the same text as one of train, so its score is "
                "too high. Data ▸ Duplicates fixes it.",
                "{n:,} documents of dev or test have the same texts as some of train, so their "
                "scores are too high. Data ▸ Duplicates fixes it.",
                leaks,
            )
            messages.append(message)
        return tuple(messages)


# ---------------------------------------------------------------- tokenization

PAGE = 500  # documents tokenized at a time


def count_inputs(project: Project, spec: TrainSpec, model: ModelInfo, ids: Sequence[int]) -> int:
    """Items that training documents make: one each, or the windows of their texts unless these are
    read in one batch.

    Only texts that may need several windows are tokenized. Run it in a thread: reads the documents
    of tasks with windows. Raises ModelError if the model has no readable tokenizer.
    """
    if not spec.info.windows:
        return len(ids)
    family = registry().info("family", model.family)
    preparer = family.trained_preparer(Path(model.path), spec.all_options)
    length = input_length(spec.option("max_length"), model.max_length)
    count = 0
    for start in range(0, len(ids), PAGE):
        page = ids[start : start + PAGE]
        sampled = [
            record.document
            for record in documents.records(project.db, layers=(spec.layer,), ids=page)
        ]
        long = [document for document in sampled if not _is_short(document, preparer, length)]
        segmented = segmenters.segmented(long, spec.segmenter)
        inputs = spec.info.count_inputs(preparer, segmented, length)
        count += len(sampled) - len(long) + inputs
    return count


def _is_short(document: Document, preparer: Preparer, length: int) -> bool:
    """Whether it is one input for sure: an ASCII character is at most one subword."""
    reads_words = isinstance(preparer, WordPreparer)  # of which a part may read fewer subwords
    room = 0 if reads_words else length - preparer.added - 3  # see `cut_texts.count_cut`
    text, has_parts = document.text, document.questions or document.input_spans
    return not has_parts and text.isascii() and len(text) <= room


@dataclass(frozen=True)
class TextCheck:
    """Tokenization of a sample of the texts.

    `unknown`: fraction of words outside the vocabulary; `cut`: fraction of texts over `max_length`
    subwords; `in_parts`: spans of the layer in several parts; `words`: about the words of texts
    without spaces, None where no words are read or their texts have tokens. longest: tokens of the
    longest input. windows: inputs of the longest text, if all of them are read in one batch.
    per_document: mean number of items that a document makes in a training.
    """

    texts: int
    unknown: float
    cut: float
    max_length: int
    in_parts: int = 0
    words: segmenters.SegmenterAdvice | None = None
    longest: int = 0
    windows: int = 1
    per_document: float = 1.0


NO_CHECK = TextCheck(0, 0.0, 0.0, 0)

UNKNOWN_LIMIT = 0.1
COUNTED = 30  # about so many texts are tokenized to count the inputs of a document
SAMPLE = 300  # maximum number of texts tokenized; about 0.1 s


def submitted_by_layer(project: Project) -> dict[str, int]:
    """Submitted documents of each layer that a task can learn, the largest number first."""
    fitting = fitting_by_task(project, [info.id for info in tasks.all_tasks()])
    counts = {layer.name: count for pairs in fitting.values() for layer, count in pairs}
    return dict(sorted(counts.items(), key=lambda pair: -pair[1]))


def check_texts(
    project: Project,
    task: str,
    layer: Layer,
    model: str | Path,
    *,
    max_length: int | None = None,
    model_length: int = 512,
    settings: Mapping[str, Any] | None = None,
) -> TextCheck:
    """Tokenize a sample of the layer's submitted documents.

    Run it in a thread: takes up to a second. `settings`: of the run, for models whose parts are
    among them.
    """
    length = input_length(max_length, model_length)
    sample = _sample(project, layer)
    inputs = [texts for document in sample for texts in document.inputs]
    preparer = models.preparer(model)
    cut = preparer.count_cut(inputs, length) if inputs else 0
    unknown = preparer.unknown_share(text for texts in inputs for text in texts)
    in_parts = annotation_rows.count_in_parts(project.db, row_id(layer))
    reads_words = tasks.info(task).windows or isinstance(preparer, WordPreparer)
    has_own = models.segmenter(model, settings) != segmenters.DEFAULT
    words = segmenters.advice_for(sample) if reads_words and not has_own else None
    longest = [max(sample, key=lambda document: len(document.text))] if sample else []
    info = tasks.info(task).reading(settings or {})
    prepared = info.prepare(preparer, longest, length)
    windows = max(1, len(prepared.inputs)) if prepared.is_joint else 1
    share = cut / max(1, len(inputs))
    most = int(max(prepared.lengths, default=0))
    per_document = _per_document(info, sample, preparer, length)
    return TextCheck(
        len(inputs), unknown, share, length, in_parts, words, most, windows, per_document
    )


def _per_document(
    info: TaskInfo, sample: Sequence[Document], preparer: Preparer, length: int
) -> float:
    if not info.windows or not sample:
        return 1.0
    chosen = sample[:: max(1, len(sample) // COUNTED)]
    long = [document for document in chosen if not _is_short(document, preparer, length)]
    items = len(chosen) - len(long) + info.count_inputs(preparer, long, length)
    return items / len(chosen)


def _sample(project: Project, layer: Layer) -> list[Document]:
    """An evenly spaced sample of submitted documents, of all documents of the layer if none is
    submitted.
    """
    ids = documents.ids(
        project.db, documents.Filter(layer_id=layer.id, state="submitted")
    ) or documents.ids(project.db, documents.Filter(texts=layer.texts))
    step = max(1, len(ids) // SAMPLE)
    records = documents.records(project.db, layers=(layer.name,), ids=ids[::step][:SAMPLE])
    return [record.document for record in records]


def text_warnings(
    task: str, check: TextCheck, model_name: str, exact: CutCount | None = None
) -> tuple[str, ...]:
    """Warnings before training starts; `exact` replaces the estimate from the sample."""
    warnings = []
    if check.unknown > UNKNOWN_LIMIT:
        warnings.append(
            _(
                "{model} does not know {share:.0%} of the words in these texts: its vocabulary is "
                "small, or of another language, script or subject. Expect poor results.",
                model=model_name,
                share=check.unknown,
            )
        )
    if check.in_parts:
        words = ngettext(
            "{n:,} span has several parts; models learn it as one range, from its first to its "
            "last character.",
            "{n:,} spans have several parts; models learn each as one range, from its first to "
            "its last character.",
            check.in_parts,
        )
        warnings.append(words)
    if tasks.info(task).windows:
        return tuple(warnings)
    if exact is not None:
        if exact.cut:
            words = _(
                "Texts longer than {limit} subwords, which will be truncated: {n:,} of {m:,}."
            )
            warnings.append(words.format(n=exact.cut, m=exact.texts, limit=exact.max_length))
    elif check.cut:
        warnings.append(
            _(
                "About {share:.0%} of the texts are longer than {limit} subwords and will be "
                "truncated.",
                share=check.cut,
                limit=check.max_length,
            )
        )
    return tuple(warnings)
