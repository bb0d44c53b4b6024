"""The answers of a prompt run text by text, alone or beside those of another run.

Everything is read: stored predictions against the current gold labels, and the files of what was
sent and received (`prompting.transcript`). No model is used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from workbench.base import paths
from workbench.base.i18n import N_, _, ngettext
from workbench.base.terms import term
from workbench.base.watch import QUIET, Watch
from workbench.metrics.significance import mcnemar
from workbench.operations.evaluation import compare, quality, scoring
from workbench.operations.evaluation.pairs import DECIDED
from workbench.operations.evaluation.scoring import GoldDocument
from workbench.operations.runs import results
from workbench.operations.runs.kinds import contract as kinds
from workbench.prompting import transcript
from workbench.prompting.answers import forms
from workbench.prompting.results import PromptResult
from workbench.prompting.spec import PromptSpec
from workbench.storage.runs import runs
from workbench.tasks import spec as tasks
from workbench.text import result_view
from workbench.text.columns import Column, Medium, ValueKind, record
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.metrics.evaluation import Evaluation
    from workbench.operations.evaluation.quality import Evidence
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.tasks.spec import TaskInfo
    from workbench.text.document import Document
    from workbench.text.fields import Prediction

RIGHT, WRONG, NO_ANSWER = "right", "wrong", "no-answer"
DISAGREE, BOTH_WRONG, UNANSWERED, ALL = "disagreements", "both-wrong", "no-answer", "all"
SEGMENTS = (DISAGREE, BOTH_WRONG, UNANSWERED, ALL)
FIRST, SECOND, KEY, CONFIDENT, UNSURE = "first", "second", "key", "confident", "unsure"
SORTS = {
    FIRST: N_("only A right first"),
    SECOND: N_("only B right first"),
    CONFIDENT: N_("most probable first"),
    UNSURE: N_("least probable first"),
    KEY: N_("by key"),
}


@dataclass(frozen=True)
class Answer:
    """What a run predicts for a document. outcome: RIGHT, WRONG or NO_ANSWER. text: the prediction,
    or why there is none. share: probability of the predicted label, shares: of every label; None
    and {} if the model gives none.
    """

    outcome: str
    text: str
    share: float | None = None
    shares: tuple[tuple[str, float], ...] = ()

    @property
    def is_right(self) -> bool:
        return self.outcome == RIGHT


NOT_ASKED = Answer("", "")  # of a second run where there is none
LETTERS = "ab"  # of the runs, in the names of columns


@dataclass(frozen=True)
class AnswerRow:
    """A document with its gold labels as text. second: None with one run."""

    document_id: int
    key: str
    text: str
    gold: str
    first: Answer
    second: Answer | None = None

    @property
    def answers(self) -> tuple[Answer, ...]:
        return (self.first,) if self.second is None else (self.first, self.second)

    def is_of(self, segment: str) -> bool:
        right = [answer.is_right for answer in self.answers]
        if segment == DISAGREE:
            return len(set(right)) > 1
        if segment == BOTH_WRONG:
            return not any(right)
        if segment == UNANSWERED:
            return any(answer.outcome == NO_ANSWER for answer in self.answers)
        return True


@dataclass(frozen=True)
class AnsweredRun:
    """A run with its scores on the documents, and how many answers are right, wrong and none."""

    run: Run
    evaluation: Evaluation
    counts: Mapping[str, int]

    @property
    def n(self) -> int:
        return sum(self.counts.values())

    @property
    def accuracy(self) -> float | None:
        """Share of right answers."""
        return self.counts[RIGHT] / self.n if self.n else None

    @property
    def accuracy_of_answered(self) -> float | None:
        """Share of right answers of those that could be read."""
        answered = self.n - self.counts[NO_ANSWER]
        return self.counts[RIGHT] / answered if answered else None


@dataclass(frozen=True)
class AnswerComparison:
    """One run or two on the same documents of a split. score: the main score of their task."""

    split: str
    score: str
    runs: tuple[AnsweredRun, ...]
    rows: tuple[AnswerRow, ...]

    @cached_property
    def joint(self) -> Mapping[tuple[bool, bool], int]:
        """Number of documents by (first is right, second is right)."""
        joint = {(first, second): 0 for first in (True, False) for second in (True, False)}
        for row in self.rows:
            if row.second is not None:
                joint[row.first.is_right, row.second.is_right] += 1
        return joint

    @property
    def p(self) -> float | None:
        """Of McNemar's exact test, two-sided; None with one run."""
        if len(self.runs) < 2:
            return None
        return mcnemar(self.joint[True, False], self.joint[False, True])

    @property
    def is_decided(self) -> bool:
        return self.p is not None and self.p < DECIDED

    @cached_property
    def has_shares(self) -> tuple[bool, ...]:
        """Whether each run gives probabilities."""
        return tuple(
            any(row.answers[side].share is not None for row in self.rows)
            for side in range(len(self.runs))
        )

    @cached_property
    def segments(self) -> Mapping[str, int]:
        """Number of documents of each segment that there is, of SEGMENTS."""
        with_two = len(self.runs) > 1
        names = SEGMENTS if with_two else (BOTH_WRONG, UNANSWERED, ALL)
        return {name: sum(row.is_of(name) for row in self.rows) for name in names}

    def shown(self, segment: str, sort: str) -> list[AnswerRow]:
        """The rows of a segment in an order of SORTS; equal ones by key."""
        rows = (row for row in self.rows if row.is_of(segment))
        return sorted(rows, key=_ORDERS[sort])


