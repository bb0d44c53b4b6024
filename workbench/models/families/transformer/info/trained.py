"""The trained head of a published model, by which it predicts as it is.

It is known from `architectures` in config.json, else from the names and shapes of the weights where
these leave no doubt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.models.families.transformer.info import config as configs
from workbench.models.families.transformer.info.architectures import (
    CLASSIFIER,
    DECODERS,
    ENCODERS,
    MULTIPLE_CHOICE,
    NO_TOKEN_HEAD,
    PERMUTED,
    QUESTION_ANSWERING,
    READS_TWICE,
)
from workbench.models.formats.json_files import strings
from workbench.text.document import choice_names
from workbench.text.schemes import Detector, is_every, spans

FEW_CHOICES = 4  # labels of a multiple choice model
# The tasks of heads.
CLASS = "classify"
PAIR_CLASS = "pairs"
LABELS = "multilabel"
NUMBER = "regress"  # of one text
PAIR_NUMBER = "similarity"
SPANS = "tag"
TAGS = "token"
CHOICE = "choice"
ANSWER = "answer"
# Kinds of heads.
SEQUENCE, TOKEN = "text-classification", "token-classification"
CHOOSING, ANSWERING = "multiple-choice", "question-answering"
_CLASSES = {  # of transformers: part of the name of the class → kind of its head
    "ForSequenceClassification": SEQUENCE,
    "ForTokenClassification": TOKEN,
    "ForMultipleChoice": CHOOSING,
    "ForQuestionAnswering": ANSWERING,
}
# The layer that gives the outputs: "classifier.weight" of encoders and "score.weight" of decoders,
# but for these. A test compares with the library.
_PROJECTED = ("camembert", "electra", "mpnet", "roberta", "xlm-roberta")
_SCORERS: Mapping[str, Mapping[str, str]] = {
    SEQUENCE: {
        **dict.fromkeys(_PROJECTED, "classifier.out_proj.weight"),
        **dict.fromkeys(DECODERS, "score.weight"),
        **dict.fromkeys(READS_TWICE, CLASSIFIER),
        "xlm": "sequence_summary.summary.weight",
    },
    TOKEN: {**dict.fromkeys(DECODERS - {"gpt2", "gpt_neox"}, "score.weight")},
    CHOOSING: {"xlm": "logits_proj.weight"},
    ANSWERING: {**dict.fromkeys(QUESTION_ANSWERING - {"modernbert"}, "qa_outputs.weight")},
}
_USUAL = "classifier.weight"
# Beside the layer of a classifier: of one for words they are missing.
_POOLERS = ("pooler.dense.weight", "pooler.weight", "pre_classifier.weight")
# Tasks of GLUE and others on two texts, as `finetuning_task` names them.
_OF_PAIRS = frozenset(
    "anli ax mnli mnlimm mrpc paws qnli qqp rte scitail sick snli stsb wnli xnli".split()
)
# Labels that say how a text relates to another one.
_RELATIONS = frozenset(("entailment", "contradiction", "not_entailment", "not_equivalent"))
_CROSS_ENCODER = frozenset(("sentence_transformers", "sbert_ce_default_activation_function"))

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class TrainedHead:
    """task: that it is trained for. The others are as in `FamilyInfo.trained`."""

    task: str
    labels: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    decoder: Mapping[str, Any] = field(default_factory=dict)


def head(architecture: str, config: Mapping[str, Any], shapes: Shapes) -> TrainedHead | None:
    """The head that predicts as it is; None for other checkpoints."""
    kind = _named(config)
    if kind is None:
        kind = _head_kind(architecture, config, shapes)
    if not kind or architecture not in _with(kind):
        return None
    outputs = _outputs(kind, architecture, shapes)
    if kind == CHOOSING:
        return TrainedHead(CHOICE, choice_names(FEW_CHOICES)) if outputs == 1 else None
    if kind == ANSWERING:
        return TrainedHead(ANSWER) if outputs == 2 else None
    if kind == SEQUENCE and outputs == 1:
        return TrainedHead(
            PAIR_NUMBER if _reads_pairs(config, ()) else NUMBER, decoder=_scale(config)
        )
    names = _names(config, outputs)
    if len(names) < 2:
        return None
    return _classifier(config, names) if kind == SEQUENCE else _tagger(names)


def unread(architecture: str, config: Mapping[str, Any]) -> str:
    """The class of a trained head that is not used here, such as XLNet's for texts; "" for none."""
    kind = _named(config)
    if not kind or architecture in _with(kind):
        return ""
    return next((name for name in strings(config.get("architectures")) if "For" in name), "")


def _with(kind: str) -> frozenset[str]:
    """The architectures that have such a head here."""
    both = ENCODERS | DECODERS
    words = (both | PERMUTED) - NO_TOKEN_HEAD
    heads = {SEQUENCE: both | READS_TWICE, TOKEN: words, CHOOSING: MULTIPLE_CHOICE}
    return heads.get(kind, QUESTION_ANSWERING)


