"""Prompt templates: Jinja2 in a sandbox, and the position of the candidate label in the prompt.

The sandbox restricts a template to its variables. It cannot limit time or memory: native code such
as `sum` or `replace` cannot be interrupted. Templates are therefore rendered only in a worker with
limits (`prompting/serve.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from math import log10
from types import TracebackType
from typing import Any, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from workbench.base.i18n import N_
from workbench.prompting.base import Example, Labels, Prompt, Request
from workbench.runtime.chat_template import (
    MAX_PROMPT_CHARS,
    ROLES,
    USER,
    TemplateError,
    TooLong,
)
from workbench.runtime.conversation import Conversation, first_line
from workbench.text.document import choice_names

_MARK, _TURN = "_mark_label", "_begin_message"
_FILE = "<template>"  # Jinja2's name for the code of a template without a file
_MAX_OPERAND = 10_000  # operand of * and **
_NONCHARACTERS = tuple(map(chr, range(0xFDD0, 0xFDF0)))
_ANY_NONCHARACTER = re.compile("[\ufdd0-\ufdef]")
MAX_EXAMPLES = 1_000  # whose variables are kept
_FORBIDDEN_FILTERS = ("center", "indent", "wordwrap", "format", "pprint", "xmlattr")
_FORBIDDEN_METHODS = ("ljust", "rjust", "center", "zfill", "expandtabs", "format", "format_map")
CANDIDATE = frozenset(("label", "letter", "answer"))  # variables whose output is scored
_HINT = N_(
    "Templates are written in Jinja2: {{ text }}, {{ label }}, {% for example in examples %} … "
    "{% endfor %}."
)
_VARIABLES_HINT = N_(
    "Available variables: text, text_b, question, choices, meta, instruction, label, labels, "
    "letter, letters, words, descriptions, answer, examples."
)


class Template:
    """A compiled template. Raises TemplateError, with the line, if it is invalid.

    `{% system %}`, `{% user %}` and `{% assistant %}` begin the messages of a conversation; they
    write nothing into a prompt that is no conversation.
    """

    def __init__(self, source: str):
        self.source = source
        self._environment = _Environment(
            undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True
        )
        self._template = self._compile(source)
        self._examples: dict[tuple[int, int], tuple[object, dict[str, Any], str]] = {}

    def fill(
        self,
        request: Request,
        labels: Labels,
        *,
        instruction: str = "",
        chat: Conversation | None = None,
    ) -> Iterator[Prompt]:
        """The prompt with each candidate of the request, or the one that the model continues.

        The template writes a candidate as `label`, a word or the text of a choice, or as `letter`,
        A for the first candidate. If it does so more than once, the last occurrence is scored. In a
        prompt without candidates, it ends where the template writes `label` or `answer`, if it
        does, without the space before it, which models write themselves. Raises TemplateError for
        any error in the template, TooLong for a prompt of more than MAX_PROMPT_CHARS characters.
        """
        values = _values(request, labels, instruction, self._example)
        texts = (self.source, *_texts({**values, "examples": ()}), *self._texts_of(request, labels))
        self._environment.marks = _free_marks(texts)
        names, by_word = labels.of(request.choices), {} if request.choices else labels.by_word
        for name in request.labels or names[:1] or ("",):
            word, place = name, 0
            if request.choices:
                place = names.index(name)
                word = request.choices[place]
            elif name:
                place = labels.names.index(by_word[name])
            candidate = {"label": word, "letter": letter(place), "answer": word}
            raw = self._render({**values, **candidate})
            yield self._split(raw, word if request.labels else None, chat)

    def _example(self, example: Example, labels: Labels) -> dict[str, Any]:
        """Its variable; the prompts of many documents have the same examples."""
        return self._known(example, labels)[1]

    def _texts_of(self, request: Request, labels: Labels) -> Iterator[str]:
        return (self._known(example, labels)[2] for example in request.examples)

    def _known(self, example: Example, labels: Labels) -> tuple[object, dict[str, Any], str]:
        key = id(example), id(labels)
        if key not in self._examples:
            if len(self._examples) >= MAX_EXAMPLES:
                self._examples.clear()
            values = _example_values(example, labels)
            # Both are kept alive, so that no other object gets their ids.
            self._examples[key] = (example, labels), values, "".join(_texts(values))
        return self._examples[key]

    def line_of(self, trace: TracebackType | None) -> int | None:
        """The line of the template that was being rendered when an exception was raised."""
        number = None
        while trace is not None:
            line: int | None = trace.tb_lineno  # None where a limit was exceeded between two lines
            if trace.tb_frame.f_code.co_filename == _FILE and line is not None:
                number = self._template.get_corresponding_lineno(line)
            trace = trace.tb_next
        return number

    def _split(self, raw: str, label: str | None, chat: Conversation | None) -> Prompt:
        """label: the candidate, None for a prompt that ends where the answer begins."""
        opening, closing, turn = self._environment.marks
        if label is not None and opening not in raw:
            raise TemplateError(
                N_("The template never writes the label."),
                hint=N_("Put {{ label }}, or {{ letter }}, where the label is expected."),
            )
        before, found, rest = raw.rpartition(opening)
        if not found:
            before, rest = raw, ""
        answer, _closing, after = rest.partition(closing)
        before = before.replace(opening, "").replace(closing, "")
        if label is not None and not answer.strip():
            raise TemplateError(
                N_("The template renders the label {label!r} as empty text."),
                hint=N_("Check the filters after {{ label }}."),
                label=label,
            )
        first, *turns = before.split(turn)
        contents = [first, *turns[1::2]]
        if label is None:
            answer = after = ""
            contents[-1] = contents[-1].rstrip(" ") if found else contents[-1]
        after = "".join(after.replace(closing, "").split(turn)[::2])
        if chat is None:
            text = "".join(contents)
            # Tokens begin with a space: one at the end would be followed by another.
            return Prompt(text.rstrip(" ") if label is None else text, answer, after)
        messages = list(zip((USER, *turns[::2]), contents, strict=True))
        return Prompt(chat.text(messages), answer, messages=chat.messages(messages))

    def _compile(self, source: str) -> jinja2.Template:
        try:
            tree = self._environment.parse(source)
            _mark(tree)
            return jinja2.Template.from_code(
                self._environment, self._environment.compile(tree), self._environment.globals.copy()
            )
        except jinja2.TemplateSyntaxError as error:
            message = (error.message or "").rstrip(".")
            raise _fault(message, error.lineno) from error
        except (RecursionError, SyntaxError) as error:  # SyntaxError: Python's limit of 20 blocks
            raise TemplateError(
                N_("The template is nested too deeply."), hint=N_("Use fewer nested blocks.")
            ) from error
        except MemoryError:
            raise
        except Exception as error:  # a constant expression is evaluated here and can raise anything
            raise _fault(first_line(error), None) from error

    def _render(self, values: dict[str, Any]) -> str:
        parts: list[str] = []
        size = 0
        try:
            for part in self._template.generate(values):
                parts.append(part)
                size += len(part)
                if size > MAX_PROMPT_CHARS:
                    raise TooLong
        except (TooLong, MemoryError):
            raise
        except jinja2.UndefinedError as error:
            line = self.line_of(error.__traceback__)
            raise _fault(error.message or "", line, _VARIABLES_HINT) from error
        except RecursionError as error:
            raise TemplateError(
                N_("The template recurses infinitely."),
                hint=N_("Check its macros, blocks and recursive loops."),
                line=self.line_of(error.__traceback__),
            ) from error
        except TemplateError as error:
            raise error.at_line(self.line_of(error.__traceback__)) from error
        except Exception as error:  # functions called by a template can raise anything
            raise _fault(first_line(error), self.line_of(error.__traceback__)) from error
        return "".join(parts)


def _fault(message: str, line: int | None, hint: str = _HINT) -> TemplateError:
    text = N_("Line {line} of the template: {error}.")
    if line is None:
        text = N_("The template has an error: {error}.")
    return TemplateError(text, hint=hint, line=line, error=message.rstrip("."))


class _Environment(ImmutableSandboxedEnvironment):
    """Jinja2's sandbox, without operations that turn a short text into a long one."""

    intercepted_binops = frozenset(("*", "**", "%"))
    marks = ("", "", "")

    def __init__(self, **options: Any) -> None:
        super().__init__(extensions=[_Messages], **options)
        self.globals = {"range": range}
        for name in _FORBIDDEN_FILTERS:
            self.filters.pop(name, None)
        self.filters[_MARK] = lambda value: f"{self.marks[0]}{value}{self.marks[1]}"
        self.filters[_TURN] = _begin_message

    def handle_exception(self, source: str | None = None) -> NoReturn:
        """Do not rewrite the traceback: `Template.line_of` reads it."""
        raise  # noqa: PLE0704 – called from an except block

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        sizes = [
            len(side) if isinstance(side, (str, list, tuple)) else abs(side)
            for side in (left, right)
            if not isinstance(side, bool)
        ]
        if operator != "%" and any(size > _MAX_OPERAND for size in sizes):
            raise TemplateError(
                N_("Line {line} of the template: {number} is too large to multiply with."),
                hint=N_("Operands of * and ** may be up to 10,000."),
                number=_shown_number(max(sizes)),
            )
        if operator == "%" and isinstance(left, str):
            raise TemplateError(
                N_("Line {line} of the template: formatting with % is not allowed."),
                hint=N_("Join texts with ~ instead."),
            )
        return super().call_binop(context, operator, left, right)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if isinstance(obj, str) and attr in _FORBIDDEN_METHODS:
            return False
        return super().is_safe_attribute(obj, attr, value)


