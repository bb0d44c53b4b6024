"""The scores of a run on a text that can be explained: classes, tags of words, spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.attributions.info import Target
from workbench.inspection.base import stitch, token_rows, words_of
from workbench.inspection.spec import TokenRow, WordRow
from workbench.inspection.subject import Predicted, Subject
from workbench.runtime import decoding
from workbench.runtime.inputs import PER_TOKEN
from workbench.text.document import Document

LOGITS = "logits"  # of networks with one output per text or token
SIGMOID = "LabelScores"  # tasks with these outputs score each label on its own


@dataclass(frozen=True)
class Place:
    """Where a score stands: the mean over outputs (position, index), position None for a text."""

    window: int
    outputs: tuple[tuple[int | None, int], ...]
    sigmoid: bool = False


@dataclass(frozen=True)
class Explained:
    """A document as the run reads it, with its targets and where each stands."""

    found: Predicted
    words: tuple[WordRow, ...]
    rows: Sequence[Sequence[TokenRow]]
    targets: tuple[Target, ...]
    places: Mapping[str, Place]

    def place(self, target: str) -> tuple[str, Place]:
        """The target asked for, else the first. Raises WorkbenchError if it does not exist."""
        if not self.targets:
            raise WorkbenchError(_("The text has no words to explain."))
        wanted = target or self.targets[0].id
        if wanted not in self.places:
            raise WorkbenchError(
                _("There is no target {target!r} in this text.").format(target=target),
                hint=_("Choose one of those that the result lists."),
            )
        return wanted, self.places[wanted]


def explained(subject: Subject, document: Document) -> Explained:
    found = subject.predicted(document)
    words = words_of(document, subject.texts)
    rows = [token_rows(one, document, words, subject.preparer) for one in found.prepared.inputs]
    per_token = subject.predictor.task.info.logits.get(LOGITS) == PER_TOKEN
    read = _tags if per_token else _classes
    pairs = read(subject, found, rows)
    targets = tuple(target for target, _place in pairs)
    return Explained(found, words, rows, targets, {target.id: place for target, place in pairs})


def _classes(
    subject: Subject, found: Predicted, _rows: Sequence[Sequence[TokenRow]]
) -> list[tuple[Target, Place]]:
    """Every class, the most probable first."""
    info = subject.predictor.task.info
    names = info.output_names(subject.labels)
    sigmoid = SIGMOID in info.outputs or len(names) == 1  # a softmax over one score is constant
    logits = found.logits[0][LOGITS]
    shares = 1 / (1 + np.exp(-logits)) if sigmoid else decoding.softmax(logits)
    pairs = [
        (Target(f"class:{name}", name, float(shares[at])), Place(0, ((None, at),), sigmoid))
        for at, name in enumerate(names)
    ]
    return sorted(pairs, key=lambda pair: -pair[0].share)


def _tags(
    subject: Subject, found: Predicted, rows: Sequence[Sequence[TokenRow]]
) -> list[tuple[Target, Place]]:
    """Predicted spans, then the best tag of every word, in order of the text."""
    names = subject.predictor.task.info.output_names(subject.labels)
    shares = [decoding.softmax(one[LOGITS]) for one in found.logits]
    first: dict[int, tuple[int, int]] = {}  # word → (window, position) of its first token
    for window, position in stitch(found.prepared.inputs):
        word = rows[window][position].word
        if word is not None:
            first.setdefault(word, (window, position))
    tags: list[tuple[int, int, Target, Place]] = []
    for word, (window, position) in sorted(first.items()):
        best = int(shares[window][position].argmax())
        share = float(shares[window][position][best])
        target = Target(f"word:{word}:{names[best]}", names[best], share, word, word)
        tags.append((window, best, target, Place(window, ((position, best),))))
    pairs = [(target, place) for _window, _best, target, place in tags]
    return [*_spans(tags, names), *pairs]


def _spans(
    tags: Sequence[tuple[int, int, Target, Place]], names: Sequence[str]
) -> list[tuple[Target, Place]]:
    """Runs of B-X and I-X among the best tags, of at least two words in one window."""
    groups: list[list[tuple[int, int, Target, Place]]] = []
    for tag in tags:
        prefix, dash, label = names[tag[1]].partition("-")
        if not dash:
            groups.append([])
        elif prefix == "I" and groups and groups[-1] and _label(groups[-1][-1], names) == label:
            groups[-1].append(tag)
        else:
            groups.append([tag])
    pairs = []
    for group in groups:
        if len(group) > 1 and len({window for window, *_rest in group}) == 1:
            begin, end = group[0][2].first, group[-1][2].last
            label = _label(group[0], names)
            share = sum(target.share for *_rest, target, _place in group) / len(group)
            outputs = tuple(one.outputs[0] for *_rest, one in group)
            target = Target(f"span:{begin}:{end}:{label}", label, share, begin, end)
            pairs.append((target, Place(group[0][0], outputs)))
    return pairs


def _label(tag: tuple[int, int, Target, Place], names: Sequence[str]) -> str:
    return names[tag[1]].partition("-")[2]
