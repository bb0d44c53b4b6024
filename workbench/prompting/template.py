"""Prompt templates: Jinja2 in a sandbox, and the position of the candidate label in the prompt.

The sandbox restricts a template to its variables. It cannot limit time or memory: native code such
as `sum` or `replace` cannot be interrupted. Templates are therefore rendered only in a worker with
limits (`prompting/serve.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from math import log10
from types import TracebackType
from typing import Any, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from workbench.base.i18n import N_
from workbench.prompting.base import MAX_PROMPT_CHARS, Example, Labels, Prompt, TemplateError

_MARK = "_mark_label"
_FILE = "<template>"  # Jinja2's name for the code of a template without a file
_MAX_OPERAND = 10_000  # operand of * and **
_NONCHARACTERS = tuple(map(chr, range(0xFDD0, 0xFDF0)))
_FORBIDDEN_FILTERS = ("center", "indent", "wordwrap", "format", "pprint", "xmlattr")
_FORBIDDEN_METHODS = ("ljust", "rjust", "center", "zfill", "expandtabs", "format", "format_map")
CANDIDATE = frozenset(("label", "letter"))  # variables whose output is scored
_HINT = N_(
    "Templates are written in Jinja2: {{ text }}, {{ label }}, {% for example in examples %} … "
    "{% endfor %}."
)
_VARIABLES_HINT = N_(
    "Available variables: text, text_b, question, choices, label, labels, letter, letters, "
    "descriptions, examples."
)


class TooLong(Exception):
    """A prompt has more than MAX_PROMPT_CHARS characters."""


class Template:
    """A compiled template. Raises TemplateError, with the line, if it is invalid."""

    def __init__(self, source: str):
        self.source = source
        self._environment = _Environment(
            undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True
        )
        self._template = self._compile(source)

    def fill(
        self,
        *,
        text: str,
        labels: Labels,
        candidates: Sequence[str] | None = None,
        examples: Sequence[Example] = (),
        text_b: str = "",
        question: str = "",
        choices: Sequence[str] = (),
    ) -> Iterator[Prompt]:
        """The prompt with each candidate (by default all labels, or all numbers of choices).

        The template writes a candidate as `label`, the text of a choice, or as `letter`, A for the
        first candidate. If it does so more than once, the last occurrence is scored.
        Raises TemplateError for any error in the template, TooLong for a prompt of more than
        MAX_PROMPT_CHARS characters.
        """
        names, written = labels.of(choices), list(choices or labels.names)
        described = {choice: choice for choice in choices} or labels.described
        example_values = [_example_values(example, labels) for example in examples]
        self._environment.marks = _free_marks(
            (
                self.source,
                text,
                text_b,
                question,
                *described,
                *described.values(),
                *_texts(example_values),
            )
        )
        values = {
            "text": text,
            "text_b": text_b,
            "question": question,
            "choices": list(choices),
            "labels": written,
            "letters": list(map(letter, range(len(names)))),
            "descriptions": described,
            "examples": example_values,
        }
        for name in names if candidates is None else candidates:
            place = names.index(name)
            candidate = {"label": written[place], "letter": letter(place)}
            yield self._split(self._render({**values, **candidate}), written[place])

    def line_of(self, trace: TracebackType | None) -> int | None:
        """The line of the template that was being rendered when an exception was raised."""
        number = None
        while trace is not None:
            line: int | None = trace.tb_lineno  # None where a limit was exceeded between two lines
            if trace.tb_frame.f_code.co_filename == _FILE and line is not None:
                number = self._template.get_corresponding_lineno(line)
            trace = trace.tb_next
        return number

    def _split(self, raw: str, label: str) -> Prompt:
        opening, closing = self._environment.marks
        if opening not in raw:
            raise TemplateError(
                N_("The template never writes the label."),
                hint=N_("Put {{ label }}, or {{ letter }}, where the label is expected."),
            )
        before, _opening, rest = raw.rpartition(opening)
        answer, _closing, after = rest.partition(closing)
        before = before.replace(opening, "").replace(closing, "")
        if not answer.strip():
            raise TemplateError(
                N_("The template renders the label {label!r} as empty text."),
                hint=N_("Check the filters after {{ label }}."),
                label=label,
            )
        return Prompt(before, answer, after.replace(closing, ""))

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
            raise _fault(_first_line(error), None) from error

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
            raise _fault(_first_line(error), self.line_of(error.__traceback__)) from error
        return "".join(parts)


def _fault(message: str, line: int | None, hint: str = _HINT) -> TemplateError:
    text = N_("Line {line} of the template: {error}.")
    if line is None:
        text = N_("The template has an error: {error}.")
    return TemplateError(text, hint=hint, line=line, error=message.rstrip("."))


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


class _Environment(ImmutableSandboxedEnvironment):
    """Jinja2's sandbox, without operations that turn a short text into a long one."""

    intercepted_binops = frozenset(("*", "**", "%"))
    marks = ("", "")

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.globals = {"range": range}
        for name in _FORBIDDEN_FILTERS:
            self.filters.pop(name, None)
        self.filters[_MARK] = lambda value: f"{self.marks[0]}{value}{self.marks[1]}"

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


def _example_values(example: Example, labels: Labels) -> dict[str, Any]:
    """An example as the variable of a template; its label as it is written."""
    names = labels.of(example.choices)
    place = names.index(example.label) if example.label in names else None
    chosen = example.choices and place is not None
    return {
        "text": example.text,
        "text_b": example.text_b,
        "question": example.question,
        "choices": list(example.choices),
        "label": example.choices[place or 0] if chosen else example.label,
        "letter": "" if place is None else letter(place),
        "letters": list(map(letter, range(len(names)))),
    }


def _texts(examples: Sequence[dict[str, Any]]) -> Iterator[str]:
    for value in (value for example in examples for value in example.values()):
        yield from [value] if isinstance(value, str) else value


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


def _free_marks(texts: Sequence[str]) -> tuple[str, str]:
    """Two characters (Unicode noncharacters) that none of the texts contains."""
    unused = (mark for mark in _NONCHARACTERS if not any(mark in text for text in texts))
    free = tuple(islice(unused, 2))
    if len(free) < 2:
        raise TemplateError(
            N_("The texts contain too many Unicode noncharacters (U+FDD0 to U+FDEF)."),
            hint=N_("Remove them from the data."),
        )
    return free[0], free[1]
