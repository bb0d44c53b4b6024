"""Filling prompts: settings, layer, model and drawn examples → the exact input of the model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.evaluation import scoring
from workbench.operations.prompts import prompt_reading, servers
from workbench.operations.runs import training_data
from workbench.prompting import transcript
from workbench.prompting.answers import forms
from workbench.prompting.answers.target import CLASS, LABELS, NUMBER, SPANS
from workbench.prompting.backends import spec as backends
from workbench.prompting.backends.spec import Measure, PromptModel, PromptToken
from workbench.prompting.generation import GenerationRequest, Message
from workbench.prompting.spec import SCORED, PromptSpec
from workbench.storage.documents import documents
from workbench.tasks import spec as tasks
from workbench.tasks.spec import Gold, TaskInfo
from workbench.text.document import BLANK, TEXT_B, Document
from workbench.text.labels import Layer
from workbench.text.rows import row_id
from workbench.text.spans import Span

if TYPE_CHECKING:
    from workbench.base.settings import Settings
    from workbench.jobs.queue import Queue
    from workbench.operations.prompts.prompt_examples import ExampleRow
    from workbench.operations.prompts.prompt_render import Renderer
    from workbench.project.project import Project
    from workbench.prompting.base import Example, Rendered, Request
    from workbench.prompting.budget import Budget, Fitted, PromptInput
    from workbench.prompting.score import LabelAnswer
    from workbench.prompting.shots import Chosen, Shot, Shots

LONGEST_TEMPLATE = 200_000  # characters
EMPTY: Mapping[str, Any] = {}
_SELECTION = "order seed every_label pinned source_run vectors diversity answer".split()  # settings
_META = "meta"  # a template without this word does not use the metadata

PromptTable = Mapping[str, tuple[str, str, str]]  # label → before, answer, after


@dataclass(frozen=True)
class PromptPreview:
    """The exact input of the model for one document and one candidate.

    label: the candidate, the number of a choice for a document with choices. limit: maximum number
    of tokens. dropped: examples that did not fit. cut: whether the text was truncated. prompts: of
    all candidates. without_text: those with the same examples but without the text, for
    calibration. choices: the text of each choice by its number, {} for other documents.

    pieces: the tokens of `text` with the reserved ones, () if the backend does not give them.
    messages: (role, content) of a conversation. left_out: the examples that did not fit.
    characters: how many the text lost at its end. Without candidates, for an answer that the model
    writes, `label` is "", the key of the only prompt; requests: what is sent then, one per sample.
    selected: the examples, the most important first, and why. left_out_keys: those of the documents
    of `left_out`.
    """

    text: str
    tokens: int
    limit: int
    examples: int
    dropped: int
    cut: bool
    label: str
    document_id: int | None
    prompts: PromptTable
    without_text: tuple[PromptTable, ...] = ()
    choices: Mapping[str, str] = field(default_factory=dict, hash=False)
    pieces: tuple[PromptToken, ...] = ()
    messages: tuple[tuple[str, str], ...] = ()
    left_out: tuple[Example, ...] = ()
    characters: int = 0
    requests: tuple[GenerationRequest, ...] = ()
    selected: tuple[ExampleRow, ...] = ()
    left_out_keys: tuple[str, ...] = ()


def fitting_layers(project: Project) -> tuple[tuple[Layer, int], ...]:
    """Layers that a prompt can answer about, each with its number of submitted documents, most
    first.
    """
    by_task = training_data.fitting_by_task(project, prompt_reading.prompt_tasks())
    by_id = {layer.id: (layer, count) for pairs in by_task.values() for layer, count in pairs}
    return tuple(sorted(by_id.values(), key=lambda pair: -pair[1]))


def choose_layer(project: Project, name: str | None = None) -> tuple[Layer, str]:
    """The layer of a prompt, and a remark where it was chosen among several.

    Raises SpecError if no layer fits.
    """
    fitting = fitting_layers(project)
    if name:
        for layer, _count in fitting:
            if layer.name == name:
                return layer, ""
        known = ", ".join(layer.name for layer, _count in fitting) or _("none")
        raise SpecError(
            _("There is no layer {name!r} that a prompt can answer about.", name=name),
            hint=_("Layers that fit: {known}.", known=known),
        )
    if not fitting:
        raise SpecError(
            _("The project has no layer that a prompt can answer about."),
            hint=_("Add one on the Labels page, or import labelled data."),
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


# ---------------------------------------------------------------- filling


class Fillers:
    """Creates fillers that share what is slow to create.

    These are the worker that renders templates, the last tokenizer, and the training documents from
    which examples are drawn. May be used on any thread; close it at the end.
    """

    def __init__(
        self,
        project: Project,
        renderer: Renderer | None = None,
        *,
        queue: Queue | None = None,
        settings: Settings | None = None,
    ):
        """queue: for jobs that compute vectors or predictions for the selection of examples."""
        from workbench.operations.prompts.prompt_render import Renderer

        self.project, self._queue, self._settings = project, queue, settings
        self.renderer: Renderer = renderer or Renderer()
        self._measure: tuple[tuple[object, ...], Measure] | None = None
        self._shots: tuple[tuple[object, ...], Shots] | None = None
        self._known: dict[object, Any] = {}  # what the selection of examples reads

    def filler(self, spec: PromptSpec, *, watch: Watch = QUIET, compute: bool = True) -> Filler:
        """Raises SpecError or ModelError where layer or model will not do.

        compute: jobs compute what the selection of examples lacks; else it raises NotComputed.
        """
        layer, _remark = choose_layer(self.project, spec.layer or None)
        info = prompt_reading.task_of(layer)
        if info is not None and len(layer.names) < info.least_labels:
            message = _("Layer {layer!r} has fewer than two labels to choose from.")
            if info.least_labels == 1:
                message = _("Layer {layer!r} has no labels.")
            hint = _("Add labels on the Labels page.")
            raise SpecError(message.format(layer=layer.name), hint=hint)
        if len(spec.template) > LONGEST_TEMPLATE:
            raise SpecError(
                _(
                    "The template is too long: {n:,} of at most {most:,} characters.",
                    n=len(spec.template),
                    most=LONGEST_TEMPLATE,
                ),
                hint=_("Shorten it."),
            )
        shots = self.shots(spec, layer, watch, compute=compute)
        return Filler(self, spec, layer, shots, self.measure(spec), watch)

    def forget_documents(self) -> None:
        """The project has changed: examples are drawn again."""
        self._shots, self._known = None, {}

    def forget_models(self) -> None:
        """The backends have changed: models are measured again."""
        self._measure = None

    def close(self) -> None:
        self.renderer.close()

    def __enter__(self) -> Fillers:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def measure(self, spec: PromptSpec) -> Measure:
        """How long prompts are to the model. Raises WorkbenchError where it cannot be asked."""
        options = backends.options(spec.backend, spec.options)
        model = PromptModel(spec.model_name or spec.model, spec.model, pickled=spec.allow_pickle)
        may_send = not servers.needs_consent(self.project, spec.backend, spec.model)
        key, known = (spec.backend, model, tuple(options.items()), may_send), self._measure
        if known is None or known[0] != key:
            measure = backends.measure(spec.backend, model, options)
            if measure.sends is not None and may_send:
                measure = replace(measure, count=measure.sends)
            known = self._measure = (key, measure)
        return known[1]

    def shots(
        self, spec: PromptSpec, layer: Layer, watch: Watch = QUIET, *, compute: bool = True
    ) -> Shots:
        """What selects examples; of no documents where no examples are asked for."""
        from workbench.operations.prompts import prompt_examples
        from workbench.prompting.shots import Shots

        info = prompt_reading.task_of(layer)
        if not spec.shots or info is None:
            return Shots(())
        task = info.id
        words = tuple(sorted(spec.words.items()))
        key = (layer, task, words, *(getattr(spec, name) for name in _SELECTION))
        known = self._shots
        if known is None or known[0] != key:
            pool_key = (layer, task, words, spec.answer)
            if pool_key not in self._known:
                self._known[pool_key] = tuple(_pool(self.project, spec, task, layer))
            selected = prompt_examples.shots(
                self.project,
                spec,
                layer,
                self._known[pool_key],
                known=self._known,
                queue=self._queue if compute else None,
                settings=self._settings,
                watch=watch,
            )
            known = self._shots = (key, selected)
        return known[1]


class Filler:
    """Fills the prompts of a template within the maximum length of the model.

    Made by `Fillers.filler`. The template is compiled with the first prompt.
    """

    def __init__(
        self,
        fillers: Fillers,
        spec: PromptSpec,
        layer: Layer,
        shots: Shots,
        measure: Measure,
        watch: Watch,
    ):
        from workbench.prompting.base import Labels
        from workbench.prompting.budget import Budget
        from workbench.runtime.chat_template import ChatTemplate

        info = prompt_reading.task_of(layer)
        assert info is not None  # those of `fitting_layers` have one
        self.project = fillers.project
        self.spec, self.layer, self.info, self.task = spec, layer, info, info.id
        self.form = prompt_reading.form_of(info, spec.answer.form)
        if self.form.generated:
            forms.reader(spec.answer)  # raises SpecError for a pattern that will not do
        self.measure, self.written = measure, self.form.generated
        described = {label.name: label.description for label in layer.labels}
        labels = Labels(layer.names, {**described, **spec.descriptions}, spec.words)
        renderer = fillers.renderer
        chat = (measure.chat or ChatTemplate()) if spec.chat else None

        def render(requests: Sequence[Request]) -> list[Rendered]:
            return renderer.render(
                spec.template,
                labels,
                requests,
                instruction=spec.instruction,
                chat=chat,
                watch=watch,
            )

        self.budget: Budget = Budget(
            labels,
            render=render,
            count=measure.count,
            limit=_room(measure.limit, spec) if self.written else measure.limit,
            errors=renderer.errors,
            written=self.written,
        )
        self.shots = shots
        self._content_free = _content_free_texts(spec, measure)
        self._asking = asking(spec)

    @property
    def limit(self) -> int:
        return self.budget.limit

    def fit(self, document: Document) -> Fitted:
        """The prompts of one document; its own text is never among the examples."""
        return self.budget.fit(self._asked(document, named=False))

    def fit_all(self, documents: Iterable[Document]) -> Iterator[Fitted]:
        """The prompts of many documents, in order; much faster than one by one. Of each, one for
        every one of `orders`.
        """
        return self.budget.fit_all(
            self._asked(document, number=number)
            for document in documents
            for number in range(self.orders)
        )

    @property
    def orders(self) -> int:
        """In how many orders of its examples a prompt is scored."""
        spec = self.spec
        return spec.orders if spec.arrangement == "shuffled" and spec.shots > 1 else 1

    def _asked(self, document: Document, *, named: bool = True, number: int = 0) -> PromptInput:
        from workbench.prompting.budget import PromptInput
        from workbench.prompting.shots import keys

        chosen = selected(self.shots, self.spec, document)
        second = dict(document.texts).get(TEXT_B, "")
        name = document.key if named else ""
        return PromptInput(
            document.text,
            tuple(item.shot.example for item in chosen),
            second,
            name,
            self._question(document),
            document.choices,
            document.meta if _META in self.spec.template else {},
            keys(chosen, self.spec.arrangement, self.spec.seed, number=number),
        )

    def parts(self, document: Document) -> list[Document]:
        """What one prompt each is about: the document, or each of its questions."""
        if not self.info.asks:
            return [document]
        return [replace(document, questions=(question,)) for question in document.questions]

    def _question(self, document: Document) -> str:
        return next(iter(document.questions), "") if self.info.asks else document.question

    def premises(self, document: Document, fitted: Fitted) -> tuple[PromptInput, ...]:
        """What calibration asks in place of a document, with its examples and its choices.

        Content-free texts, or an empty text for PMI. They also replace a question, except for the
        blank that a choice fills.
        """
        from workbench.prompting.budget import PromptInput

        def asked(text: str) -> PromptInput:
            question = BLANK if BLANK in document.question else text if document.question else ""
            second = text if self.layer.texts == 2 else ""
            return PromptInput(text, fitted.examples, second, "", question, document.choices)

        return tuple(map(asked, self._content_free))

    def without_text(self, premises: Sequence[PromptInput]) -> tuple[Fitted, ...]:
        """The prompts of what calibration asks in place of a document.

        One with which the template cannot be rendered is left out. Raises TemplateError if none
        remains.
        """
        from workbench.runtime.chat_template import TemplateError

        fitted: list[Fitted] = []
        problem: TemplateError | None = None
        for premise in premises:
            try:
                fitted.append(self.budget.fit(premise))
            except TemplateError as error:
                problem = error
        if problem is not None and not fitted:
            raise TemplateError(
                N_("Calibration needs the prompt without a text: {error}"),
                hint=N_(
                    "Change the template so that it accepts an empty text, or turn calibration off."
                ),
                line=problem.line,
                error=problem.message,
            )
        return tuple(fitted)

    def line(
        self, document: Document, fitted: Fitted, number: int = 0, *, order: int = 0
    ) -> dict[str, Any]:
        """A line of the worker's input; `number` is that of its prompts without a text, `order`
        that of its examples.
        """
        about: dict[str, Any] = {
            "document_id": document.id,
            "text_hash": document.text_hash,
            "split": document.split,
            "cut": fitted.cut,
            "set": number,
        }
        if order:
            about |= {"document_id": None, "of": document.id, "order": order}
        if self.info.asks:
            about["question"] = self._question(document)
        return self._line(about, fitted, self._restricted(document))

    def lines_without_text(
        self, premises: Sequence[PromptInput], number: int
    ) -> list[dict[str, Any]]:
        """Lines of the worker's input for calibration."""
        return [
            self._line({"document_id": None, "set": number}, fitted)
            for fitted in self.without_text(premises)
        ]

    def _restricted(self, document: Document) -> dict[str, Any]:
        """What the reply to a prompt is restricted to."""
        targets = prompt_reading.targets(self.info, self.layer, self.spec, document)
        if not self.spec.answer.constrained or not self.written or not targets:
            return {}
        choices, schema = self.form.constraint(targets[0])
        return {"choices": list(choices)} if choices else {"schema": schema} if schema else {}

    def requests(self, document: Document, fitted: Fitted) -> tuple[GenerationRequest, ...]:
        """What is sent for a prompt whose answer the model writes, one per sample."""
        if not self.written:
            return ()
        (prompt,), decoding = fitted.prompts, prompt_reading.decoding(self.spec)
        messages = tuple(Message(role, content) for role, content in prompt.messages)
        request = GenerationRequest(
            "" if messages else prompt.before, messages, **self._restricted(document)
        )
        seeds = range(decoding.seed, decoding.seed + decoding.samples)
        return tuple(
            replace(request, decoding=replace(decoding, seed=seed, samples=1)) for seed in seeds
        )

    def _line(
        self, about: Mapping[str, Any], fitted: Fitted, restricted: Mapping[str, Any] = EMPTY
    ) -> dict[str, Any]:
        request = {**self._packed(fitted), **restricted}
        if texts := restricted.get("choices"):
            parts = request["parts"]
            request["choices"] = list(range(len(parts), len(parts) + len(texts)))
            request["parts"] = [*parts, *texts]
        key = transcript.key(self._asking, request)
        examples = [example.document_id for example in fitted.examples]
        return {**about, "examples": examples, "key": key, **request}

    def keys(self, examples: Iterable[Example]) -> tuple[str, ...]:
        """The keys of the documents that examples are of."""
        ids = (example.document_id for example in examples)
        return tuple(documents.get(self.project.db, id).key for id in ids if id is not None)

    def table(self, fitted: Fitted) -> PromptTable:
        return {
            label: (filled.before, filled.answer, filled.after)
            for label, filled in zip(fitted.labels or ("",), fitted.prompts, strict=True)
        }

    def _packed(self, fitted: Fitted) -> dict[str, Any]:
        """The candidates' prompts as JSON, with equal parts written once."""
        parts: dict[str, int] = {}
        if self.written:
            (prompt,) = fitted.prompts
            if not prompt.messages:
                return {"parts": [prompt.before], "text": 0}
            messages = [
                [role, parts.setdefault(content, len(parts))] for role, content in prompt.messages
            ]
            return {"parts": list(parts), "messages": messages}
        prompts = {
            label: [parts.setdefault(part, len(parts)) for part in whole]
            for label, whole in self.table(fitted).items()
        }
        return {"parts": list(parts), "prompts": prompts}