def _shown_number(number: int | float) -> str:
    """A number for a message, rounded down to a power of ten if it has many digits."""
    if number < 10**15:
        return f"{number:,}"
    if isinstance(number, float):
        return f"{number:.3g}"
    return f"1e{int(log10(number))}"  # Python writes at most 4,300 digits


def letter(place: int) -> str:
    """A, B … Z, AA, AB …, from the 0-based place of a candidate."""
    before, last = divmod(place, 26)
    return (letter(before - 1) if before else "") + chr(ord("A") + last)


class _Meta(dict[str, Any]):
    """Metadata of a document: what it lacks is the empty text."""

    def __missing__(self, key: str) -> str:
        return ""


def _values(
    request: Request,
    labels: Labels,
    instruction: str,
    example_values: Callable[[Example, Labels], dict[str, Any]],
) -> dict[str, Any]:
    """The variables of a template, all but the candidate."""
    choices = request.choices
    described = {choice: choice for choice in choices} or labels.described
    written = list(choices) or [labels.word(name) for name in labels.names]
    words = {word: list(labels.words_of(name)) for word, name in labels.by_word.items()}
    return {
        "text": request.text,
        "text_b": request.text_b,
        "question": request.question,
        "choices": list(choices),
        "meta": _Meta(request.meta),
        "instruction": instruction,
        "labels": written,
        "letters": list(map(letter, range(len(written)))),
        "words": {name: list(labels.words_of(name)) for name in labels.names} | words,
        "descriptions": described,
        "examples": [example_values(example, labels) for example in request.examples],
    }


