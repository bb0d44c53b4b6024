"""What a model can be asked about one text, and what comes back. No torch here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields

from workbench.text.spans import Span

TARGET = "workbench.inspection.serve:open"
UNKNOWN_LIMIT = 0.1  # share of unknown words above which answers are not to be trusted


@dataclass(frozen=True)
class TokenOptions:
    """`top`: how many labels or words are given for each subword. `start`: the first position asked about, for long texts."""

    top: int = 5
    start: int = 0


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One subword. Borders are code points of the text named `field`; a special subword has (0, 0) and no word.

    `best` are the surest labels (of a tagger) or words (of a language model) with probabilities, surest first.
    `own` is the probability that a language model gives to what stands there; None where it was not asked.
    """

    piece: str
    shown: str
    id: int
    start: int
    end: int
    field: str
    word: int | None
    special: bool = False
    unknown: bool = False
    best: tuple[tuple[str, float], ...] = ()
    own: float | None = None


@dataclass(frozen=True, slots=True)
class WordRow:
    start: int
    end: int
    field: str
    text: str


@dataclass(frozen=True)
class Answer:
    """What the model says of one text (or pair).

    `kind`: classify, pairs, tag, masked, causal, or none for a model without a head that can be asked.
    `classes` in the order of the model's labels. `answered` positions of `tokens` have answers, from `first` on.
    `cut`: the text was longer than the model takes. `unknown`: share of words that the tokenizer does not know.
    """

    kind: str
    family: str
    tokens: tuple[TokenRow, ...] = ()
    words: tuple[WordRow, ...] = ()
    classes: tuple[tuple[str, float], ...] = ()
    spans: tuple[Span, ...] = ()
    first: int = 0
    answered: int = 0
    cut: bool = False
    unknown: float = 0.0
    milliseconds: float = 0.0
    labels: tuple[str, ...] = field(default=())

    @property
    def subwords(self) -> int:
        return sum(not one.special for one in self.tokens)

    def to_json(self) -> dict:
        raw = {one.name: getattr(self, one.name) for one in fields(self)}
        raw["tokens"] = [asdict(one) for one in self.tokens]
        raw["words"] = [asdict(one) for one in self.words]
        raw["spans"] = [
            {
                "start": one.start,
                "end": one.end,
                "label": one.label,
                "field": one.field,
                "score": one.score,
            }
            for one in self.spans
        ]
        return raw

    @classmethod
    def from_json(cls, raw: Mapping) -> Answer:
        known = {one.name for one in fields(cls)}
        values = {name: value for name, value in raw.items() if name in known}
        values["tokens"] = tuple(
            TokenRow(**{**one, "best": _pairs(one["best"])}) for one in raw["tokens"]
        )
        values["words"] = tuple(WordRow(**one) for one in raw["words"])
        values["spans"] = tuple(
            Span(one["start"], one["end"], one["label"], one["field"], one["score"])
            for one in raw["spans"]
        )
        values["classes"], values["labels"] = _pairs(raw["classes"]), tuple(raw.get("labels", ()))
        return cls(**values)


def _pairs(given: Sequence[Sequence]) -> tuple[tuple[str, float], ...]:
    return tuple((str(name), float(value)) for name, value in given)