def _room(limit: int, spec: PromptSpec) -> int:
    """Tokens of a prompt that leaves room for the reply."""
    room = limit - spec.decoding.max_tokens
    if room <= 0:
        raise SpecError(
            ngettext(
                "A reply of {n:,} token leaves no room for a prompt: the model accepts {limit:,}.",
                "A reply of {n:,} tokens leaves no room for a prompt: the model accepts {limit:,}.",
                spec.decoding.max_tokens,
                limit=limit,
            ),
            hint=_("Choose a shorter reply."),
        )
    return room


def asking(spec: PromptSpec) -> bytes:
    """A hash of what an answer depends on besides what is sent: the model, with the state of its
    files, and how it is asked.
    """
    decoding = {} if spec.answer.form == SCORED else prompt_reading.decoding(spec).to_json()
    options = backends.options(spec.backend, spec.options)
    about = [spec.backend, spec.model, _state(Path(spec.model)), options, decoding]
    return sha256(json.dumps(about, sort_keys=True).encode()).digest()


def _state(path: Path) -> list[tuple[str, int, int]]:
    """Names, sizes and times of the files of a model on this computer, which is a file or a folder,
    with those one level below; [] for others.
    """
    if not path.is_absolute():
        return []
    paths = [path] if path.is_file() else sorted((*path.glob("*"), *path.glob("*/*")))
    stats = ((file, file.stat()) for file in paths if file.is_file())
    return [(str(file.relative_to(path)), stat.st_size, stat.st_mtime_ns) for file, stat in stats]