def _example_values(example: Example, labels: Labels) -> dict[str, Any]:
    """An example as the variable of a template; its label as it is written."""
    names = choice_names(len(example.choices)) or labels.names
    place = names.index(example.label) if example.label in names else None
    label = example.label if place is None else labels.word(example.label)
    if example.choices and place is not None:
        label = example.choices[place]
    return {
        "text": example.text,
        "text_b": example.text_b,
        "question": example.question,
        "choices": list(example.choices),
        "meta": _Meta(example.meta),
        "label": label,
        "letter": "" if place is None else letter(place),
        "letters": list(map(letter, range(len(names)))),
        "labels": [labels.word(name) for name in example.labels],
        "spans": [
            {
                "start": start,
                "end": end,
                "text": example.text[start:end],
                "label": labels.word(name),
            }
            for start, end, name in example.spans
        ],
        "number": example.number,
        "answer": example.answer or label,
    }


def _texts(values: object) -> Iterator[str]:
    """All texts in the variables of a template."""
    if isinstance(values, str):
        yield values
    elif isinstance(values, Mapping):
        for key, value in values.items():
            yield from _texts(key)
            yield from _texts(value)
    elif isinstance(values, (list, tuple)):
        for value in values:
            yield from _texts(value)


def _mark(node: nodes.Node, names: frozenset[str] = CANDIDATE) -> None:
    """Wrap each output of the candidate in marks to locate it; loops may shadow its names."""
    if isinstance(node, nodes.Output):
        node.nodes = [_marked(expr) if _writes(expr, names) else expr for expr in node.nodes]
        return
    shadowed: frozenset[str] = frozenset()
    if isinstance(node, (nodes.For, nodes.With, nodes.Macro, nodes.CallBlock)):
        shadowed = names & _bound(node)
    for name, children in node.iter_fields():
        left = names - shadowed if name == "body" else names
        for child in children if isinstance(children, list) else [children]:
            if isinstance(child, nodes.Node):
                _mark(child, left)


def _marked(expression: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(expression, _MARK, [], [], None, None, lineno=expression.lineno)


def _writes(expression: nodes.Node, names: frozenset[str]) -> bool:
    nodes_ = [expression] if isinstance(expression, nodes.Name) else expression.find_all(nodes.Name)
    return any(name.name in names and name.ctx == "load" for name in nodes_)


def _bound(node: nodes.Node) -> set[str]:
    targets = (
        [node.target]
        if isinstance(node, nodes.For)
        else getattr(node, "targets", None) or getattr(node, "args", [])
    )
    return {
        name.name
        for target in targets
        for name in ([target] if isinstance(target, nodes.Name) else target.find_all(nodes.Name))
    }


def _free_marks(texts: Sequence[str]) -> tuple[str, str, str]:
    """Three characters (Unicode noncharacters) that none of the texts contains."""
    if not _ANY_NONCHARACTER.search("".join(texts)):
        return _NONCHARACTERS[0], _NONCHARACTERS[1], _NONCHARACTERS[2]
    unused = (mark for mark in _NONCHARACTERS if not any(mark in text for text in texts))
    free = tuple(islice(unused, 3))
    if len(free) < 3:
        raise TemplateError(
            N_("The texts contain too many Unicode noncharacters (U+FDD0 to U+FDEF)."),
            hint=N_("Remove them from the data."),
        )
    return free[0], free[1], free[2]


class _Messages(Extension):
    """The statements of ROLES."""

    tags = set(ROLES)

    def parse(self, parser: Parser) -> nodes.Output:
        token = next(parser.stream)
        role = nodes.Const(token.value, lineno=token.lineno)
        begin = nodes.Filter(role, _TURN, [], [], None, None, lineno=token.lineno)
        return nodes.Output([begin], lineno=token.lineno)


@jinja2.pass_context  # otherwise it would be evaluated when the template is compiled
def _begin_message(context: Context, role: str) -> str:
    environment = context.environment
    turn = environment.marks[2] if isinstance(environment, _Environment) else ""
    return f"{turn}{role}{turn}"
