"""The table of answer forms: which tasks they fit, what they need of a model, how they are read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.base.records import json_text
from workbench.prompting.answers import reading
from workbench.prompting.answers.reading import Reader
from workbench.prompting.answers.target import (
    ANSWER,
    CLASS,
    LABELS,
    NUMBER,
    OUTPUTS,
    SPANS,
    Range,
    Reading,
    Target,
    Value,
)
from workbench.prompting.backends.spec import CHAT, GENERATE, SCHEMA, SCORE
from workbench.prompting.spec import SCORED, AnswerSpec
from workbench.text.scale import shortest
from workbench.text.spans import Span

BLANK_LINE = "\n\n"  # ends a reply that continues a text: the model would write further examples

Write = Callable[[Target, Value], str]
Read = Callable[[Reader, str, Target], Reading]


@dataclass(frozen=True)
class AnswerForm:
    """How a model answers.

    outputs: what can be asked for with it, of `target.OUTPUTS`. for_choices: whether it fits
    documents with choices, None if that makes no difference. write: gold → how an example is
    answered. read: a reply → what it says, None for the form that compares probabilities of label
    words. stop: what ends a reply that continues a text, unless the prompt names texts that do.
    choices: generation can be restricted to the label words; schema: to JSON. patterned: it has a
    pattern; marked: a marker; mentions: it chooses which occurrences of quoted strings are spans.
    """

    id: str
    title: str
    hint: str
    outputs: tuple[str, ...]
    write: Write
    read: Read | None
    for_choices: bool | None = None
    stop: tuple[str, ...] = (BLANK_LINE,)
    choices: bool = False
    schema: bool = False
    patterned: bool = False
    marked: bool = False
    mentions: bool = False

    @property
    def generated(self) -> bool:
        """The model writes a reply; otherwise it gives the probabilities of label words."""
        return self.read is not None

    @property
    def can_be_constrained(self) -> bool:
        return self.choices or self.schema

    def fits(self, output: str, *, choices: bool = False) -> bool:
        return output in self.outputs and self.for_choices in (None, choices)

    def needs(self, *, chat: bool = False, constrained: bool = False) -> frozenset[str]:
        """What a model must be able to do, of `backends.spec.ABILITIES`."""
        if not self.generated:
            return frozenset((SCORE,))
        return frozenset((CHAT if chat else GENERATE, *((SCHEMA,) if constrained else ())))

    def constraint(self, target: Target) -> tuple[tuple[str, ...], Mapping[str, Any] | None]:
        """What generation can be restricted to: texts, or a JSON Schema; ((), None) for neither."""
        if self.schema:
            return (), schema(target)
        if not self.choices:
            return (), None
        if target.choices:
            return (*map(_letter, range(len(target.choices))), *target.choices), None
        return tuple(dict.fromkeys(target.written(label) for label in target.labels)), None


# ---------------------------------------------------------------- how gold is written


def write(target: Target, value: Value) -> str:
    """Gold as a person would write it: a label, labels, a number, quoted spans, an answer.

    The number of a choice stays one: the template writes its text or its letter.
    """
    if target.output == CLASS:
        return target.written(cast(str, value)) if not target.choices else cast(str, value)
    if target.output == LABELS:
        labels = cast(tuple[str, ...], value)
        return ", ".join(map(target.written, labels)) or target.nothing[0]
    if target.output == NUMBER:
        return shortest(cast(float, value))
    if target.output == SPANS:
        return write_quotes(target, value)
    answer = cast(Range | tuple[()], value)
    return target.text[slice(*answer)] if answer else target.nothing[0]


def write_quotes(target: Target, value: Value) -> str:
    """A line for each label with its quoted spans in order; only these if there is one label."""
    spans = cast(tuple[Span, ...], value)
    lines = []
    for label in target.labels:
        texts = [target.text[span.start : span.end] for span in spans if span.label == label]
        if texts:
            quotes = ", ".join(json_text(text) for text in texts)
            one = len(target.labels) == 1
            lines.append(quotes if one else f"{target.written(label)}: {quotes}")
    return "\n".join(lines) or target.nothing[0]


def write_json(target: Target, value: Value) -> str:
    return json_text({reading.key_of(target): _plain(target, value)})


def _plain(target: Target, value: Value) -> object:
    if target.choices:
        return _letter(int(cast(str, value)) - 1)
    if target.output == CLASS:
        return target.written(cast(str, value))
    if target.output == LABELS:
        return [target.written(label) for label in cast(tuple[str, ...], value)]
    if target.output == NUMBER:
        number = cast(float, value)
        return int(number) if number == int(number) else number
    if target.output == ANSWER:
        return target.text[slice(*cast(Range, value))] if value != () else None
    return [
        {"text": target.text[span.start : span.end], "label": target.written(span.label)}
        for span in cast(tuple[Span, ...], value)
    ]


def write_tags(target: Target, value: Value) -> str:
    """The text with `[LABEL …]` around each span; crossing ones cannot be written, the later is
    left out.
    """
    marks: list[tuple[int, int, int, str]] = []  # offset, closing first, order, what is written
    open_ends: list[int] = []
    spans = sorted(cast(tuple[Span, ...], value), key=lambda span: (span.start, -span.end))
    for number, span in enumerate(spans):
        open_ends = [end for end in open_ends if end > span.start]
        if any(span.start < end < span.end for end in open_ends) or span.start == span.end:
            continue
        open_ends.append(span.end)
        marks.append((span.start, 1, number, f"[{target.written(span.label)} "))
        marks.append((span.end, 0, -number, "]"))
    parts, last = [], 0
    for offset, _closing, _number, mark in sorted(marks):
        parts += [target.text[last:offset], mark]
        last = offset
    return "".join([*parts, target.text[last:]])


def schema(target: Target) -> Mapping[str, Any]:
    """JSON Schema of what `read_json` reads: an object with one property."""
    words = [target.written(label) for label in target.labels]
    text = {"type": "string"}
    item = {
        "type": "object",
        "properties": {"text": text, "label": {"enum": words}},
        "required": ["text", "label"],
        "additionalProperties": False,
    }
    values: dict[str, Mapping[str, Any]] = {
        CLASS: {"enum": words},
        LABELS: {"type": "array", "items": {"enum": words}},
        NUMBER: {"type": "number"},
        SPANS: {"type": "array", "items": item},
        ANSWER: {"type": ["string", "null"]},
    }
    value = values[target.output]
    if target.choices:
        value = {"enum": [*map(_letter, range(len(target.choices)))]}
    key = reading.key_of(target)
    return {
        "type": "object",
        "properties": {key: value},
        "required": [key],
        "additionalProperties": False,
    }


def _letter(place: int) -> str:
    """As the templates write it, see `prompting.template.letter`."""
    from workbench.prompting.template import letter

    return letter(place)


# ---------------------------------------------------------------- reasons, then the answer


def read_reasoned(reader: Reader, reply: str, target: Target) -> Reading:
    """What follows the last marker, read in the plain form of what is asked for."""
    answer = reading.after_marker(reply, reader.answer.marker or reading.MARKER)
    if answer is None:
        return Reading(no_answer="no-marker")
    if not answer.strip():
        return Reading(no_answer="empty")
    return PLAIN_READERS[target.output](reader, answer, target)


PLAIN_READERS: Mapping[str, Read] = {
    CLASS: reading.read_first,
    LABELS: reading.read_several,
    NUMBER: reading.read_number,
    SPANS: reading.read_quotes,
    ANSWER: reading.read_answer,
}

FORMS: Mapping[str, AnswerForm] = {
    form.id: form
    for form in (
        AnswerForm(
            SCORED,
            N_("Probability of the label words"),
            N_("The label whose words are most probable as the next ones."),
            (CLASS,),
            write,
            None,
        ),
        AnswerForm(
            "first",
            N_("First label named in the reply"),
            N_("Whole words, the longest label first, not inside another word."),
            (CLASS,),
            write,
            reading.read_first,
            for_choices=False,
            choices=True,
        ),
        AnswerForm(
            "choice",
            N_("Choice named in the reply"),
            N_("The letter, the number or the text of one of the choices."),
            (CLASS,),
            write,
            reading.read_choice,
            for_choices=True,
            choices=True,
        ),
        AnswerForm(
            "several",
            N_("All labels named in the reply"),
            N_("Separated by anything; “none” for no label."),
            (LABELS,),
            write,
            reading.read_several,
        ),
        AnswerForm(
            "number",
            N_("First number in the reply"),
            N_("In digits, such as 3, 3.5 or −2."),
            (NUMBER,),
            write,
            reading.read_number,
        ),
        AnswerForm(
            "quotes",
            N_("Spans as quoted strings"),
            N_("A line for each label: PER: \"Ada\", \"Bob\". “none” for no span."),
            (SPANS,),
            write,
            reading.read_quotes,
            mentions=True,
        ),
        AnswerForm(
            "tags",
            N_("Tags in the text"),
            N_("The text is repeated with its spans in brackets: [PER Ada] met [PER Bob]."),
            (SPANS,),
            write_tags,
            reading.read_tags,
        ),
        AnswerForm(
            "answer",
            N_("Answer in the words of the text"),
            N_("The first place of the reply in the text; “none” for no answer in the text."),
            (ANSWER,),
            write,
            reading.read_answer,
        ),
        AnswerForm(
            "json",
            N_("JSON"),
            N_("An object with one key, “label” or “spans” for example; other text is skipped."),
            OUTPUTS,
            write_json,
            reading.read_json,
            schema=True,
            mentions=True,
        ),
        AnswerForm(
            "regex",
            N_("Regular expression"),
            N_("The first group of the pattern, or all that it matches, is the answer."),
            (CLASS, LABELS, NUMBER, ANSWER),
            write,
            reading.read_pattern,
            patterned=True,
        ),
        AnswerForm(
            "reason",
            N_("Reasons, then the answer"),
            N_("The answer follows the last marker, such as “Answer:”."),
            OUTPUTS,
            lambda target, value: f"{reading.MARKER} {write(target, value)}",
            read_reasoned,
            stop=(),
            marked=True,
            mentions=True,
        ),
    )
}  # fmt: skip


def get(id: str) -> AnswerForm:
    """Raises SpecError naming the forms."""
    if id in FORMS:
        return FORMS[id]
    raise SpecError(
        _("There is no answer form {id!r}.", id=id),
        hint=_("Choose one of: {names}.", names=", ".join(FORMS)),
    )


def fitting(output: str, *, choices: bool = False) -> tuple[AnswerForm, ...]:
    """The forms for what is asked for, the default one first."""
    return tuple(form for form in FORMS.values() if form.fits(output, choices=choices))


def unfit(
    form: AnswerForm,
    output: str,
    can: Collection[str],
    *,
    choices: bool = False,
    chat: bool = False,
    constrained: bool = False,
) -> str:
    """Why a form cannot be used for what is asked for with a model that `can`; "" if it can."""
    if not form.fits(output, choices=choices):
        return _("does not fit the layer")
    missing = form.needs(chat=chat, constrained=constrained) - {*can}
    if SCORE in missing:
        return _("the model gives no probabilities of words")
    if CHAT in missing or GENERATE in missing:
        if CHAT in missing and GENERATE in can:
            return _("the model has no chat template")
        return _("the model cannot write replies")
    if SCHEMA in missing:
        return _("the model cannot be restricted to a form")
    return ""


def reader(answer: AnswerSpec) -> Reader:
    """Reads the replies of a run. Raises SpecError for a form that reads none, or its pattern."""
    form = get(answer.form)
    if form.read is None:
        raise SpecError(_("The answer form {id!r} does not read replies.", id=form.id))
    if form.patterned and not answer.pattern:
        raise SpecError(
            _("The answer form needs a pattern."),
            hint=_("Enter a regular expression, such as (?i)label: (\\w+)."),
        )
    return Reader(answer, form.read)


def written(answer: AnswerSpec, target: Target, value: Value) -> str:
    """How the gold of an example is written."""
    form = get(answer.form)
    text = form.write(target, value)
    if form.marked and answer.marker:
        return f"{answer.marker}{text.removeprefix(reading.MARKER)}"
    return text


def stops(answer: AnswerSpec, stop: Sequence[str], *, chat: bool) -> tuple[str, ...]:
    """What ends a reply: `stop` of the prompt, or that of the form for a text to be continued."""
    return tuple(stop) or (() if chat else get(answer.form).stop)
