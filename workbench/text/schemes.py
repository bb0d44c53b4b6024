"""Tag schemes (IO, IOB1, IOB2, IOBES, BILOU, BMES) ↔ spans of tokens.

A scheme is named by a string. A mark after the name says how the tags are written: "IOB2 suffix"
for PER-B instead of B-PER, "POS gaps" where "-" is a token without a tag. Prefixes may be in lower
case, and may stand without a label.

Sources: Ramshaw and Marcus 1995; Tjong Kim Sang and Veenstra 1999 (IOB1, IOB2); Ratinov and
Roth 2009 (BILOU). Suffixes and prefixes without a label: seqeval. "-" for a missing tag: spaCy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

_BEGIN, _INSIDE, _END, _SINGLE = "B", "IM", "EL", "SUW"  # M of BMES, W of BMEWO
_PREFIXES = frozenset(_BEGIN + _INSIDE + _END + _SINGLE)
OUTSIDE = ("O", "", "_")
MISSING = ("-", "_")  # not annotated: neither a label nor outside
MISWRITTEN = ("o", "0")  # for O
EVERY = "POS"  # a tag without a prefix for every token
UNTYPED = "entity"  # the label of spans whose tags have a prefix only
_SUFFIX, _GAPS = " suffix", " gaps"
_MIN_OUTSIDE_SHARE = 0.2  # share of "-" among plain labels from which it stands for O


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """Tokens [first, last) of a sentence."""

    first: int
    last: int
    label: str


def split_tag(tag: str) -> tuple[str, str] | None:
    """("B", "PER") of B-PER or B_PER; None for a tag without a prefix."""
    if len(tag) > 2 and tag[1] in "-_" and tag[0] in _PREFIXES:
        return tag[0], tag[2:]
    return None


@lru_cache(maxsize=1 << 14)
def read_tag(tag: str, scheme: str) -> tuple[str, str | None]:
    """("B", "PER"); ("O", None) for a tag that is no label. The label of a prefix alone is "".

    For a scheme without prefixes, the prefix is I.
    """
    if is_every(scheme):
        return ("O", None) if tag in _not_labels(scheme) else ("I", tag)
    if tag in OUTSIDE or tag in MISSING or tag in MISWRITTEN:
        return "O", None
    if scheme == "IO":
        return "I", tag
    return _parts(tag, suffix=scheme.endswith(_SUFFIX)) or ("I", tag)


def is_every(scheme: str) -> bool:
    """Whether a scheme has a tag without a prefix for every token."""
    return scheme.startswith(EVERY)


def _not_labels(scheme: str) -> tuple[str, ...]:
    return (*OUTSIDE, *MISSING) if scheme.endswith(_GAPS) else OUTSIDE


def _parts(tag: str, *, suffix: bool) -> tuple[str, str] | None:
    """The prefix, in upper case, and the label of a tag; "" for a prefix alone."""
    if len(tag) < 2:
        return (tag.upper(), "") if tag.upper() in _PREFIXES else None
    if suffix:
        tag = f"{tag[-1]}{tag[-2]}{tag[:-2]}"
    return split_tag(tag[0].upper() + tag[1:])


def detect(sentences: Iterable[Sequence[str]]) -> str:
    """The scheme of a tag column, see `Detector.scheme`."""
    detector = Detector()
    for tags in sentences:
        detector.feed(tags)
    return detector.scheme


def are_tags(tags: Collection[str]) -> bool:
    """Whether values are tags for certain: nearly all of those that are not missing are O or have
    a prefix.
    """
    scheme = detect([tuple(tags)])
    if scheme == "IO" or is_every(scheme):
        return False
    counts = Counter(tag for tag in tags if tag not in MISSING)
    suffix = scheme.endswith(_SUFFIX)
    marked = sum(n for tag, n in counts.items() if tag == "O" or _parts(tag, suffix=suffix))
    loose = sum(counts[tag] for tag in MISWRITTEN)
    return marked > 0 and marked + loose > 0.9 * counts.total()


class Detector:
    """Detects the scheme of one column from its sentences, which are added one by one."""

    def __init__(self) -> None:
        # (tag before, tag) → how often; the first tag of a sentence follows ""
        self._pairs: Counter[tuple[str, str]] = Counter()

    def feed(self, tags: Iterable[str]) -> None:
        """Add the tags of one sentence."""
        row = tuple(tags)
        self._pairs.update(zip(("", *row), row, strict=False))

    @property
    def scheme(self) -> str:
        """IOB1, IOB2, IOBES, BILOU, BMES, IO or EVERY, with a mark where needed.

        IO: plain labels and O; adjacent tokens with the same label form one span. EVERY: no O at
        all, each token has a tag of its own. A column without evidence is IOB2.
        """
        counts = self.counts()
        labels = {tag for tag in counts if tag not in (*OUTSIDE, *MISSING, *MISWRITTEN)}
        if not labels:
            numbered = "0" in counts and "O" not in counts
            return EVERY if numbered or "o" in counts and "O" not in counts else "IOB2"
        how = _written(labels, counts)
        return _without_prefixes(labels, counts) if how is None else self._prefixed(how)

    def counts(self) -> Counter[str]:
        """How often there is each tag."""
        counts: Counter[str] = Counter()
        for (_before, tag), n in self._pairs.items():
            counts[tag] += n
        return counts

    def _prefixed(self, mark: str) -> str:
        """The scheme of tags with prefixes that are written as `mark` says."""
        prefixes, loose, needless = set(), False, False
        for pair in self._pairs:
            (before, its), (prefix, label) = (read_tag(tag, f"IOB2{mark}") for tag in pair)
            if label is None or (prefix == "I" and _parts(pair[1], suffix=bool(mark)) is None):
                continue
            prefixes.add(prefix)
            follows = before != "O" and ("" in (its, label) or its == label)
            loose |= prefix == "I" and not follows
            needless |= prefix == "B" and not follows
        if "U" in prefixes or ("L" in prefixes and "E" not in prefixes):
            return f"BILOU{mark}"
        if "M" in prefixes or "W" in prefixes:
            return f"BMES{mark}"
        if "E" in prefixes or "S" in prefixes:
            return f"IOBES{mark}"
        return f"IOB1{mark}" if loose and not needless else f"IOB2{mark}"


def _written(labels: Collection[str], counts: Mapping[str, int]) -> str | None:
    """The mark of a scheme by its tags that are not O; None for tags without prefixes."""
    alone = {tag.upper() for tag in labels if len(tag) == 1}
    typed = [tag for tag in labels if len(tag) > 1]
    outside = "O" in counts or "o" in counts
    if not typed:
        begun = "B" in alone and (outside or len(alone) > 1) or "I" in alone and outside
        return "" if alone <= _PREFIXES and begun else None
    before = [split[0] for tag in typed if (split := split_tag(tag))]
    if len(before) == len(typed):
        return ""
    for suffix in (True, False):
        read = [_parts(tag, suffix=suffix) for tag in typed]
        if not outside and any((tag[-1] if suffix else tag[0]).islower() for tag in typed):
            continue  # other words than tags may be written so
        if all(read) and {parts[0] for parts in read if parts} & {"B", "I"}:
            return _SUFFIX if suffix else ""
    return "" if {*before} & {"B", "I"} else None


def _without_prefixes(labels: Collection[str], counts: Mapping[str, int]) -> str:
    if "O" in counts or "o" in counts or "" in counts:
        return "IO"
    if "0" in counts and not all(tag.isdigit() for tag in labels):
        return "IO"
    if "-" not in counts or any(not any(map(str.isalnum, tag)) for tag in labels):
        return EVERY  # "-" is the tag of a hyphen where other punctuation marks have theirs
    rare = counts["-"] < _MIN_OUTSIDE_SHARE * sum(counts.values())
    return f"{EVERY}{_GAPS}" if rare else "IO"


def spans(tags: Sequence[str], scheme: str = "IOB2") -> tuple[TokenSpan, ...]:
    """Spans of one sentence.

    Tags that violate the scheme are read as by conlleval: I- after another label begins a span.
    A prefix without a label continues the span before it, or is `UNTYPED`.
    """
    if is_every(scheme):
        none = _not_labels(scheme)
        return tuple(TokenSpan(n, n + 1, tag) for n, tag in enumerate(tags) if tag not in none)
    token_spans: list[TokenSpan] = []
    first, label = 0, None
    for n, tag in enumerate(tags):
        prefix, name = read_tag(tag, scheme)
        begins = prefix in _BEGIN or prefix in _SINGLE
        if name == "":
            name = UNTYPED if begins or label is None else label
        if label is not None and (name != label or begins):
            token_spans.append(TokenSpan(first, n, label))
            label = None
        if name is None:
            continue
        if label is None:
            first, label = n, name
        if prefix in _END or prefix in _SINGLE:
            token_spans.append(TokenSpan(first, n + 1, label))
            label = None
    if label is not None:
        token_spans.append(TokenSpan(first, len(tags), label))
    return tuple(token_spans)


def tags(token_spans: Iterable[TokenSpan], length: int, scheme: str = "IOB2") -> list[str]:
    """The tags of `length` tokens. If spans share a token, the first one gets it.

    Writes IOB2, IOBES and EVERY; in the last, "_" is a token without a tag.
    """
    if is_every(scheme):
        names = {span.first: span.label for span in reversed([*token_spans])}
        return [names.get(n, "_") for n in range(length)]
    row = ["O"] * length
    for token_span in token_spans:
        if any(tag != "O" for tag in row[token_span.first : token_span.last]):
            continue
        for n in range(token_span.first, token_span.last):
            row[n] = f"{'B' if n == token_span.first else 'I'}-{token_span.label}"
        if scheme == "IOBES" and token_span.last > token_span.first:
            row[token_span.last - 1] = (
                f"{'S' if token_span.last - token_span.first == 1 else 'E'}-{token_span.label}"
            )
    return row