def _content_free_texts(spec: PromptSpec, measure: Measure) -> tuple[str, ...]:
    """What stands for the text in calibration; the mask as the model writes it."""
    from workbench.prompting import score

    if spec.answer.form != SCORED or spec.calibration in (score.NONE, score.BATCH):
        return ()
    if spec.calibration == score.PMI:
        return ("",)
    mask = measure.mask or score.MASK
    return tuple(mask if text == score.MASK else text for text in score.CONTENT_FREE_TEXTS)


def _pool(project: Project, spec: PromptSpec, task: str, layer: Layer) -> Iterator[Shot]:
    from workbench.prompting.shots import Shot

    info = tasks.info(task)
    for record in scoring.usable_records(project, info, layer, splits=("train",)):
        document, gold = record.document, info.gold(record, layer.name)
        for example in _examples(info, layer, spec, document, gold):
            yield Shot(row_id(document), document.text_hash, example)


def _examples(
    info: TaskInfo, layer: Layer, spec: PromptSpec, document: Document, gold: Gold | None
) -> Iterator[Example]:
    """A labelled document as an example, or each question about it that has gold."""
    from workbench.prompting.base import Example

    target = replace(
        prompt_reading.targets(info, layer, spec, replace(document, questions=("",)))[0],
        question="",
    )
    for question, value in prompt_reading.gold_values(info, gold):
        answer = forms.written(spec.answer, target, value)
        is_class = target.output == CLASS
        spans = cast(tuple[Span, ...], value) if target.output == SPANS else ()
        yield Example(
            document.text,
            cast(str, value) if is_class else answer,
            dict(document.texts).get(TEXT_B, ""),
            question or document.question,
            document.choices,
            row_id(document),
            # The template writes a choice as its text or its letter, unless the form has its own.
            "" if is_class and answer in (value, target.written(cast(str, value))) else answer,
            cast(tuple[str, ...], value) if target.output == LABELS else (),
            tuple((span.start, span.end, span.label) for span in spans),
            cast(float, value) if target.output == NUMBER else None,
            document.meta,
        )