def _natural(row: AnswerRow) -> tuple[list[tuple[int, str]], int]:
    """By key, with its numbers as numbers: "d9" before "d10"."""
    parts = re.split(r"([0-9]+)", row.key)
    return [(int(part) if at % 2 else -1, part) for at, part in enumerate(parts)], row.document_id


def _share(row: AnswerRow) -> float:
    return row.first.share or 0.0


def _only(row: AnswerRow, side: int) -> bool:
    """Whether this side alone is right."""
    return row.answers[side % len(row.answers)].is_right and row.is_of(DISAGREE)


_ORDERS: Mapping[str, Callable[[AnswerRow], Any]] = {
    FIRST: lambda row: (not _only(row, 0), not _only(row, 1), _natural(row)),
    SECOND: lambda row: (not _only(row, 1), not _only(row, 0), _natural(row)),
    CONFIDENT: lambda row: (-_share(row), _natural(row)),
    UNSURE: lambda row: (_share(row), _natural(row)),
    KEY: _natural,
}


# ---------------------------------------------------------------- which runs


def prompt_runs(every: Iterable[Run], layer: str, split: str = "dev") -> tuple[Run, ...]:
    """The runs of prompts of a layer that have answers on a split, in the same order."""
    return tuple(
        run for run in every if is_prompt(run) and has_answers(run, split) and run.layer == layer
    )


def beside(run: Run, every: Iterable[Run], split: str = "dev") -> tuple[Run, ...]:
    """The runs of any kind that can be compared with a run on a split, prompts first."""
    others = (
        other
        for other in every
        if other.id != run.id and has_answers(other, split) and not compare.why_not(run, other)
    )
    return tuple(sorted(others, key=lambda other: not is_prompt(other)))


def is_prompt(run: Run) -> bool:
    return kinds.info(run.kind).result is PromptResult


def has_answers(run: Run, split: str) -> bool:
    """A prompt is run on one split, and has answers on another only if it was evaluated there."""
    if is_prompt(run) and run.spec.get("split", split) != split and split not in run.scores:
        return False
    return run.status in ("done", "stopped") and results.has_task(run)


def title(run: Run) -> str:
    """The prompt and its version, or the name of a run without them."""
    name, version = run.spec.get("prompt_name"), run.spec.get("prompt_version")
    if not (is_prompt(run) and name and version):
        return run.name
    return _("{prompt}, version {n} ({run})", prompt=name, n=version, run=run.name)


def about(run: Run) -> str:
    """Its model, and the examples of a prompt."""
    if not is_prompt(run):
        model = PurePath(str(run.spec.get("model_name") or run.spec.get("model") or "")).name
        kind = kinds.info(run.kind)
        if kind.fine_tunes:
            return _("{model}, fine-tuned", model=model)
        return ", ".join(filter(None, (_(kind.title), model)))
    spec = PromptSpec.from_json(run.spec)
    model = spec.model_name or spec.model
    if not spec.shots:
        return _("{model}, no examples", model=model)
    return ngettext(
        "{model}, {n} example, {order}",
        "{model}, {n} examples, {order}",
        spec.shots,
        model=model,
        order=term(spec.order),
    )


def what_counts(run: Run) -> str:
    """How the replies of a prompt are read, "" for a run of another kind."""
    if not is_prompt(run):
        return ""
    form = forms.FORMS.get(PromptSpec.from_json(run.spec).answer.form)
    return _(form.title) if form is not None else ""


# ---------------------------------------------------------------- as a table and for programs


