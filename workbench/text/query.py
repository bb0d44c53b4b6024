"""Queries as values: conditions on documents, and the keys they can have.

`text.query_parse` has the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date

from workbench.base.errors import SpecError
from workbench.base.i18n import N_

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
