"""Columns that belong together: tokens with a tag for each, and indicators (0 or 1) of classes.

The columns of a table and the fields of JSON objects, as the Python libraries write them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from workbench.base.i18n import N_, _, ngettext
from workbench.base.options import Option
from workbench.importers.base import SPANS, TAGS, Fault, label_name, show, unique_spans
from workbench.importers.joining import join
from workbench.text import schemes
from workbench.text.labels import MULTI, Label, Layer, free_key
from workbench.text.spans import Span

Offsets = tuple[tuple[int, int], ...]

NAMES = Option(
    "names",
    "text",
    "",
    N_("The labels for the numbers 0, 1, 2 … in a column, between commas: O,B-PER,I-PER."),
    title=N_("Names of numbered labels"),
)
_TOKENS = ("tokens", "words", "token", "word", "form", "forms", "sentence", "text")
_TAGS = re.compile(r"tag|label|ner|pos|chunk|entit|iob|bio|class|target|slot|annotation", re.I)
_NO_TAGS = re.compile(r"input_ids|mask|type_ids|offset|lemma|head|score|position", re.I)
_KIND = re.compile(r"[ _-]*(?:tags?|labels?|ids?|annotations?|entities|entity)\b", re.I)
_MAIN = re.compile(r"ner|entit|iob|bio", re.I)
_NUMBERED = re.compile(r"(?:index|idx|nr|no|n|number|unnamed.*|.*\bid|.*_id|column \d+)$", re.I)
_IGNORED_ID = -100  # of a token that a loss leaves out
_TRUTHS = (  # spellings of no and yes
    ({"0", "0.0"}, {"1", "1.0"}),
    ({"false"}, {"true"}),
    ({"no"}, {"yes"}),
)
_BLANK = ("", "-1", "-1.0", "none", "null", "nan")  # not labelled


# ---------------------------------------------------------------- which columns


def tokens_and_tags(
    fields: Mapping[str, Sequence[object]], text: str = ""
) -> tuple[str, tuple[str, ...]]:
    """The column of lists of tokens and those with a tag for each token; ("", ()) without any.

    fields: by name the values of the first records. text: the column of the text, if there is one:
    the tokens must occur in it.
    """
    lists = {name: values for name, values in fields.items() if _are_lists(values)}
    words = [name for name, values in lists.items() if _all(values, str)]
    for name in sorted(words, key=lambda name: _order(name, lists[name])):
        tags = tuple(
            other
            for other, values in lists.items()
            if other != name and _are_parallel(lists[name], values) and _may_be_tags(other, values)
        )
        certain = any(_have_prefixes(lists[other]) for other in tags)
        if not tags or not (certain or max(map(_length, lists[name])) > 1):
            continue
        if text and text != name and not certain and not _occur(lists[name], fields[text]):
            continue
        return name, tags
    return "", ()


def tokens_alone(fields: Mapping[str, Sequence[object]], text: str = "") -> str:
    """A column of lists of tokens, by its name; "" without one.

    text: as in `tokens_and_tags`; the tokens must make up the text.
    """
    for name in _TOKENS:
        values = fields.get(name, ())
        if name == text or not _are_lists(values) or not _all(values, str):
            continue
        if not text or _occur(values, fields[text], whole=True):
            return name
    return ""


def layers_of(
    fields: Mapping[str, Sequence[object]],
    tags: Sequence[str],
    *,
    span_layer: str = SPANS,
    tag_layer: str = TAGS,
) -> dict[str, str]:
    """The layer of each column of tags: one of entities in the usual layer, the others by name."""
    spans = [
        name
        for name in tags
        if _all(fields[name], str)
        and not schemes.is_every(schemes.detect(map(_words, fields[name])))
    ]
    main = next((name for name in spans if _MAIN.search(name)), spans[0] if spans else "")
    layers: dict[str, str] = {}
    for name in tags:
        short = _KIND.sub("", name).strip(" _-") or name
        usual = not _KIND.sub("", name).strip(" _-") and tag_layer not in layers.values()
        layer = span_layer if name == main else tag_layer if usual and name not in spans else short
        layers[name] = layer if layer not in layers.values() else name
    return layers


def _are_lists(values: Sequence[object]) -> bool:
    some = [value for value in values if value is not None and value != ""]
    return any(some) and all(map(_is_list, some))


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _all(values: Iterable[object], kind: type) -> bool:
    items = [item for value in values if isinstance(value, list | tuple) for item in value]
    return all(isinstance(item, kind) and not isinstance(item, bool) for item in items)


def _length(value: object) -> int:
    return len(value) if isinstance(value, list | tuple) else 0


def _order(name: str, values: Sequence[object]) -> tuple[bool, int, bool, int]:
    """Tokens have a known name, or more different values than tags."""
    known = name.lower() in _TOKENS
    items = {item for value in values if isinstance(value, list | tuple) for item in value}
    place = _TOKENS.index(name.lower()) if known else 0
    return not known, place, _have_prefixes(values), -len(items)


def _may_be_tags(name: str, values: Sequence[object]) -> bool:
    if _NO_TAGS.search(name):
        return False
    named = bool(_TAGS.search(name))
    return (named and (_all(values, int) or _all(values, str))) or (
        _all(values, str) and _have_prefixes(values)
    )


def _have_prefixes(values: Sequence[object]) -> bool:
    """Whether the tags are O or have a prefix of a scheme."""
    return _all(values, str) and schemes.are_tags(
        [tag for value in values for tag in _words(value)]
    )


def _are_parallel(tokens: Sequence[object], tags: Sequence[object]) -> bool:
    """Whether most lists have the same length; the others are errors of their records."""
    pairs = zip(map(_length, tokens), map(_length, tags), strict=True)
    some = [first == second for first, second in pairs if first or second]
    return sum(some) * 2 > len(some)


def _occur(tokens: Sequence[object], texts: Sequence[object], *, whole: bool = False) -> bool:
    """Whether most texts hold their tokens; with `whole`, nothing but them and spaces."""
    placed = []
    for words, text in zip(map(_words, tokens), texts, strict=False):
        if words and isinstance(text, str):
            fits = not whole or "".join("".join(words).split()) == "".join(text.split())
            placed.append(fits and place_tokens(words, text) is not None)
    return sum(placed) * 2 > len(placed)


def _words(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else []


# ---------------------------------------------------------------- tokens and tags of a record


def tokens_of(value: object, column: str) -> list[str]:
    """Raises Fault unless the value is a list of strings."""
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        message = _("{column!r} is {value}, expected a list of tokens")
        raise Fault(message.format(column=column, value=show(value)))
    return list(value)


def joined(value: object, column: str) -> tuple[str, Offsets]:
    """The text of a list of tokens, and their offsets. Raises Fault."""
    words = tokens_of(value, column)
    return join(words) if all(words) else join([word or " " for word in words])


def place_tokens(words: Sequence[str], text: str) -> Offsets | None:
    """The offsets of tokens in their text; None if they do not occur in it in this order."""
    offsets, position = [], 0
    for word in words:
        start = text.find(word, position)
        if start < 0:
            return None
        position = start + len(word)
        offsets.append((start, position))
    return tuple(offsets)


class Tags:
    """The tags of the columns of a file: each has the scheme of all of its tags.

    names: of tags by number, for columns that hold numbers.
    """

    def __init__(self, layers: Iterable[tuple[str, str]], names: Sequence[str] = ()) -> None:
        self._layers = dict(layers)  # column → layer
        self._names = names
        self._detectors = {column: schemes.Detector() for column in self._layers}
        self._schemes: dict[str, str] = {}
        self._numbered: set[str] = set()

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._layers)

    def feed(self, column: str, value: object) -> None:
        """Add the tags of a record; what is no list is reported when it is read."""
        if isinstance(value, list | tuple):
            self._detectors[column].feed(self._named(column, value))

    def tag_layers(self) -> list[str]:
        """The layers whose columns have a tag for every token."""
        other = {
            layer
            for name, layer in self._layers.items()
            if not schemes.is_every(self._scheme(name))
        }
        return [layer for layer in dict.fromkeys(self._layers.values()) if layer not in other]

    def spans(self, column: str, value: object, tokens: Offsets) -> tuple[Span, ...]:
        """Raises Fault."""
        if not isinstance(value, list | tuple):
            message = _("{column!r} is {value}, expected a list of tags")
            raise Fault(message.format(column=column, value=show(value)))
        if len(value) != len(tokens):
            raise Fault(
                _(
                    "the number of tags ({tags}) differs from the number of tokens ({tokens})",
                    tags=len(value),
                    tokens=len(tokens),
                )
            )
        return unique_spans(
            [
                Span(tokens[span.first][0], tokens[span.last - 1][1], span.label)
                for span in schemes.spans(self._named(column, value), self._scheme(column))
            ]
        )

    def remarks(self, file: str) -> Iterable[str]:
        for column in sorted(self._numbered):
            yield _(
                "{file}: {column} holds numbers of tags without their names. Give the names in "
                "the order of their numbers with the setting “names” (--set names=O,B-PER,I-PER).",
                file=file,
                column=column,
            )

    def _scheme(self, column: str) -> str:
        return self._schemes.setdefault(column, self._detectors[column].scheme)

    def _named(self, column: str, tags: Sequence[object]) -> list[str]:
        return [self._name(column, tag) for tag in tags]

    def _name(self, column: str, tag: object) -> str:
        if isinstance(tag, str) or tag is None:
            return tag or "_"
        if not isinstance(tag, int) or isinstance(tag, bool):
            message = _("a tag in {column!r} is {value}, expected a string or a number")
            raise Fault(message.format(column=column, value=show(tag)))
        if tag == _IGNORED_ID:
            return "_"
        if self._names:
            return name_of(tag, self._names)
        self._numbered.add(column)
        return str(tag)


def names_in(settings: Mapping[str, object]) -> tuple[str, ...]:
    """The names of labels by number that the setting `names` gives."""
    return tuple(name.strip() for name in str(settings.get(NAMES.name) or "").split(",") if name)


def unlabelled(values: Iterable[object], texts: int) -> frozenset[str]:
    """The values of a column of single classes that stand for none.

    In data of pairs, -1 among numbers (Hugging Face) and "-" for annotators who do not agree
    (SNLI), unless "+" is a class too. Otherwise only a column that holds nothing but -1, of a test
    split. values: of the first records. texts: of a document.
    """
    plain = {_plain(value) for value in values if isinstance(value, str | int)} - {""}
    if texts < 2:
        return frozenset(("-1",)) if plain == {"-1"} else frozenset()
    numbers = all(value.removeprefix("-").isdecimal() for value in plain)
    return frozenset(("-1",) if numbers else () if "+" in plain else ("-",))


def is_unlabelled(value: object, blank: frozenset[str]) -> bool:
    return bool(blank) and isinstance(value, str | int) and _plain(value) in blank


def class_name(value: object, names: Sequence[str]) -> str:
    """The name of a class: if names are given, a number stands for one of them. Raises Fault."""
    if names and not isinstance(value, bool):
        text = str(value).strip()
        if text.isascii() and text.isdecimal() and text not in names:
            return name_of(int(text[:9]), names)
    return label_name(value)


def name_of(number: int, names: Sequence[str]) -> str:
    """Raises Fault for a number without a name."""
    if not 0 <= number < len(names):
        template = ngettext(
            "there is no name for the number {number}; {n} name is given",
            "there is no name for the number {number}; {n} names are given",
            len(names),
        )
        raise Fault(template.format(number=number, n=len(names)))
    return names[number]


# ---------------------------------------------------------------- indicators of classes


def vector_length(values: Iterable[object]) -> int:
    """The length of lists that hold 0 or 1 for each class; 0 if the values are anything else.

    Sets of the classes 0 and 1 have no repetitions and are in order.
    """
    lists = [value for value in values if isinstance(value, list | tuple) and value]
    lengths = {len(value) for value in lists}
    items = {item for value in lists for item in value if isinstance(item, int | float)}
    numbers = all(isinstance(item, int | float) for value in lists for item in value)
    if len(lengths) != 1 or max(lengths) < 2 or not numbers or not items <= {0, 1}:
        return 0
    if all(list(value) == sorted(set(value)) for value in lists):
        return 0
    return lengths.pop()


def classes_of_vector(value: object, length: int, names: Sequence[str]) -> tuple[str, ...]:
    """The classes whose element is 1: their names, or positions from 0. Raises Fault."""
    if not isinstance(value, list | tuple) or len(value) != length or not {*value} <= {0, 1}:
        message = _("the classes are {value}, expected a list of indicators (0 or 1) of length {n}")
        excerpt = str(value)[:60] if isinstance(value, list | tuple) else show(value)
        raise Fault(message.format(value=excerpt, n=length))
    on = [position for position, item in enumerate(value) if item]
    return tuple(name_of(at, names) if names else str(at) for at in on)


def indicated_layers(
    several: Iterable[tuple[str, str]],
    vectors: Mapping[str, int],
    indicators: Iterable[str],
    names: Sequence[str],
    texts: int,
) -> Iterable[Layer]:
    """The layers of indicators with all of their classes, in order.

    several: (layer, column) pairs. vectors: columns of lists → their length. indicators: columns
    with one class each. names: of the classes of lists. texts: of a document.
    """
    classes: dict[str, list[str]] = {}
    for layer, column in several:
        if column in vectors:
            length = vectors[column]
            its = names if len(names) == length else map(str, range(length))
            classes.setdefault(layer, []).extend(its)
        elif column in indicators:
            classes.setdefault(layer, []).append(column)
    keys: list[str] = []
    for layer, class_names in classes.items():
        labels = []
        for name in dict.fromkeys(class_names):
            keys.append(free_key(MULTI.id, keys))
            labels.append(Label(name, key=keys[-1]))
        yield Layer(layer, MULTI.id, tuple(labels), texts)


def vector_remark(file: str, column: str, length: int) -> str:
    return _(
        "{file}: {column} holds indicators (0 or 1) of length {n} for each record; the classes are "
        "named after their positions from 0. Their names can be given with the setting “names”.",
        file=file,
        column=column,
        n=length,
    )


def replaced_remark(file: str, n: int) -> str:
    """What to say of `n` texts that do not hold their tokens."""
    return ngettext(
        "{file}: {n:,} text does not contain its tokens in order; the text was made of the tokens.",
        "{file}: {n:,} texts do not contain their tokens in order; the texts were made of the "
        "tokens.",
        n,
        file=file,
    )


def indicator_columns(fields: Mapping[str, Sequence[object]]) -> list[str]:
    """At least two columns with nothing but 0 and 1, or no and yes; else none."""
    for no, yes in _TRUTHS:
        indicators = [
            name
            for name, values in fields.items()
            if not _NUMBERED.match(name.strip()) and _holds_only(values, no, yes)
        ]
        ones = any(_plain(value) in yes for name in indicators for value in fields[name])
        if len(indicators) > 1 and ones:
            return indicators
    return []


def shared_indicators(
    several: Iterable[tuple[str, str]], fields: Mapping[str, Sequence[object]]
) -> frozenset[str]:
    """Of the columns that share a layer, those with nothing but 0 and 1, or no and yes: their names
    are the classes.

    several: (layer, column) of the columns for several classes.
    """
    by_layer: dict[str, list[str]] = {}
    for layer, column in several:
        by_layer.setdefault(layer, []).append(column)
    return frozenset(
        column
        for columns in by_layer.values()
        for column in (columns if len(columns) > 1 else ())
        if any(_holds_only(fields[column], no, yes) for no, yes in _TRUTHS)
    )


def is_on(value: object, column: str) -> bool | None:
    """Whether an indicator is set; None where it is blank. Raises Fault."""
    plain = _plain(value)
    if plain in _BLANK:
        return None
    for no, yes in _TRUTHS:
        if plain in no or plain in yes:
            return plain in yes
    message = _("column {column!r} is {value}, expected 0 or 1")
    raise Fault(message.format(column=column, value=show(value)))


def _holds_only(values: Sequence[object], no: set[str], yes: set[str]) -> bool:
    plain = [_plain(value) for value in values]
    some = [value for value in plain if value not in _BLANK]
    return bool(some) and all(value in no or value in yes for value in some)


def _plain(value: object) -> str:
    return "" if value is None else str(value).strip().lower()
