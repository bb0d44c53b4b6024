"""Prompt templates: Jinja2 in a sandbox, and where in the finished prompt the candidate label stands."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import jinja2
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from workbench.base import paths
from workbench.base.errors import SpecError
from workbench.base.i18n import _

VARIABLES = ("text", "text_b", "label", "labels", "examples")
LONGEST = 1_000_000  # characters of a finished prompt
SECONDS = 1.0  # for one prompt
_MARK = "_mark_label"


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled document shown in the prompt; `text_b` is "" unless it is a pair."""

    text: str
    label: str
    text_b: str = ""


@dataclass(frozen=True, slots=True)
class Filled:
    """A finished prompt with one candidate: `before` + `answer` + `after` is exactly what the model gets."""

    before: str
    answer: str
    after: str

    @property
    def text(self) -> str:
        return self.before + self.answer + self.after


@dataclass(frozen=True, slots=True)
class BuiltIn:
    id: str
    title: str
    source: str


class Template:
    """A checked template. Raises SpecError, naming the line, where it cannot work."""

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
        label: str,
        labels: Sequence[str],
        examples: Sequence[Example] = (),
        text_b: str = "",
    ) -> Filled:
        """The prompt with candidate `label`. Where the template writes the label more than once, the last place is the one scored.

        Raises SpecError for unknown variables, for what the sandbox forbids, and where no label is written.
        """
        given = [
            self.source,
            text,
            text_b,
            *labels,
            *(part for one in examples for part in (one.text, one.label, one.text_b)),
        ]
        opening, closing = _free_marks(given)
        self._environment.marks = opening, closing
        shown = [{"text": one.text, "text_b": one.text_b, "label": one.label} for one in examples]
        raw = self._render(
            {
                "text": text,
                "text_b": text_b,
                "label": label,
                "labels": list(labels),
                "examples": shown,
            }
        )
        if opening not in raw:
            raise SpecError(
                _("The template never writes the label."),
                hint=_("Put {{ label }} where the answer belongs."),
            )
        before, _opening, rest = raw.rpartition(opening)
        answer, _closing, after = rest.partition(closing)
        before = before.replace(opening, "").replace(closing, "")
        if not answer.strip():
            raise SpecError(
                _("The label {label!r} comes out empty in this template.").format(label=label),
                hint=_("Look at the filters behind {{ label }}."),
            )
        return Filled(before, answer, after.replace(closing, ""))

    def _compile(self, source: str) -> jinja2.Template:
        try:
            tree = self._environment.parse(source)
            _mark(tree)
            return jinja2.Template.from_code(
                self._environment, self._environment.compile(tree), self._environment.globals.copy()
            )
        except jinja2.TemplateSyntaxError as error:
            raise SpecError(
                _("Line {line} of the template: {error}.").format(
                    line=error.lineno, error=(error.message or "").rstrip(".")
                ),
                hint=_HINT,
            ) from error
        except (jinja2.TemplateError, RecursionError, MemoryError) as error:
            raise SpecError(
                _("The template cannot be read: {error}.").format(error=error), hint=_HINT
            ) from error

    def _render(self, values: dict) -> str:
        parts: list[str] = []
        size, end = 0, time.monotonic() + SECONDS
        self._environment.end = end
        try:
            for part in self._template.generate(values):
                parts.append(part)
                size += len(part)
                if size > LONGEST or time.monotonic() > end:
                    raise SpecError(
                        _("The template makes a prompt without end."), hint=_("Look at its loops.")
                    )
        except jinja2.UndefinedError as error:
            raise SpecError(
                _("In the template, {error}.").format(error=error.message),
                hint=_("It knows {variables}.").format(variables=", ".join(VARIABLES)),
            ) from error
        except SpecError:
            raise
        except (
            jinja2.TemplateError,
            ArithmeticError,
            TypeError,
            ValueError,
            LookupError,
            RecursionError,
            MemoryError,
        ) as error:
            raise SpecError(
                _("The template cannot be filled: {error}.").format(error=error), hint=_HINT
            ) from error
        return "".join(parts)


_HINT = _(
    "Templates are written in Jinja2: {{ text }}, {{ label }}, {% for example in examples %} … {% endfor %}."
)


