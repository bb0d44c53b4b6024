r"""Queries: conditions on documents as values, and the language of the search bar, of saved filters
and of `--where`.

    query      = condition (condition | "OR" condition)*
    condition  = ["-"] (key ["." name] operator value | words | "(" query ")")
    operator   = ":" | "=" | "<" | "<=" | ">" | ">="
    value      = part ("," part)*
    part       = characters without space and comma, or "quoted text"

All conditions must hold; of conditions joined by OR, at least one: `a OR b c` is `(a OR b) c`.
`-` negates a condition. Several values after a key, `label:PER,LOC`, are alternatives. In quotes,
`\"` is a quotation mark and `\\` a backslash. `*` in a value stands for any characters, and a
range of numbers is `100..200`. Bare words are searched in the texts, in any order, the last one of
the query also as the beginning of a word; "quoted words" must follow one another. `KEYS` lists the
keys. What looks like no condition, such as `10:30`, is a word.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date

from workbench.base.errors import SpecError, not_unicode
from workbench.base.i18n import N_, _

NAME, TEXT, NUMBER, DATE, CHOICE, ANY = "name", "text", "number", "date", "choice", "any"
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?$", re.ASCII)
STATES = ("pending", "draft", "submitted", "discarded", "open", "done")
SPLITS = ("train", "dev", "test", "none")
HAS = ("label", "span", "suggestion", "note", "flag", "split")


@dataclass(frozen=True)
class Key:
    """A key of conditions. `kind`: what its values are. `title`: what it asks, for display.
    `example`: conditions with it.

    `dotted`: "" or what may follow the key after a dot; `required`: it must. `choices`: the values
    of a CHOICE.
    """

    kind: str
    title: str
    example: str
    dotted: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()


KEYS: Mapping[str, Key] = {
    "label": Key(NAME, N_("has this label or a sublabel of it"), "label:PER", "layer"),
    "state": Key(CHOICE, N_("state of the labelling"), "state:pending", "layer", choices=STATES),
    "split": Key(CHOICE, N_("train, dev, test or none"), "split:dev", choices=SPLITS),
    "source": Key(NAME, N_("a label or suggestion comes from it"), "source:run-7"),
    "score": Key(NUMBER, N_("score of an open suggestion"), "score<0.6, score:0.4..0.6"),
    "number": Key(NUMBER, N_("number of the document"), "number>3, number.rating:2..4", "layer"),
    "written": Key(TEXT, N_("a written text contains this"), "written:late"),
    "meta": Key(
        ANY,
        N_("value of a metadata field"),
        "meta.source:email, meta.year>=2020",
        "field",
        required=True,
    ),
    "flag": Key(NAME, N_("has this flag"), "flag:unsure"),
    "note": Key(TEXT, N_("a note contains this"), 'note:"ask Ada"'),
    "assigned": Key(NAME, N_("is assigned to this person"), 'assigned:"Ada Lovelace"'),
    "file": Key(NAME, N_("imported from this file"), "file:news.csv"),
    "length": Key(NUMBER, N_("characters of the text"), "length>200, length:100..200"),
    "spans": Key(NUMBER, N_("number of spans"), "spans>3"),
    "suggestions": Key(NUMBER, N_("number of open suggestions"), "suggestions>0"),
    "layer": Key(NAME, N_("has a label in this layer"), "layer:entities"),
    "key": Key(TEXT, N_("the key contains this"), "key:m-03"),
    "date": Key(
        DATE, N_("day of the last change of its state"), "date>=2026-01-31, date:2026-01..2026-03"
    ),
    "has": Key(CHOICE, N_("has a label, note, flag, …"), "has:note", choices=HAS),
    "filter": Key(NAME, N_("matches this saved filter"), 'filter:"my filter"'),
}
ORDERED = (NUMBER, DATE, ANY)  # kinds of values that can be compared by < and >
COMPARISONS = ("<=", ">=", "<", ">")


class QueryError(SpecError):
    """A query cannot be read. `at`, `end`: the wrong part of it, in code points."""

    def __init__(self, message: str, at: int, end: int, *, hint: str = ""):
        super().__init__(message, hint=hint)
        self.at, self.end = at, end


@dataclass(frozen=True)
class Words:
    """Words of a text. `exact`: they follow one another. The last word may be a beginning unless
    `text` ends with a space.
    """

    text: str
    exact: bool
    at: int = field(compare=False)
    end: int = field(compare=False)


@dataclass(frozen=True)
class Term:
    """`key.name operator value,value`. `pattern`: whether each value has `*` as any characters."""

    key: str
    name: str
    operator: str  # "=" or one of COMPARISONS
    values: tuple[str, ...]
    patterns: tuple[bool, ...]
    at: int = field(compare=False)
    end: int = field(compare=False)


@dataclass(frozen=True)
class Not:
    node: Node
    at: int = field(compare=False)
    end: int = field(compare=False)


@dataclass(frozen=True)
class Or:
    nodes: tuple[Node, ...]
    at: int = field(compare=False)
    end: int = field(compare=False)


@dataclass(frozen=True)
class And:
    nodes: tuple[Node, ...]
    at: int = field(compare=False)
    end: int = field(compare=False)


Node = Words | Term | Not | Or | And


@dataclass(frozen=True)
class Query:
    """A parsed query. `nodes`: its conditions, all of which must hold; none: every document."""

    nodes: tuple[Node, ...] = ()
    text: str = field(default="", compare=False)

    @property
    def words(self) -> str:
        """The words that are searched in the texts, for marking matches."""
        return " ".join(node.text.strip() for node in self.nodes if isinstance(node, Words))

    def value(self, key: str) -> Term | None:
        """The only condition with this key that holds on its own, with one value; else None."""
        terms = [node for node in self.nodes if isinstance(node, Term) and node.key == key]
        plain = len(terms) == 1 and len(terms[0].values) == 1 and terms[0].operator == "="
        return terms[0] if plain else None

    def parts(self) -> tuple[str, ...]:
        """The text of each condition, as it can be removed by `without`."""
        return tuple(self.text[node.at : node.end] for node in self.nodes)

    def parted(self) -> tuple[str, Query]:
        """The bare words, if they are one condition, and the query of everything else.

        Searching for words alone has shortcuts (`storage.queries.listing`).
        """
        bare = [node for node in self.nodes if isinstance(node, Words) and not node.exact]
        if len(bare) != 1:
            return "", self
        return bare[0].text, Query(tuple(node for node in self.nodes if node is not bare[0]))

    def terms(self) -> Iterator[Term]:
        """Every condition with a key, also those in parentheses."""

        def within(node: Node) -> Iterator[Term]:
            if isinstance(node, Term):
                yield node
            elif isinstance(node, Not):
                yield from within(node.node)
            elif isinstance(node, (Or, And)):
                for part in node.nodes:
                    yield from within(part)

        for node in self.nodes:
            yield from within(node)


def days(value: str) -> tuple[str, str]:
    """The limits of a year, month or day, or of a range `first..last`, both included.

    Raises ValueError for days that do not exist.
    """
    first, dots, last = value.partition("..")
    limits = first, last if dots else first
    for limit in limits:
        if not _DATE.match(limit):
            raise ValueError(value)
        date.fromisoformat(f"{limit}-01-01"[: len("2026-01-31")])
    return limits


def interval(value: str) -> tuple[float, float]:
    """The limits of a number or of a range `low..high`, both included. Raises ValueError."""
    low, dots, high = value.partition("..")
    limits = float(low), float(high if dots else low)
    if not all(-1e300 < limit < 1e300 for limit in limits):
        raise ValueError(value)
    return limits


MAX_QUERY_CHARS = 20_000  # code points of a query
MAX_CONDITIONS = 200  # SQLite allows a depth of 1,000 in an expression
DEEPEST = 20  # parentheses and negations in one another
CONDITION = re.compile(r"([A-Za-z]+)(?:\.(\"(?:[^\"\\]|\\.)*\"|[^\s:<>=()\",]+))?(<=|>=|[:=<>])")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


def parse(text: str) -> Query:
    """Read a query. Raises QueryError with the wrong part and a hint."""
    if len(text) > MAX_QUERY_CHARS:
        message = _("A query has at most {most:,} characters, not {n:,}.")
        raise QueryError(
            message.format(most=MAX_QUERY_CHARS, n=len(text)), MAX_QUERY_CHARS, len(text)
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = not_unicode(_("The query"), error) + "."
        raise QueryError(message, error.start, error.end) from None
    return Query(tuple(_Parser(text).conditions(0)), text)


class _Parser:
    def __init__(self, text: str):
        self.text = text
        self.at = 0
        self._count = self._nested = 0

    def conditions(self, depth: int) -> list[Node]:
        """Conditions up to the end or, inside parentheses, to the closing one."""
        nodes: list[Node] = []
        while True:
            self._skip()
            if self.at >= len(self.text):
                if depth:
                    raise QueryError(
                        _("A closing parenthesis is missing."),
                        self.at,
                        self.at,
                        hint=_('To search for a parenthesis, put it in quotes: "(".'),
                    )
                return _joined(nodes, self.text)
            if depth and self.text[self.at] == ")":
                self.at += 1
                return _joined(nodes, self.text)
            if self._word("OR"):
                nodes[-1:] = [self._either(nodes, depth)]
            else:
                nodes.append(self._condition(depth))

    def _either(self, nodes_before: list[Node], depth: int) -> Node:
        at = self.at - 2
        self._skip()
        ends = self.at >= len(self.text) or (depth and self.text[self.at] == ")")
        if not nodes_before or ends:
            hint = _('Write OR between two conditions; to search for the word, write "OR".')
            raise QueryError(_("A condition is missing beside OR."), at, at + 2, hint=hint)
        before, other = nodes_before[-1], self._condition(depth)
        nodes = (*before.nodes, other) if isinstance(before, Or) else (before, other)
        return Or(nodes, before.at, other.end)

    def _condition(self, depth: int) -> Node:
        start, text = self.at, self.text
        self._limit()
        if text[start] == "-" and start + 1 < len(text) and not text[start + 1].isspace():
            self.at += 1
            self._nested += 1
            node = self._condition(depth)
            self._nested -= 1
            return Not(node, start, node.end)
        if text[start] == "(":
            return self._group(depth)
        if text[start] == '"':
            words = self._quoted(depth)
            return Words(words, True, start, self.at)
        match = CONDITION.match(text, start)
        known = match and match[1].lower() in KEYS
        if match and (known or (match[3] == ":" and not text.startswith("//", match.end()))):
            return self._term(match, depth)
        while self.at < len(text) and not text[self.at].isspace():
            if text[self.at] == ")" and depth and self.at > start:
                break
            self.at += 1
        return Words(text[start : self.at] + self._space(), False, start, self.at)

    def _group(self, depth: int) -> Node:
        start = self.at
        self.at += 1
        self._nested += 1
        nodes = tuple(self.conditions(depth + 1))
        self._nested -= 1
        if not nodes:
            hint = _('To search for a parenthesis, put it in quotes: "(".')
            raise QueryError(_("The parentheses are empty."), start, self.at, hint=hint)
        return And(nodes, start, self.at)

    def _space(self) -> str:
        """ " " if the word that ends here is complete: only the last one may be a beginning."""
        return "" if self.at >= len(self.text) else " "

    def _limit(self) -> None:
        self._count += 1
        if self._count > MAX_CONDITIONS:
            message = _("A query has at most {most} conditions.", most=MAX_CONDITIONS)
            raise QueryError(message, self.at, len(self.text))
        if self._nested > DEEPEST:
            message = _("Parentheses and negations are nested more than {n} deep.")
            raise QueryError(message.format(n=DEEPEST), self.at, len(self.text))

    def _term(self, match: re.Match[str], depth: int) -> Term:
        start, key, operator = match.start(), match[1].lower(), match[3]
        name = unquoted(match[2] or "")
        if key not in KEYS:
            raise _unknown(match)
        _check_name(KEYS[key], key, name, match)
        self.at = match.end()
        values, patterns = self._values(depth)
        if not values or "" in values:
            message = _("A value is missing after {key}.")
            hint = _example(key)
            raise QueryError(message.format(key=match[0]), start, self.at, hint=hint)
        operator = "=" if operator == ":" else operator
        term = Term(key, name, operator, tuple(values), tuple(patterns), start, self.at)
        _check(term, KEYS[key])
        return term

    def _values(self, depth: int) -> tuple[list[str], list[bool]]:
        values, patterns = [], []
        while True:
            if self.at < len(self.text) and self.text[self.at] == '"':
                values.append(self._quoted(depth))
                patterns.append(False)
            else:
                start = self.at
                while self.at < len(self.text) and not self._ends_value(depth):
                    self.at += 1
                values.append(self.text[start : self.at])
                patterns.append("*" in values[-1])
            if self.at < len(self.text) and self.text[self.at] == ",":
                self.at += 1
            else:
                return values, patterns

    def _ends_value(self, depth: int) -> bool:
        char = self.text[self.at]
        return char.isspace() or char == "," or (char == ")" and depth > 0)

    def _quoted(self, depth: int) -> str:
        match = _QUOTED.match(self.text, self.at)
        if match is None:
            message = _("A closing quotation mark is missing.")
            raise QueryError(message, self.at, len(self.text), hint=_('Add " at the end.'))
        self.at = match.end()
        after = self.text[self.at : self.at + 1]
        if after and not (after.isspace() or after == "," or (after == ")" and depth)):
            hint = _("Put a space after the quotation mark.")
            message = _("{text} follows a quotation mark.", text=after)
            raise QueryError(message, self.at, self.at + 1, hint=hint)
        return _unescaped(match[1])

    def _skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def _word(self, word: str) -> bool:
        end = self.at + len(word)
        apart = end >= len(self.text) or self.text[end].isspace()
        if not self.text.startswith(word, self.at) or not apart:
            return False
        self.at = end
        return True


def _joined(nodes: list[Node], text: str) -> list[Node]:
    """Bare words that follow one another as one node, with the space typed after the last."""
    joined: list[Node] = []
    for node in nodes:
        if not isinstance(node, Words) or node.exact:
            joined.append(node)
            continue
        last = joined[-1] if joined else None
        start = last.at if isinstance(last, Words) and not last.exact else node.at
        if start != node.at:
            joined.pop()
        after = node.text[node.end - node.at :]
        joined.append(Words(text[start : node.end] + after, False, start, node.end))
    return joined


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def unquoted(name: str) -> str:
    return _unescaped(name[1:-1]) if name.startswith('"') else name


def _unknown(match: re.Match[str]) -> QueryError:
    key = match[1]
    near = difflib.get_close_matches(key.lower(), KEYS, 1)
    hint = (
        _("Did you mean {key}:?", key=near[0])
        if near
        else _('To search for the words, put them in quotes: "{text}…".', text=match[0])
    )
    message = _("There is no key {key}.", key=key)
    return QueryError(message, match.start(), match.end(), hint=hint)


def _check_name(key: Key, written: str, name: str, match: re.Match[str]) -> None:
    if key.required and not name:
        hint = _("Write the name of the field after a dot, for example meta.source:email.")
        message = _("{key} needs the name of a metadata field.", key=written)
        raise QueryError(message, match.start(), match.end(), hint=hint)
    if name and not key.dotted:
        message = _("{key} has no parts, so nothing can follow it after a dot.", key=written)
        raise QueryError(message, match.start(), match.end(), hint=_example(written))


def _check(term: Term, key: Key) -> None:
    """Raises QueryError for an operator or a value that the key does not have."""

    def refuse(message: str) -> QueryError:
        return QueryError(message, term.at, term.end, hint=_example(term.key))

    if term.operator in COMPARISONS and key.kind not in ORDERED:
        template = _("{key} cannot be compared by {operator}.")
        raise refuse(template.format(key=term.key, operator=term.operator))
    checks: Mapping[str, tuple[Callable[[str], object], str]] = {
        NUMBER: (_limits(interval, term.operator), _("{key} needs a number, not {value!r}.")),
        DATE: (
            _limits(days, term.operator),
            _("{key} needs a date such as 2026-01-31, not {value!r}."),
        ),
        CHOICE: (key.choices.__contains__, _("{key} cannot be {value!r}.")),
    }
    valid, template = checks.get(key.kind, (bool, ""))
    for value in term.values:
        if not valid(value):
            raise refuse(template.format(key=term.key, value=value))


def _limits(read: Callable[[str], object], operator: str) -> Callable[[str], bool]:
    """Whether `read` finds the limits of a value; a range cannot be compared."""

    def valid(value: str) -> bool:
        try:
            read(value)
        except ValueError:
            return False
        return operator == "=" or ".." not in value

    return valid


def _example(key: str) -> str:
    """What to write instead, as a hint."""
    if KEYS[key].choices:
        known = ", ".join(KEYS[key].choices)
        return _("Known: {known}.", known=known)
    return _("For example: {example}.", example=KEYS[key].example)
