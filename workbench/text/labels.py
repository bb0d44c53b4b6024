"""Layers and their labels as values."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.base.i18n import N_

SPAN_KEYS = "123456789"
# without A, X, U, M and C: accept, reject, unselect, all occurrences, relation from here
CLASS_KEYS = "qwertyiopsdfghjklzvbn"
SPAN_LETTERS = CLASS_KEYS[-2::-1] + CLASS_KEYS[-1]  # after the digits; from the end: classes
# take them from the beginning, and N is also the key of "no answer"
RELATION_KEYS = "dfghjk" + "".join(key for key in CLASS_KEYS if key not in "dfghjk")
CURATED = "gold"  # the name of the person whose labels are the result of adjudication
READ_ONLY = "read_only"  # key of `Layer.options`: gold labels that were handed out as context
MAX_NAME_CHARS = 1000  # of a layer, a label or a key, in characters

MARKS, SPANS = "marks", "spans"  # the parts of a Record that hold labels
NUMBERS, WRITTEN = "numbers", "written"  # parts that hold a value of a whole document
RELATIONS, ANSWERS = "relations", "answers"  # parts that the project file has room for
TABLES: Mapping[str, str] = {  # part of a Record → the table of the project file that holds it
    MARKS: "mark",
    SPANS: "span",
    RELATIONS: "relation",
    ANSWERS: "answer",
    NUMBERS: "mark",
    WRITTEN: "answer",
}
LABEL_TABLES = tuple(dict.fromkeys(TABLES.values()))
WITH_LABEL = ("relation", "span", "mark")  # tables whose rows have one of the layer's labels
CLASSES, TEXT, TOKENS, CHOICES = "classes", "text", "tokens", "choices"  # editors of Annotate
QUESTIONS = "questions"  # editor of Annotate: answers to questions, marked in the text
NUMBER, WRITING = "number", "writing"  # editors of a value, see `ui.panels.annotate.values`
ARCS = "arcs"  # editor of Annotate: relations, drawn between the spans of a text
NO_CLASS = N_("{layer} has no class yet; the document stays a draft.")


@dataclass(frozen=True, slots=True)
class LayerKind:
    """What a kind of layer holds and how it is annotated.

    title: what is annotated, for display; title_of_pair: the same for documents with two texts.
    record: the part of a Record that holds the labels: MARKS of a whole document, NUMBERS or
    WRITTEN texts of it, SPANS in its text, RELATIONS between spans, ANSWERS to questions; "" for a
    kind that is not stored yet.
    editor: the editor in Annotate: CLASSES (chips above the text), TEXT (spans are drawn in the
    text), TOKENS (a tag under each token), CHOICES (a row for each text to choose from),
    QUESTIONS (a list of questions, whose answers are drawn in the text), NUMBER (a slider), WRITING
    (a text field), ARCS (between the spans of another layer); "" if the kind cannot be edited.
    in_choices: labels are the numbers of choices, so a layer is for documents with choices.
    several: a unit (the document, a token) may have more than one label.
    empty_is_answer: a submitted document without labels is a true negative.
    keys: default keys of labels, in order.
    missing: the sentence on a document that has no label although the kind requires one.
    in_chains: each span belongs to a chain of coreferent spans (`Span.chain`).
    compares: the texts to choose from are compared, so they are side by side where there is room.
    """

    id: str
    title: str
    title_of_pair: str = ""
    record: str = ""
    editor: str = ""
    several: bool = False
    empty_is_answer: bool = False
    keys: str = CLASS_KEYS
    in_choices: bool = False
    in_chains: bool = False
    compares: bool = False
    missing: str = N_("{layer} has no label yet; the document stays a draft.")

    @property
    def table(self) -> str:
        """The table of the project file that holds the labels; "" for a kind that is not stored."""
        return TABLES.get(self.record, "")

    @property
    def on_document(self) -> bool:
        """Labels belong to a document as a whole."""
        return self.record == MARKS

    @property
    def takes_labels(self) -> bool:
        """Labels can be added to the layer; neither values nor questions have any."""
        return self.has_labels and not self.asks

    @property
    def has_labels(self) -> bool:
        """The layer has labels to choose from."""
        return self.record not in (NUMBERS, WRITTEN)

    @property
    def in_text(self) -> bool:
        """Labels have offsets in a text."""
        return self.record == SPANS

    @property
    def between_spans(self) -> bool:
        """Labels connect two spans of another layer."""
        return self.record == RELATIONS

    @property
    def asks(self) -> bool:
        """Whether its rows are questions with their answers; such a layer has no labels."""
        return self.editor == QUESTIONS

    def holds(self, other: LayerKind) -> bool:
        """Whether a layer of this kind can store the labels of a layer of the other kind."""
        if self.record != other.record or self.in_choices != other.in_choices:
            return False
        if self.in_chains != other.in_chains:
            return False
        return self.id == other.id or (self.several and not other.several)


CLASS = LayerKind(
    "class",
    N_("one class per document"),
    N_("one class per pair of texts"),
    record=MARKS,
    editor=CLASSES,
    missing=NO_CLASS,
)
MULTI = LayerKind(
    "multi",
    N_("several classes per document"),
    N_("several classes per pair of texts"),
    record=MARKS,
    editor=CLASSES,
    several=True,
    empty_is_answer=True,
)
SPAN = LayerKind(
    "span",
    N_("spans in the text"),
    record=SPANS,
    editor=TEXT,
    several=True,
    empty_is_answer=True,
    keys=SPAN_KEYS + SPAN_LETTERS,
)
TAG = LayerKind(
    "tag",
    N_("a tag for every token"),
    record=SPANS,
    editor=TOKENS,
    keys=SPAN_KEYS + CLASS_KEYS,
)
ONE_OF = LayerKind(
    "choice",
    N_("one of several texts"),
    record=MARKS,
    editor=CHOICES,
    keys=SPAN_KEYS,
    in_choices=True,
    missing=NO_CLASS,
)
TIE = "tie"  # in files, for a submitted document without a preferred answer
PREFERENCE = LayerKind(
    "preference",
    N_("the better of several answers"),
    record=MARKS,
    editor=CHOICES,
    empty_is_answer=True,  # a tie: none is better
    keys=SPAN_KEYS,
    in_choices=True,
    compares=True,
)
RELATION = LayerKind(
    "relation",
    N_("relations between spans"),
    record=RELATIONS,
    editor=ARCS,
    several=True,
    empty_is_answer=True,
    keys=RELATION_KEYS,
)
CLUSTER = LayerKind(
    "cluster",
    N_("chains of coreferent spans"),
    record=SPANS,
    editor=TEXT,
    several=True,
    empty_is_answer=True,
    keys=SPAN_KEYS + SPAN_LETTERS,
    in_chains=True,
)
ANSWER = LayerKind(
    "answer",
    N_("answers to questions"),
    record=ANSWERS,
    editor=QUESTIONS,
    missing=N_("{layer} has no question, or an unanswered one; the document stays a draft."),
)
SCORE = LayerKind(
    "score",
    N_("a number per document"),
    N_("a number per pair of texts"),
    record=NUMBERS,
    editor=NUMBER,
    keys="",
    missing=N_("{layer} has no number yet; the document stays a draft."),
)
WRITTEN_TEXT = LayerKind(
    "text",
    N_("a written text per document"),
    N_("a written text per pair of texts"),
    record=WRITTEN,
    editor=WRITING,
    keys="",
    missing=N_("{layer} has no text yet; the document stays a draft."),
)
LAYER_KINDS: Mapping[str, LayerKind] = {
    kind.id: kind
    for kind in (
        CLASS,
        MULTI,
        SCORE,
        SPAN,
        TAG,
        RELATION,
        ANSWER,
        CLUSTER,
        ONE_OF,
        PREFERENCE,
        WRITTEN_TEXT,
    )
}


@dataclass(frozen=True, slots=True)
class Label:
    """`colour` is "" for the default colour of its position, else #RRGGBB; `key` is "" or one
    character; `parent` names the label of the layer that it is a sublabel of, "" for none.
    """

    name: str
    colour: str = ""
    key: str = ""
    description: str = ""
    position: int = 0
    id: int | None = None
    uid: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Layer:
    """A set of labels for one annotation task.

    `kind` is one of LAYER_KINDS, `traits` its properties; `texts` is how many texts its documents
    have, 0 for documents with choices (see `Document.form`).
    """

    name: str
    kind: str
    labels: tuple[Label, ...] = ()
    texts: int = 1
    guideline: str = ""
    options: Mapping[str, object] = field(
        default_factory=dict, hash=False
    )  # remaining entries of layer.options
    id: int | None = None
    uid: str = ""

    @property
    def traits(self) -> LayerKind:
        return LAYER_KINDS[self.kind]

    def label(self, name: str) -> Label:
        """Raises KeyError if the layer has no such label."""
        for item in self.labels:
            if item.name == name:
                return item
        raise KeyError(name)

    @property
    def is_read_only(self) -> bool:
        """The labels cannot be edited in this file."""
        return bool(self.options.get(READ_ONLY))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(label.name for label in self.labels)

    def sublabels(self, name: str) -> tuple[Label, ...]:
        """The sublabels of a label, in order."""
        return tuple(label for label in self.labels if label.parent == name) if name else ()

    @property
    def grouped(self) -> bool:
        """Some label has sublabels."""
        return any(label.parent for label in self.labels)


def keys_without_spans(
    labels: Sequence[Label], automatic: Container[str], used: Container[str]
) -> dict[int, str]:
    """Label id → key for views that show class layers only: 1 to 9 for the first labels.

    Keys that the user assigned are kept, that is, those not in `automatic` (default letters of
    labels). `used`: keys that are taken.
    """
    digits = iter([digit for digit in SPAN_KEYS if digit not in used])
    keys = {}
    for label in labels:
        chosen = label.key and label.key not in automatic
        keys[label.id] = label.key if chosen else next(digits, label.key)
    return {id: key for id, key in keys.items() if id is not None and key}


def free_key(kind: str, used: Container[str]) -> str:
    """The next free key for a new label of a layer of this kind, "" when all are taken."""
    return next((key for key in LAYER_KINDS[kind].keys if key not in used), "")
