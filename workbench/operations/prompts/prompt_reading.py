"""What a prompt asks about documents of a layer, and answers of a model → predictions.

Form and words of an answer are in `prompting.answers`; here they meet the layers of a project.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.prompting.answers import forms
from workbench.prompting.answers.forms import AnswerForm as AnswerForm
from workbench.prompting.answers.target import ANSWER, CLASS, OUTPUTS, SPANS, Target, Value
from workbench.prompting.backends.spec import ABILITIES
from workbench.prompting.generation import FAILED
from workbench.prompting.spec import SCORED, AnswerSpec, Decoding, PromptSpec
from workbench.storage.documents import documents as stored_documents
from workbench.tasks import spec as tasks
from workbench.tasks.spec import TaskInfo
from workbench.text.document import CHOICES, Document
from workbench.text.labels import Layer
from workbench.text.rows import row_id
from workbench.text.scale import shortest
from workbench.text.spans import Span

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.prompting.answers.reading import Reader
    from workbench.prompting.answers.target import Reading
    from workbench.prompting.backends.spec import PromptModel
    from workbench.text.fields import Field, Prediction, WordTag

LogProbs = Mapping[str, Sequence[float]]
Row = Mapping[str, Any]  # of `prompting.transcript.answers`


# ---------------------------------------------------------------- what is asked for


def prompt_tasks() -> tuple[str, ...]:
    """The tasks that a prompt can answer; of those on one kind of layer the first is used."""
    return tuple(info.id for info in tasks.all_tasks() if output_of(info) in OUTPUTS)


def task_of(layer: Layer) -> TaskInfo | None:
    """The task that answers about a layer, None if a prompt cannot."""
    known = prompt_tasks()
    return next((info for info in tasks.fitting(layer) if info.id in known), None)


def output_of(info: TaskInfo) -> str:
    """The main output of a task, one of OUTPUTS if a prompt can answer it."""
    return next(iter(info.outputs), "")


def form_of(info: TaskInfo, answer_form: str) -> AnswerForm:
    """The form of answers of a prompt. Raises SpecError if it does not fit the task."""
    form, choices = forms.get(answer_form), info.texts == CHOICES
    if form.fits(output_of(info), choices=choices):
        return form
    fitting = ", ".join(known.id for known in forms.fitting(output_of(info), choices=choices))
    raise SpecError(
        _(
            "The answer form {form!r} does not fit the task {task}.",
            form=answer_form,
            task=_(info.title),
        ),
        hint=_("Choose one of: {names}.", names=fitting),
    )


def fitting_forms(layer: Layer | None) -> tuple[AnswerForm, ...]:
    """The forms of answers about a layer, the default one first."""
    info = task_of(layer) if layer is not None else None
    if info is None:
        return ()
    return forms.fitting(output_of(info), choices=info.texts == CHOICES)


def form(answer: AnswerSpec) -> AnswerForm:
    """Raises SpecError naming the forms."""
    return forms.get(answer.form)


def fault_of(answer: AnswerSpec) -> str:
    """Why replies cannot be read with these settings, such as their pattern; "" if they can."""
    try:
        if form(answer).generated:
            forms.reader(answer)
    except SpecError as error:
        return str(error)
    return ""


def asks_for_spans(layer: Layer | None) -> bool:
    info = task_of(layer) if layer is not None else None
    return info is not None and output_of(info) == SPANS


def fitting_answer(layer: Layer | None, answer: AnswerSpec) -> AnswerSpec:
    """The answer settings of a prompt about another layer: with a form that fits it."""
    fitting = fitting_forms(layer)
    if not fitting or answer.form in {form.id for form in fitting}:
        return answer
    return replace(answer, form=fitting[0].id)


def unfit(
    form: AnswerForm,
    layer: Layer | None,
    model: PromptModel | None,
    *,
    chat: bool = False,
    constrained: bool = False,
) -> str:
    """Why a form cannot be used for a layer with a model, "" if it can; None: any model."""
    info = task_of(layer) if layer is not None else None
    if info is None:
        return ""
    can = ABILITIES if model is None else model.can
    choices = info.texts == CHOICES
    return forms.unfit(
        form, output_of(info), can, choices=choices, chat=chat, constrained=constrained
    )


def check_model(model: PromptModel, spec: PromptSpec, layer: Layer) -> None:
    """Raises SpecError if a model cannot answer in the form of a prompt."""
    form, constrained = forms.get(spec.answer.form), spec.answer.constrained
    if why := unfit(form, layer, model, chat=spec.chat, constrained=constrained):
        raise SpecError(
            _(
                "{model} cannot answer in the form {form!r}: {why}.",
                model=model.name,
                form=form.id,
                why=why,
            ),
            hint=_("Choose another form, or another model."),
        )


def decoding(spec: PromptSpec) -> Decoding:
    """How replies are generated, with the texts that end one in the form of the answer."""
    stop = forms.stops(spec.answer, spec.decoding.stop, chat=spec.chat)
    return replace(spec.decoding, stop=stop)


def targets(info: TaskInfo, layer: Layer, spec: PromptSpec, document: Document) -> list[Target]:
    """What the requests about a document ask for: one, or one for each of its questions."""
    target = Target(
        output_of(info), layer.names, spec.words, document.text, choices=document.choices
    )
    if not info.asks:
        return [target]
    return [replace(target, question=question) for question in document.questions]


def gold_values(info: TaskInfo, gold: Any) -> list[tuple[str, Value]]:
    """Gold of a document as examples state it, each with its question, "" without one."""
    output = output_of(info)
    if output == ANSWER:
        return [(item.question, item.ranges[0] if item.ranges else ()) for item in gold.questions]
    if output == SPANS:
        return [("", gold.spans)]
    names = {CLASS: "label", "LabelScores": "chosen", "Number": "value"}
    return [("", cast(Value, getattr(gold, names[output])))]


# ---------------------------------------------------------------- what was answered


@dataclass(frozen=True)
class PromptAnswers:
    """The answers of a worker as predictions.

    predictions: document id, hash of what was asked, prediction. prior: of the labels, of the set
    of examples that most documents had; None without calibration. sets: number of sets. no_answer:
    number of documents by the reason why nothing can be read; unplaced: of quoted strings that are
    not in the text.
    """

    predictions: tuple[tuple[int, str, Prediction], ...] = ()
    prior: Mapping[str, float] | None = None
    sets: int = 0
    no_answer: Mapping[str, int] = field(default_factory=dict)
    unplaced: int = 0


def read(
    info: TaskInfo,
    layer: Layer,
    spec: PromptSpec,
    rows: Iterable[Row],
    documents: Mapping[int, Document],
    *,
    batch: Mapping[str, float] | None = None,
    order: int = 0,
) -> PromptAnswers:
    """The predictions from answers. documents: by id; a deleted one has no prediction.

    batch: the prior for batch calibration, by default that of these answers. order: of the
    examples, whose answers are read.
    """
    every = [
        {**row, "document_id": row["of"]} if row.get("order") else row
        for row in rows
        if row.get("order", order if row["document_id"] is None else 0) == order
    ]
    if spec.answer.form == SCORED:
        return _scored(layer, spec, every, batch)
    return _written(info, layer, spec, every, documents)


def read_one(
    layer: Layer, spec: PromptSpec, document: Document, replies: Sequence[Mapping[str, Any]]
) -> Prediction | None:
    """The prediction from the replies about a document, to its first question if it has some."""
    info = task_of(layer)
    if info is None or (info.asks and not document.questions):
        return None
    of_text = targets(info, layer, spec, document)[:1]
    return _prediction(info, forms.reader(spec.answer), document, of_text, [replies], cut=False)


def summary(document: Document, prediction: Prediction) -> str:
    """What was read from replies, or why nothing was, and what they quote that the text lacks."""
    from workbench.text.fields import FromReply

    reply = prediction.get(FromReply)
    unplaced = ", ".join(f"“{text}”" for text in reply.unplaced) if reply is not None else ""
    if reply is not None and reply.no_answer:
        read = _("no answer: {reason}", reason=reply.reason)
    else:
        read = _stated(document, prediction)
    return _("{read} (not in the text: {quotes})", read=read, quotes=unplaced) if unplaced else read


def _stated(document: Document, prediction: Prediction) -> str:
    from workbench.text.fields import Answers

    answers = prediction.get(Answers)
    parts = [f"{span.label} “{document.text[span.start : span.end]}”" for span in prediction.spans]
    parts += prediction.labels or ()
    parts += [shortest(prediction.number)] if prediction.number is not None else []
    parts += [answer.answer for answer in answers.answers] if answers is not None else []
    return ", ".join(filter(None, parts)) or tasks.NONE


def documents_of(project: Project, layer: Layer, ids: Iterable[int]) -> dict[int, Document]:
    """The documents that still exist, with the questions of the layer."""
    records = stored_documents.records(project.db, layers=(layer.name,), ids=list(ids))
    return {row_id(record.document): record.document for record in records}


# ---------------------------------------------------------------- label words by probability


def _scored(
    layer: Layer, spec: PromptSpec, rows: Sequence[Row], batch: Mapping[str, float] | None
) -> PromptAnswers:
    from workbench.prompting import score
    from workbench.text.fields import FromReply, Prediction

    words = words_of(layer, spec)
    without_text: dict[int, list[LogProbs]] = {}
    for row in rows:
        if row["document_id"] is None:
            without_text.setdefault(row["set"], []).append(row["logprobs"])
    every = [row for row in rows if row["document_id"] is not None]
    of_documents = [row for row in every if "logprobs" in row]  # the model refused the others
    priors = _batch_priors(spec, [row["logprobs"] for row in of_documents], words, batch)

    def predicted(row: Row) -> Prediction:
        if "logprobs" not in row:
            return Prediction((FromReply(FAILED),))
        return score.prediction(
            row["logprobs"],
            spec.calibration,
            without_text.get(row.get("set", 0), ()),
            cut=bool(row["cut"]),
            words=words,
            batch=priors.get(tuple(row["logprobs"])),
        )

    predictions = tuple((row["document_id"], row["text_hash"], predicted(row)) for row in every)
    usual = Counter(row.get("set", 0) for row in of_documents).most_common(1)
    prior = (
        score.prior_of(spec.calibration, without_text.get(usual[0][0], ()), words)
        if usual
        else None
    )
    n = len(every) - len(of_documents)
    return PromptAnswers(
        predictions,
        prior or next(iter(priors.values()), None),
        len(without_text),
        no_answer={FAILED: n} if n else {},
    )


def words_of(layer: Layer, spec: PromptSpec) -> Mapping[str, str]:
    """Each word of the labels with its label. Raises SpecError if one stands for two."""
    from workbench.prompting.base import Labels

    return Labels(layer.names, {}, spec.words).by_word


def _batch_priors(
    spec: PromptSpec,
    documents: Sequence[LogProbs],
    words: Mapping[str, str],
    batch: Mapping[str, float] | None,
) -> dict[tuple[str, ...], Mapping[str, float]]:
    """Words of the candidates of a document → prior of their labels; {} for other calibrations."""
    from workbench.prompting import score

    if spec.calibration != score.BATCH:
        return {}
    known = score.batch_prior(documents, words)
    if batch is not None:
        known = {
            labels: dict(batch) if {*labels} == {*batch} else own for labels, own in known.items()
        }
    by_words: dict[tuple[str, ...], Mapping[str, float]] = {}
    for logprobs in documents:
        labels = tuple(dict.fromkeys(words.get(word, word) for word in logprobs))
        by_words[tuple(logprobs)] = known[labels]
    return by_words


# ---------------------------------------------------------------- replies


def _written(
    info: TaskInfo,
    layer: Layer,
    spec: PromptSpec,
    rows: Sequence[Row],
    documents: Mapping[int, Document],
) -> PromptAnswers:
    """A document of whose questions not all have been answered has no prediction."""
    reader = forms.reader(spec.answer)
    by_document: dict[int, list[Row]] = {}
    for row in rows:
        if row["document_id"] in documents:
            by_document.setdefault(row["document_id"], []).append(row)
    predictions = []
    for id, of_document in by_document.items():
        document = documents[id]
        of_text = targets(info, layer, spec, document)
        replied = [replies for target in of_text if (replies := _of_target(target, of_document))]
        if len(replied) == len(of_text):
            cut = any(row["cut"] for row in of_document)
            item = _prediction(info, reader, document, of_text, replied, cut=cut)
            predictions.append((id, document.asked_hash, item))
    reasons = Counter(item.no_answer for _id, _hash, item in predictions if item.no_answer)
    return PromptAnswers(
        tuple(predictions),
        no_answer=dict(reasons.most_common()),
        unplaced=sum(_unplaced(item) for _id, _hash, item in predictions),
    )


def _of_target(target: Target, rows: Sequence[Row]) -> Sequence[Mapping[str, Any]]:
    """The replies, one per sample, to the request for a target; () if there are none."""
    same = (row for row in rows if row.get("question", "") == target.question)
    row = next(same, None)
    return row["replies"] if row is not None else ()


def _prediction(
    info: TaskInfo,
    reader: Reader,
    document: Document,
    of_text: Sequence[Target],
    replied: Sequence[Sequence[Mapping[str, Any]]],
    *,
    cut: bool,
) -> Prediction:
    from workbench.prompting.answers import votes

    readings = [
        [_reading(reader, target, reply) for reply in replies]
        for target, replies in zip(of_text, replied, strict=True)
    ]
    prediction = votes.prediction(of_text, readings, cut=cut)
    return _with_words(prediction, document) if "WordTags" in info.outputs else prediction


def _reading(reader: Reader, target: Target, reply: Mapping[str, Any]) -> Reading:
    from workbench.prompting.answers.target import Reading

    if reply.get("finish") == FAILED:
        return Reading(no_answer="failed")
    return reader.read(str(reply.get("text") or ""), target)


def _with_words(prediction: Prediction, document: Document) -> Prediction:
    """With the words of the text, each with the label of the longest span over it."""
    from workbench.text.fields import WordTags
    from workbench.text.segment import tokens_of

    if prediction.no_answer:
        return prediction
    longest = sorted(prediction.spans, key=lambda span: (span.start - span.end, span.start))
    tags = WordTags(tuple(_tag(word, longest) for word in tokens_of(document)))
    first, *rest = prediction.fields
    fields: tuple[Field, ...] = (first, tags, *rest)
    return replace(prediction, fields=fields)


def _tag(word: tuple[int, int], spans: Sequence[Span]) -> WordTag:
    from workbench.text.fields import WordTag

    start, end = word
    over = next((span for span in spans if span.start < end and start < span.end), None)
    if over is None:
        return WordTag(start, end, None, 1.0)
    return WordTag(start, end, over.label, 1.0 if over.score is None else over.score)


def _unplaced(prediction: Prediction) -> int:
    from workbench.text.fields import FromReply

    reply = prediction.get(FromReply)
    return len(reply.unplaced) if reply is not None else 0