def _named(config: Mapping[str, Any]) -> str | None:
    """The kind of head that config.json names; "" for others, None if it names none."""
    classes = strings(config.get("architectures"))
    kinds = (kind for name in classes for part, kind in _CLASSES.items() if part in name)
    others = any("For" in name or "LMHead" in name for name in classes)
    return next(kinds, "" if others else None)


# ---------------------------------------------------------------- heads found from the weights


def _head_kind(architecture: str, config: Mapping[str, Any], shapes: Shapes) -> str | None:
    """The kind of head whose weights are there; None if several kinds have such weights, or none
    has.
    """
    has = {kind: _outputs(kind, architecture, shapes) for kind in _CLASSES.values()}
    if architecture in QUESTION_ANSWERING - {"modernbert"} and has[ANSWERING] == 2:
        return ANSWERING
    if architecture == "xlm" and has[CHOOSING] == 1:
        return CHOOSING
    distinct = _scorer(SEQUENCE, architecture) != _scorer(TOKEN, architecture)
    if has[SEQUENCE] and (distinct or architecture in NO_TOKEN_HEAD):
        return SEQUENCE
    if not has[TOKEN]:
        return None
    if _marks_spans(_names(config, has[TOKEN])):
        return TOKEN
    if architecture in DECODERS or architecture == "modernbert":
        return TOKEN if distinct else None
    return _with_one_name(config, shapes, has[TOKEN], distinct)


def _with_one_name(
    config: Mapping[str, Any], shapes: Shapes, outputs: int, distinct: bool
) -> str | None:
    """Of encoders whose heads for texts, words and choices give their scores in "classifier"."""
    pooled = any(name.endswith(_POOLERS) for name in shapes)
    if distinct:  # a classifier of texts has another name
        return CHOOSING if outputs == 1 else TOKEN
    if not pooled:
        return TOKEN
    # a model with one output names it, while a choice has the usual number of labels
    return SEQUENCE if outputs > 1 or len(configs.labels(config)) == 1 else CHOOSING


def _scorer(kind: str, architecture: str) -> str:
    return _SCORERS[kind].get(architecture, _USUAL)


def _outputs(kind: str, architecture: str, shapes: Shapes) -> int:
    """Outputs of the layer that such a head ends with; 0 if the weights have none."""
    shape = shapes.get(_scorer(kind, architecture))
    return shape[0] if shape else 0


# ---------------------------------------------------------------- labels


def _names(config: Mapping[str, Any], outputs: int) -> tuple[str, ...]:
    """A name for each output, as transformers names those without one; () if they do not fit."""
    if not 0 < outputs <= configs.MAX_LABELS:
        return ()
    named = configs.labels(config)
    if not named:
        return tuple(f"LABEL_{number}" for number in range(outputs))
    return named if len(named) == outputs == len({*named} - {""}) else ()


def _classifier(config: Mapping[str, Any], names: tuple[str, ...]) -> TrainedHead | None:
    """As transformers decides it: independent labels if `problem_type` says so, else classes."""
    problem = config.get("problem_type")
    if problem == "regression":
        return None
    if problem == "multi_label_classification":
        return TrainedHead(LABELS, names)
    return TrainedHead(PAIR_CLASS if _reads_pairs(config, names) else CLASS, names)


def _tagger(names: tuple[str, ...]) -> TrainedHead | None:
    """Spans if there is a tag for none, or if tags mark their beginnings; else tags of words."""
    scheme = _scheme(names)
    if is_every(scheme):
        return TrainedHead(TAGS, names)
    labels = tuple(dict.fromkeys(span.label for tag in names for span in spans([tag], scheme)))
    if not labels:
        return None
    decoder = {"decoder": "greedy", "tags": list(names), "scheme": scheme}
    return TrainedHead(SPANS, labels, {"decoder": "greedy"}, decoder)


def _scheme(names: Sequence[str]) -> str:
    detector = Detector()
    detector.feed(names)
    return detector.scheme


def _marks_spans(names: Sequence[str]) -> bool:
    scheme = _scheme(names)
    return "O" in names and scheme != "IO" and not is_every(scheme)


def _reads_pairs(config: Mapping[str, Any], names: Sequence[str]) -> bool:
    """Whether a classifier reads two texts: cross-encoders of sentence-transformers say so, models
    that were fine-tuned on such a task of GLUE, and the labels of entailment.
    """
    tuned = str(config.get("finetuning_task") or "").lower()
    tuned = tuned.replace("-", "").replace("_", "").rpartition("/")[2]
    relates = any(name.lower() in _RELATIONS for name in names)
    return bool(_CROSS_ENCODER.intersection(config)) or tuned in _OF_PAIRS or relates


def _scale(config: Mapping[str, Any]) -> dict[str, Any]:
    """The number of a classifier with one output is its sigmoid, unless the model says otherwise.

    Source: the function that sentence-transformers (CrossEncoder) and transformers
    (TextClassificationPipeline.postprocess) apply by default.
    """
    message = config.get("sentence_transformers")
    named = message.get("activation_fn") if isinstance(message, Mapping) else None
    named = named or config.get("sbert_ce_default_activation_function")
    squashed = config.get("problem_type") != "regression"
    if named:
        squashed = str(named).rpartition(".")[2] == "Sigmoid"
    return {"sigmoid": True} if squashed else {}