def first_document(project: Project, layer: Layer) -> Document | None:
    """The document that the preview begins with: the first of dev, else any that fits the layer."""
    for filter_ in (
        documents.Filter(layer_id=layer.id, split="dev", state="submitted"),
        documents.Filter(texts=layer.texts),
    ):
        if ids := list(documents.ids(project.db, filter_)[:1]):
            return documents.get(project.db, ids[0])
    return None


def document(project: Project, document_id: int) -> Document:
    """Raises KeyError where it was deleted."""
    return documents.get(project.db, document_id)


def split_ids(project: Project, layer: Layer, split: str) -> list[int]:
    """The submitted documents of a layer in a split."""
    return list(
        documents.ids(
            project.db, documents.Filter(layer_id=layer.id, split=split, state="submitted")
        )
    )


def ranked(
    logprobs: Mapping[str, Sequence[float]],
    method: str = "none",
    without_text: Sequence[Mapping[str, Sequence[float]]] = (),
    words: Mapping[str, str] = EMPTY,
) -> list[LabelAnswer]:
    """The labels of one document, the most probable first; see `prompting.score.answers`."""
    from workbench.prompting.score import answers

    return answers(logprobs, method, without_text, words=words)


def examples(filler: Filler, document: Document) -> tuple[ExampleRow, ...]:
    """The examples of a document, the most important first. Not for the main thread."""
    return _rows(filler, document, filler.fit(document))


