"""Tasks as used by the window, the command line and the library. Does not import torch.

A task has two parts. `TaskInfo`, the light part, defines which layers it learns, what gold is, how
predictions are decoded and scored; it is named `info` in the index. The torch part
(`workbench.tasks.base.Task`) builds and runs the network.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Protocol, Self

from workbench.base import deprecation, learning_rates
from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.base.registry import contract_hint, needed_plugin, registry
from workbench.metrics.evaluation import Evaluation
from workbench.tasks import contract
from workbench.tasks.losses import info as losses
from workbench.text import result_view
from workbench.text.dataset import Record, gold_fingerprint
from workbench.text.labels import Layer
from workbench.text.mistakes import LABEL, Mistake, loss_of
from workbench.text.result_view import Answer, ResultView

if TYPE_CHECKING:  # these import numpy, which the start of the window must not
    import numpy as np

    from workbench.metrics.classes import LabelScore
    from workbench.metrics.confusion import Confusion
    from workbench.metrics.resampling import Statistic
    from workbench.runtime.crf import Transitions
    from workbench.runtime.inputs import Prepared, Preparer
    from workbench.text.document import Document
    from workbench.text.fields import Prediction

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, GIVEN="FURTHER_OUTPUTS")

LABEL_TEXTS = "label_texts"  # of a decoder: what the model writes in place of labels
NONE = result_view.NONE
PER_TEXT = "text"  # value of `TaskInfo.logits`, see `runtime.inputs.PER_TEXT`
PER_ITEM, PER_WORD = "item", "word"  # values of `TaskInfo.taught`
PLAIN = "plain"  # value of a setting that adds no tokens to the vocabulary
SCORES = "scores"  # what a run gives whose logits attributions can explain
FURTHER_OUTPUTS = {SCORES: N_("scores of classes, tags, spans or answers, or a predicted number")}


class Gold(Protocol):
    """Gold of one document. `left_out` counts annotations that the task cannot represent."""

    @property
    def left_out(self) -> int: ...

    def labels(self) -> Iterable[str]:
        """Every label, as often as it occurs."""
        ...

    def to_json(self) -> object:
        """JSON value for the fingerprint of a test set."""
        ...


@dataclass(frozen=True)
class ScoreInfo:
    """A score of a task: a fraction of 1, higher is better.

    title: display name. selects: whether the best checkpoint can be selected by it. hub: the name
    of the metric on model hubs, "" if it is not written there. is_error: in a unit of its own, not
    a fraction of 1; lower is better, and 0 is best.
    """

    name: str
    title: str = ""
    selects: bool = True
    hub: str = ""
    is_error: bool = False


@dataclass(frozen=True)
class ErrorText:
    """A wrong prediction as text; `confidence` of the model in it, 0 to 1."""

    gold: str
    predicted: str
    confidence: float


class TaskInfo(ABC):
    """The light part of a task. Subclasses set the attributes and implement the methods.

    id, title, short, definition: for display; `short` fits a narrow column, `definition` explains
    the main score.
    predicts: what it predicts, for display; cards are written in English.
    layer_kinds: kinds of layers it learns; `texts`: how many texts a document of the layer has.
    needs: required outputs of the encoder (`ModelInfo.gives`).
    scores: all scores; `main` is the name of the one that runs are compared by, `second` is shown
    beside it, `beside` next to these two. has_majority: the main score of always predicting the
    most frequent label is meaningful; it is one of `metrics.classes.scores`.
    outputs: names of the fields (`workbench.text.fields`) of its predictions. further: what else a
    run may give to inspectors (`gives`) → what it is, for display. scored: its logits are scores
    that attributions can explain.
    logits: name → "item" for arrays (B, …), "token" for arrays (B, T, …), "choice" for arrays
    (B, 1) of one choice each, "text" for code points (B, S), -1 after the end of the text.
    writes: predictions are texts that the model writes token by token, which takes many passes:
    they are not computed together with a loss, and a graph of one pass cannot give them.
    windows: long texts are processed in overlapping windows; otherwise they are truncated.
    options: settings in addition to the general ones. least_labels: minimum number in a layer.
    usual_batch: inputs of an update unless a setting says otherwise, 0 for a number by size.
    few_steps: optimizer updates for a small data set; learning_rate: peak at width 384 and these.
    new_units: name of the setting that adds tokens to the vocabulary unless it is PLAIN, "" for
    none.
    alone: it needs the head of a language model, so that it cannot share its encoder with other
    tasks of one training.
    asks: documents have questions, which the model answers (`Document.questions`).
    connects: documents have spans, which the model connects (`Document.input_spans`).
    ordered: the labels of the layer are in an order; tables and probabilities keep it.
    for_pairs: the id of the task with the same outputs for two texts, "" if there is none.
    question: what it decides about a layer; runs of tasks with the same one can be compared. "" if
    no other task decides the same.
    has_graph: an ONNX graph can compute its logits.
    pipeline: the task of transformers' pipeline() for an exported folder, "" if there is none.
    hub_task: the task that model hubs list a model under, "" if it is that of `pipeline`.
    taught: what has a probability of each output, which a teacher can give: PER_ITEM (a document)
    or PER_WORD; "" for a task without distillation.
    """

    id: str
    title: str
    short: str
    definition: str
    predicts: str
    layer_kinds: tuple[str, ...]
    texts: int = 1
    needs: frozenset[str] = frozenset({"states"})
    scores: tuple[ScoreInfo, ...]
    main: str
    second: str
    beside: tuple[str, ...] = ()
    has_majority: bool = False
    outputs: tuple[str, ...]
    further: Mapping[str, str] = {}
    scored: bool = True
    logits: Mapping[str, str] = {"logits": "item"}
    writes: bool = False
    windows: bool = False
    options: tuple[Option, ...] = ()
    least_labels: int = 2
    usual_batch: int = 0
    few_steps: int = 130
    learning_rate: float = learning_rates.TEXTS
    new_units: str = ""
    alone: bool = False
    asks: bool = False
    connects: bool = False
    ordered: bool = False
    question: str = ""
    for_pairs: str = ""
    has_graph: bool = True
    pipeline: str = ""
    hub_task: str = ""
    taught: str = ""

    def __init_subclass__(cls, **more: Any) -> None:
        """What the code of a plugin returns is checked where it is used."""
        super().__init_subclass__(**more)
        if cls.__module__.startswith("workbench."):
            return
        for name in contract.CHECKED:
            if inspect.isfunction(method := vars(cls).get(name)):
                setattr(cls, name, _checked(name, method))

    def fits(self, layer: Layer) -> bool:
        return layer.kind in self.layer_kinds and layer.texts == self.texts

    def output_names(self, labels: Sequence[str]) -> tuple[str, ...]:
        """Names of the network's outputs, in order (`id2label`)."""
        return tuple(labels)

    def trained_outputs(self, labels: Sequence[str], decoder: Mapping[str, Any]) -> tuple[str, ...]:
        """`output_names` of a trained network; a published one may have others than our own.

        decoder: as for `decode`.
        """
        return self.output_names(labels)

    def weighted_labels(self, labels: Sequence[str]) -> tuple[str, ...]:
        """The labels that class weights by hand may name."""
        return tuple(labels)

    def logits_of(self, options: Mapping[str, Any]) -> Mapping[str, str]:
        """Those of `logits` that the network of a run with these settings has."""
        return self.logits

    def check_labels(self, options: Mapping[str, Any], labels: Sequence[str]) -> None:
        """Raises SpecError if a setting names a label that the layer does not have."""
        losses.check_labels(options, self.weighted_labels(labels))

    def label_conflict(
        self, options: Mapping[str, Any], labels: Sequence[str]
    ) -> tuple[str, str] | None:
        """As `conflict`, of a setting that names a label that the layer does not have."""
        try:
            self.check_labels(options, labels)
        except SpecError as error:
            return losses.CLASS_WEIGHTS.name, str(error)
        return None

    def conflict(self, options: Mapping[str, Any]) -> tuple[str, str] | None:
        """(name, reason) of a setting that conflicts with the others; None if there is none.

        `options` has every setting of the run.
        """
        return None

    # ---------------------------------------------------------------- gold

    @abstractmethod
    def gold(self, record: Record, layer: str) -> Gold | None:
        """Gold of the record; None if it cannot be learned from."""

    def why_unusable(self) -> str:
        """Why `gold` is None for a submitted record."""
        return _("submitted without a label")

    def why_left_out(self) -> str:
        """What `Gold.left_out` counts."""
        return _("spans that overlap a longer one")

    @abstractmethod
    def problem(self, counts: Mapping[str, int], layer: str) -> str:
        """Why a layer cannot be trained, "" if it can; `counts` of labels in training data."""

    # ---------------------------------------------------------------- predictions

    @abstractmethod
    def prepare(
        self, preparer: Preparer, documents: Sequence[Document], max_length: int
    ) -> Prepared:
        """The model inputs of the documents."""

    def count_inputs(
        self, preparer: Preparer, documents: Sequence[Document], max_length: int
    ) -> int:
        """Items that the documents make in a training: those of `prepare`, or one each if all
        inputs of a document are read in one batch.
        """
        prepared = self.prepare(preparer, documents, max_length)
        return len(documents) if prepared.is_joint else len(prepared.inputs)

    def reading(self, options: Mapping[str, Any]) -> Self:
        """The task with the settings of a run that change its inputs."""
        return self

    def as_read(self, document: Document, prediction: Prediction) -> Document:
        """The texts that one input of the network reads, for inspectors of inputs."""
        return document

    @abstractmethod
    def decode(
        self,
        logits: Sequence[Mapping[str, np.ndarray]],
        prepared: Prepared,
        labels: Sequence[str],
        decoder: Mapping[str, Any],
    ) -> list[Prediction]:
        """One prediction per document from the logits of every input, without padding.

        `decoder` holds parameters of the trained model (transition scores, thresholds), as JSON.
        """

    def fit(
        self, golds: Sequence[Any], predictions: Sequence[Prediction], labels: Sequence[str]
    ) -> dict[str, Any]:
        """Decoding parameters fitted on dev (thresholds …), added to `decoder`; {} for none.

        `predictions` were decoded without them.
        """
        return {}

    def gives(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """What a run with these settings provides to inspectors: its outputs and their inputs."""
        return self.outputs

    def provides(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """As `gives`, with SCORES if its logits can be explained."""
        return (*self.gives(options), SCORES) if self.scored else self.gives(options)

    def transitions(self, labels: Sequence[str], decoder: Mapping[str, Any]) -> Transitions | None:
        """The transition scores that a trained model decodes with; None if there are none.

        `decoder` as for `decode`: `Predictor.decoder` of a loaded model.
        """
        return None

    def word_outputs(self, gold: Any, words: Sequence[tuple[int, int]]) -> Sequence[str | None]:
        """For tasks on words: the output (`output_names`) that is gold at each word (start, end).

        None: the word has no gold. Raises SpecError for a task that does not define it.
        """
        message = _("The task {task} does not provide the gold of each word (`word_outputs`).")
        raise SpecError(message.format(task=self.id), hint=contract_hint(self.id))

    def shifted(self, prepared: Prepared, golds: Sequence[Any]) -> int:
        """Gold spans whose offsets are not word boundaries, so training shifts them."""
        return 0

    def answers(self, prediction: Prediction) -> list[Answer]:
        """The predicted labels, in the form of suggestions; by default, as `ResultView.answers`."""
        return result_view.of(prediction).answers(prediction)

    def decisions(self, prediction: Prediction) -> tuple[object, ...]:
        """The decisions for a document, in order: used to compare an export with its source.

        By default, as `ResultView.compared`.
        """
        return result_view.of(prediction).compared(prediction)

    # ---------------------------------------------------------------- scores

    @abstractmethod
    def score(self, golds: Sequence[Any], predictions: Sequence[Prediction]) -> dict[str, float]:
        """Every score of `scores`; golds and predictions of the same documents, in order."""

    @abstractmethod
    def per_label(
        self, golds: Sequence[Any], predictions: Sequence[Prediction]
    ) -> tuple[LabelScore, ...]:
        """Precision, recall and F1 of every label that is gold or predicted."""

    def interval(
        self, golds: Sequence[Any], predictions: Sequence[Prediction]
    ) -> tuple[str, float, float] | None:
        """(name, low, high): a score with its 95% interval, for tasks without `statistic`."""
        return None

    def statistic(
        self, golds: Sequence[Any], predictions: Sequence[Prediction], labels: Sequence[str]
    ) -> Statistic | None:
        """Every score as a function of the weights of documents, for intervals and slices.

        None: the task has only the scores of `score`.
        """
        return None

    def confidences(
        self, golds: Sequence[Any], predictions: Sequence[Prediction]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Confidence float (M,), whether it was right bool (M,), and the document int (M,).

        Of every decision with a probability: classes, yes for a label, tags, spans. None for a
        task without probabilities.
        """
        return None

    def compared(self) -> TaskInfo:
        """This task with the gold and the scores that runs of tasks with its `question` share."""
        return self

    # ---------------------------------------------------------------- calibration

    def temperature(self, golds: Sequence[Any], predictions: Sequence[Prediction]) -> float | None:
        """The temperature that fits the predictions to gold best, see `metrics.calibration`.

        None for a task whose probabilities cannot be rescaled after decoding.
        """
        return None

    def rescaled(self, prediction: Prediction, temperature: float) -> Prediction:
        """The prediction with logits divided by a temperature; its decisions are the same.

        `decode` gives it if "temperature" of its decoder is multiplied by this factor.
        """
        raise NotImplementedError(f"{self.id} has no temperature")

    def with_thresholds(self, prediction: Prediction, thresholds: Sequence[float]) -> Prediction:
        """The prediction with other thresholds of its labels, for tasks with LabelScores."""
        raise NotImplementedError(f"{self.id} has no thresholds")

    @abstractmethod
    def agrees(self, gold: Any, prediction: Prediction) -> bool:
        """Whether a prediction is entirely correct. Used by everything that lists errors."""

    @abstractmethod
    def error(self, document: Document, gold: Any, prediction: Prediction) -> ErrorText:
        """A wrong prediction compared with gold."""

    def distance(self, gold: Any, prediction: Prediction) -> float | None:
        """How far a prediction is from gold, in a unit of the task, by which errors can be sorted;
        None if errors have no distance.
        """
        return None

    def mistakes(self, document: Document, gold: Any, prediction: Prediction) -> list[Mistake]:
        """Every wrong decision on its own; [] if they agree.

        By default one for the document, as `error` states it.
        """
        if self.agrees(gold, prediction):
            return []
        error = self.error(document, gold, prediction)
        sure, shares = error.confidence, result_view.of(prediction).shares(prediction)
        loss = loss_of(shares.get(error.gold, 1 - sure))
        return [Mistake(LABEL, error.gold, error.predicted, sure, loss)]

    def confusion(
        self, golds: Sequence[Any], predictions: Sequence[Prediction], labels: Sequence[str]
    ) -> Confusion | None:
        """Counts of gold by predicted labels, None if a matrix is not meaningful."""
        return None


def _checked(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a task that raises SpecError if a plugin's returns something else than agreed."""
    signature = inspect.signature(getattr(TaskInfo, name))

    @wraps(method)
    def call(info: TaskInfo, *values: Any, **named: Any) -> Any:
        returned = method(info, *values, **named)
        if needed_plugin(info.id):
            bound = partial(signature.bind, info, *values, **named)
            contract.ensure_returned(info, name, returned, lambda: bound().arguments)
        return returned

    return call


def comparable(first: TaskInfo, other: TaskInfo) -> bool:
    """Whether runs of both tasks on one layer answer the same question."""
    return (first.question or first.id) == (other.question or other.id)


def evaluate(
    info: TaskInfo,
    split: str,
    documents: Sequence[Document],
    golds: Sequence[Any],
    predictions: Sequence[Prediction],
    scores: Mapping[str, float] | None = None,
) -> Evaluation:
    """Score predictions against gold, for the same documents in the same order.

    scores: those of `info.score` if they are known. Without documents there are none.
    """
    about = zip(documents, golds, strict=True)
    rows = ((document.text_hash, gold.to_json()) for document, gold in about)
    if scores is None:
        scores = info.score(golds, predictions) if golds else {}
    per_label = info.per_label(golds, predictions) if golds else ()
    if info.ordered and golds:
        shares = (result_view.of(item).shares(item) for item in predictions)
        order = [*next(filter(None, shares), {})]
        known = [row for row in per_label if row.label in order]
        others = [row for row in per_label if row.label not in order]
        per_label = (*sorted(known, key=lambda row: order.index(row.label)), *others)
    unread = sum(bool(prediction.no_answer) for prediction in predictions)
    fingerprint = gold_fingerprint(rows)
    return Evaluation(split, len(golds), fingerprint, dict(scores), per_label, no_answer=unread)


# ---------------------------------------------------------------- the tasks of the registry


def all_tasks() -> tuple[TaskInfo, ...]:
    return registry().infos("task")


def info(task: str) -> TaskInfo:
    """Raises SpecError listing the tasks that exist."""
    missing = _("There is no task {task!r}.", task=task)
    task_info: TaskInfo = registry().info("task", task, missing=missing)
    return task_info


def view_of(task: str) -> ResultView:
    """How predictions of a task are shown, also if its plugin is missing."""
    try:
        return result_view.of_outputs(info(task).outputs)
    except WorkbenchError:
        return result_view.UNKNOWN


def score_title(name: str) -> str:
    """The title of a score of any task; if it has none, words made from its name."""
    from workbench.metrics import definitions

    titles = (score.title for task in all_tasks() for score in task.scores if score.name == name)
    title = next(titles, "")
    return _(title) if title else definitions.title(name)


def score_text(name: str, value: float, *, signed: bool = False) -> str:
    """A score for files and terminals: in percent without the sign, an error in its own unit.

    signed: for a difference, with a sign.
    """
    from workbench.metrics import definitions

    sign = "+" if signed else ""
    in_unit = is_error(name) or definitions.is_ratio(name)
    return f"{value:{sign}z.3f}" if in_unit else f"{100 * value:{sign}z.1f}"  # z: no -0.0


def score_hint(name: str) -> str:
    """The definition of a score with its rule for zero division; "" if it has none."""
    from workbench.metrics import definitions

    return definitions.sentence(name)


def is_error(name: str) -> bool:
    """Whether a score is an error in a unit of its own, of which 0 is best, not a fraction of 1."""
    from workbench.metrics import definitions

    declared = (
        score.is_error for task in all_tasks() for score in task.scores if score.name == name
    )
    return definitions.is_error(name) or any(declared)


def score_names(scores: Iterable[str], task: str = "") -> tuple[str, ...]:
    """These names of scores in the order of their task, main score first.

    Without a task, or if it is not installed, the order is that of the task whose scores fit best.
    """
    known = set(scores)
    chosen = [task_info for task_info in all_tasks() if task_info.id == task] or all_tasks()
    orders = [(task.main, task.second, *(score.name for score in task.scores)) for task in chosen]
    order = min(orders, key=lambda names: (len(known - {*names}), len({*names} - known)))
    return tuple(dict.fromkeys(name for name in (*order, *sorted(known)) if name in known))


def fitting(layer: Layer) -> tuple[TaskInfo, ...]:
    """The tasks that learn this layer, in the order of the registry."""
    return tuple(task for task in all_tasks() if fits(task, layer))


def fits(task: TaskInfo, layer: Layer) -> bool:
    """Whether a task learns a layer. An error of a plugin's task is recorded in the registry; the
    task is then left out.
    """
    try:
        return task.fits(layer)
    except Exception as error:
        if not needed_plugin(task.id):
            raise
        registry().failed("task", task.id, error)
        return False


def usable(task: TaskInfo, record: Record, layer: str) -> bool:
    """Whether the record is training data: submitted, with gold for the task."""
    return record.states.get(layer) == "submitted" and task.gold(record, layer) is not None