def built_in() -> tuple[BuiltIn, ...]:
    """The templates that ship with the application; a comment in the first line holds the title."""
    found = []
    for path in sorted(paths.resource("prompts").glob("*.jinja")):
        source = path.read_text(encoding="utf-8")
        title = source.partition("#}")[0].removeprefix("{#-").removesuffix("-").strip()
        found.append(BuiltIn(path.stem, title, source))
    return tuple(found)


class _Environment(ImmutableSandboxedEnvironment):
    """Jinja2's sandbox with bounds on numbers, so that a template cannot hold up the window."""

    intercepted_binops = frozenset(("*", "**", "%"))
    end = 0.0
    marks = ("", "")

    def __init__(self, **options):
        super().__init__(**options)
        self.globals = {"range": self._range}
        for name in (
            "center",
            "indent",
            "wordwrap",
            "format",
            "pprint",
            "xmlattr",
        ):  # these can blow up a short text
            self.filters.pop(name, None)
        self.filters[_MARK] = lambda value: f"{self.marks[0]}{value}{self.marks[1]}"

    def _range(self, *args: int) -> Iterator[int]:
        for number in range(*args):
            if time.monotonic() > self.end:
                raise SpecError(
                    _("The template makes a prompt without end."), hint=_("Look at its loops.")
                )
            yield number

    def call_binop(self, context, operator, left, right):
        sizes = [
            len(one) if isinstance(one, (str, list, tuple)) else abs(one)
            for one in (left, right)
            if not isinstance(one, bool)
        ]
        if operator != "%" and any(size > 10_000 for size in sizes):
            raise SpecError(
                _("The template reckons with too large a number ({number:,}).").format(
                    number=max(sizes)
                ),
                hint=_("Up to 10,000."),
            )
        if operator == "%" and isinstance(left, str):
            raise SpecError(_("The template formats with %."), hint=_("Join texts with ~ instead."))
        return super().call_binop(context, operator, left, right)

    def is_safe_attribute(self, obj, attr, value):
        if isinstance(obj, str) and attr in (
            "ljust",
            "rjust",
            "center",
            "zfill",
            "expandtabs",
            "format",
            "format_map",
        ):
            return False
        return super().is_safe_attribute(obj, attr, value)


def _mark(node: nodes.Node) -> None:
    """Wrap every output that writes the variable `label`, so that its place can be found again; loops may shadow the name."""
    if isinstance(node, nodes.Output):
        node.nodes = [_marked(one) if _writes_label(one) else one for one in node.nodes]
        return
    shadowed = isinstance(
        node, (nodes.For, nodes.With, nodes.Macro, nodes.CallBlock)
    ) and _binds_label(node)
    for name, children in node.iter_fields():
        if shadowed and name == "body":
            continue
        for child in children if isinstance(children, list) else [children]:
            if isinstance(child, nodes.Node):
                _mark(child)


def _marked(expression: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(expression, _MARK, [], [], None, None, lineno=expression.lineno)


def _writes_label(expression: nodes.Node) -> bool:
    names = [expression] if isinstance(expression, nodes.Name) else expression.find_all(nodes.Name)
    return any(one.name == "label" and one.ctx == "load" for one in names)


def _binds_label(node: nodes.Node) -> bool:
    targets = (
        [node.target]
        if isinstance(node, nodes.For)
        else getattr(node, "targets", None) or getattr(node, "args", [])
    )
    names = [
        name
        for one in targets
        for name in ([one] if isinstance(one, nodes.Name) else one.find_all(nodes.Name))
    ]
    return any(name.name == "label" for name in names)


def _free_marks(texts: Sequence[str]) -> tuple[str, str]:
    """Two characters (Unicode noncharacters) that stand in none of the texts."""
    used = set().union(*texts)
    free = [mark for mark in map(chr, range(0xFDD0, 0xFDF0)) if mark not in used]
    if len(free) < 2:
        raise SpecError(
            _("The texts hold too many Unicode noncharacters (U+FDD0 to U+FDEF)."),
            hint=_("Take them out of the data."),
        )
    return free[0], free[1]