def _rows(filler: Filler, document: Document, fitted: Fitted) -> tuple[ExampleRow, ...]:
    from workbench.operations.prompts import prompt_examples

    chosen = selected(filler.shots, filler.spec, document)
    return prompt_examples.rows(filler.project, chosen, fitted.examples, filler.spec.seed)


def examples_of(
    fillers: Fillers, spec: PromptSpec, keys: Sequence[str], *, watch: Watch = QUIET
) -> dict[str, tuple[ExampleRow, ...]]:
    """Key of each document → its examples; without a model in `spec`, as if all fitted.

    Raises SpecError for an unknown key.
    """
    rows: dict[str, tuple[ExampleRow, ...]] = {}
    filler = fillers.filler(spec, watch=watch) if spec.model else None
    for key in keys:
        this = documents.by_key(fillers.project.db, key)
        if this is None:
            raise SpecError(_("There is no document {key!r}.", key=key))
        rows[key] = examples(filler, this) if filler else _selected(fillers, spec, this, watch)
    return rows


def _selected(
    fillers: Fillers, spec: PromptSpec, document: Document, watch: Watch
) -> tuple[ExampleRow, ...]:
    from workbench.operations.prompts import prompt_examples
    from workbench.prompting.shots import arranged

    layer, _remark = choose_layer(fillers.project, spec.layer or None)
    chosen = selected(fillers.shots(spec, layer, watch), spec, document)
    order = [item.shot.example for item in arranged(chosen, spec.arrangement, spec.seed)]
    return prompt_examples.rows(fillers.project, chosen, order, spec.seed)