def columns(
    comparison: AnswerComparison | None = None, *, longest: int | None = None
) -> tuple[Column, ...]:
    """Of the rows: key, text and gold, then answer and probability of each run; without a
    comparison all that there may be. longest: characters of a text for people.
    """
    shares = comparison.has_shares if comparison is not None else (True, True)
    titles = (_("Answer of A"), _("Answer of B")) if len(shares) > 1 else (_("Answer"),)
    return (
        Column("", lambda row: row.document_id, key="document"),
        Column(_("Key"), lambda row: row.key, key="key"),
        Column(
            _("Text"),
            lambda row: row.text,
            display=lambda row: " ".join(row.text.split())[:longest],
            key="text",
        ),
        Column(_("Gold"), lambda row: row.gold, key="gold"),
        *(
            column
            for side, (title, has_shares) in enumerate(zip(titles, shares, strict=True))
            for column in _side_columns(side, title, has_shares=has_shares)
        ),
    )


def _side_columns(side: int, title: str, *, has_shares: bool) -> tuple[Column, ...]:
    def answer(row: AnswerRow) -> Answer:
        return row.answers[side] if side < len(row.answers) else NOT_ASKED

    return (
        Column(
            title,
            lambda row: answer(row).text,
            display=lambda row: answer_text(answer(row)),
            key=f"answer_{LETTERS[side]}",
        ),
        Column("", lambda row: answer(row).outcome, key=f"outcome_{LETTERS[side]}"),
        Column(
            _("Probability") if has_shares else "",
            lambda row: answer(row).share,
            kind=ValueKind.SHARE,
            key=f"probability_{LETTERS[side]}",
        ),
    )


def answer_text(answer: Answer) -> str:
    return _("no answer") if answer.outcome == NO_ANSWER else answer.text


@dataclass(frozen=True)
class CountRow:
    """A number of documents, a share of them, or a score (`name`), for each run."""

    name: str
    title: str
    kind: ValueKind
    values: tuple[float | None, ...]


def counts(comparison: AnswerComparison) -> tuple[CountRow, ...]:
    """Right, wrong and unreadable answers, the shares of right ones, and the main score."""
    titles = {RIGHT: _("right"), WRONG: _("wrong"), NO_ANSWER: _("no answer")}
    of_runs, score = comparison.runs, comparison.score
    kind = ValueKind.NUMBER if tasks.is_error(score) else ValueKind.SHARE
    return (
        *(
            CountRow(name, title, ValueKind.COUNT, tuple(run.counts[name] for run in of_runs))
            for name, title in titles.items()
        ),
        CountRow(
            "accuracy", _("accuracy"), ValueKind.SHARE, tuple(run.accuracy for run in of_runs)
        ),
        CountRow(
            "answered",
            _("if answered"),
            ValueKind.SHARE,
            tuple(run.accuracy_of_answered for run in of_runs),
        ),
        CountRow(
            score,
            tasks.score_title(score),
            kind,
            tuple(run.evaluation.scores.get(score) for run in of_runs),
        ),
    )


def count_columns(medium: Medium) -> tuple[Column, ...]:
    """Of `counts`: what is counted, then its value for A and B, as the medium writes it."""
    titles = (_("A"), _("B"))

    def cell(side: int, row: CountRow) -> str | None:
        if side >= len(row.values):
            return None
        return medium.cell(Column("", lambda row: row.values[side], kind=row.kind, digits=3), row)

    return (
        Column("", lambda row: row.title),
        *(
            Column(title, display=partial(cell, side), kind=ValueKind.NUMBER)
            for side, title in enumerate(titles)
        ),
    )


def verdict(comparison: AnswerComparison) -> str:
    """The paired test in one line, "" with one run."""
    if comparison.p is None:
        return ""
    p = "< 0.001" if comparison.p < 0.001 else f"= {comparison.p:.3f}"
    if comparison.is_decided:
        return _("McNemar, exact: p {p}, decided", p=p)
    return _("McNemar, exact: p {p}, undecided", p=p)


def report(comparison: AnswerComparison, rows: Iterable[AnswerRow]) -> dict[str, Any]:
    """The comparison with these rows for programs."""
    joint = comparison.joint
    return {
        "split": comparison.split,
        "n": len(comparison.rows),
        "runs": [
            {
                "run": run.run.name,
                "kind": run.run.kind,
                **{name.replace("-", "_"): n for name, n in run.counts.items()},
                "accuracy": run.accuracy,
                "accuracy_of_answered": run.accuracy_of_answered,
                "scores": dict(run.evaluation.scores),
            }
            for run in comparison.runs
        ],
        "joint": None
        if comparison.p is None
        else {
            "both_right": joint[True, True],
            "only_first": joint[True, False],
            "only_second": joint[False, True],
            "both_wrong": joint[False, False],
            "p": comparison.p,
        },
        "documents": [record(columns(comparison), row) for row in rows],
    }


# ---------------------------------------------------------------- comparison