def selected(shots: Shots, spec: PromptSpec, document: Document) -> tuple[Chosen, ...]:
    """The examples selected for a document, the most important first, before any is left out to
    fit.
    """
    return shots.take(
        spec.shots,
        document_id=document.id,
        text_hash=document.text_hash,
        texts=[text for _name, text in document.texts],
    )


def preview(filler: Filler, document: Document | None, *, label: str = "") -> PromptPreview:
    """The exact prompt of one document with one candidate (by default the first label).

    Raises SpecError without a document.
    """
    if document is None:
        raise SpecError(
            _("There is no document to fill the template with."), hint=_("Import data first.")
        )
    fitted = filler.fit(document)
    table = filler.table(fitted)
    example = label if label in table else next(iter(table))
    text, tokens = "".join(table[example]), filler.measure.tokens
    pieces = tuple(tokens(text, filler.spec.chat)) if tokens is not None else ()
    return PromptPreview(
        text,
        fitted.tokens,
        filler.limit,
        len(fitted.examples),
        fitted.dropped,
        fitted.cut,
        example,
        document.id,
        table,
        tuple(map(filler.table, filler.without_text(filler.premises(document, fitted)))),
        dict(zip(fitted.labels, document.choices, strict=False)),
        pieces,
        fitted.prompts[0].messages,
        fitted.left_out,
        fitted.characters,
        filler.requests(document, fitted),
        _rows(filler, document, fitted),
        filler.keys(fitted.left_out),
    )