def answers(
    project: Project,
    run_id: int,
    other_id: int | None = None,
    split: str = "dev",
    *,
    watch: Watch = QUIET,
) -> AnswerComparison:
    """The answers of a run, or of two on the documents that both answered. Not for the main thread.

    Raises WorkbenchError if they cannot be compared, or share no document, and KeyError for a run
    that was deleted.
    """
    chosen = [runs.get(project.db, id) for id in (run_id, other_id) if id is not None]
    if other_id is None:
        compare.check_seen(chosen, split)
        evidence = [quality.evidence(project, chosen[0], split)]
    else:
        evidence = compare.on_one_test_set(project, chosen, split, only_shared=True, watch=watch)
    info = evidence[0].info
    rows = tuple(_rows(info, evidence))
    answered = []
    for side, (run, of_run) in enumerate(zip(chosen, evidence, strict=True)):
        outcomes = dict.fromkeys((RIGHT, WRONG, NO_ANSWER), 0)
        outcomes |= Counter(row.answers[side].outcome for row in rows)
        answered.append(AnsweredRun(run, _evaluation(run, of_run, split), outcomes))
    return AnswerComparison(split, info.main, tuple(answered), rows)


def _evaluation(run: Run, evidence: Evidence, split: str) -> Evaluation:
    """That of the run, unless gold has changed since, or another task asks for other scores."""
    stored = results.original(run, split)
    current = stored is not None and stored.fingerprint == compare.fingerprint(evidence)
    if stored is not None and current and evidence.info.main in stored.scores:
        return stored
    gold = zip(evidence.documents, evidence.golds, strict=True)
    documents = [GoldDocument(document, labels) for document, labels in gold]
    return scoring.evaluate(evidence.info.id, split, documents, evidence.predictions)


def _rows(info: TaskInfo, evidence: Sequence[Evidence]) -> Iterator[AnswerRow]:
    predictions = zip(*(of_run.predictions for of_run in evidence), strict=True)
    first = evidence[0]
    for document, gold, both in zip(first.documents, first.golds, predictions, strict=True):
        gold_text = info.error(document, gold, _nothing()).gold
        answered = [_answer(info, document, gold, gold_text, prediction) for prediction in both]
        yield AnswerRow(row_id(document), document.key, document.text, gold_text, *answered)


def _nothing() -> Prediction:
    """A prediction compared with which all of gold is missing."""
    from workbench.text.fields import Prediction

    return Prediction()


def _answer(
    info: TaskInfo, document: Document, gold: Any, gold_text: str, prediction: Prediction
) -> Answer:
    from workbench.text.fields import FromReply

    reply, view = prediction.get(FromReply), result_view.of(prediction)
    if reply is not None and reply.no_answer:
        return Answer(NO_ANSWER, reply.reason)
    only_read = reply is not None and reply.samples < 2  # the scores of one reply say nothing
    shares = {} if only_read else view.shares(prediction)
    best = tuple(sorted(shares.items(), key=lambda pair: -pair[1]))
    labels = view.labels(prediction)
    share = shares.get(labels[0]) if len(labels) == 1 else None
    if info.agrees(gold, prediction):
        return Answer(RIGHT, gold_text, share, best)
    return Answer(WRONG, info.error(document, gold, prediction).predicted, share, best)


# ---------------------------------------------------------------- what was sent and received


@dataclass(frozen=True)
class Exchange:
    """What was sent for a document, and the replies as received.

    sent: (name, before, answer, after) of each label that was scored; of each message, its role and
    text; of a text to be continued, "" and the text. replies: () for scored labels. error: of a
    request that failed.
    """

    sent: tuple[tuple[str, str, str, str], ...]
    replies: tuple[str, ...] = ()
    error: str = ""


def exchange(project: Project, run: Run, document_id: int) -> Exchange | None:
    """Read from the files of a run, so not for the main thread; None if there are none, as of a run
    of another kind or of an earlier version.
    """
    try:
        lines = transcript.of_document(paths.run_folder(project.path, run.id), document_id)
        if lines is None:
            return None
        request, answer = lines
        replies = answer.get("replies", ()) if answer is not None else ()
        error = next((reply["error"] for reply in replies if reply.get("error")), "")
        return Exchange(tuple(_sent(request)), tuple(reply["text"] for reply in replies), error)
    except (OSError, ValueError, KeyError, TypeError, IndexError):  # damaged by other programs
        return None


def _sent(request: transcript.Line) -> Iterator[tuple[str, str, str, str]]:
    parts = request["parts"]
    if "prompts" in request:
        for label, places in request["prompts"].items():
            before, answer, after = (parts[at] for at in places)
            yield label, before, answer, after
    elif "messages" in request:
        for role, at in request["messages"]:
            yield role, parts[at], "", ""
    else:
        yield "", parts[request["text"]], "", ""
