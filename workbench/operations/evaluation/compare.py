"""Comparison of runs, prompts and baselines on one test set.

Runs of one layer can be compared if their tasks answer the same question; all are scored on the
same gold (`TaskInfo.compared`).
Everything is computed from stored predictions against the current gold labels; no model is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.records import to_plain
from workbench.base.watch import QUIET, Watch
from workbench.operations.evaluation import pairs, quality, scoring, slices
from workbench.operations.evaluation.pairs import System, SystemPair
from workbench.operations.evaluation.scoring import GoldDocument
from workbench.operations.runs import missing, results, run_settings
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.run_settings import SettingRow
from workbench.operations.runs.trained_on import TrainingTexts
from workbench.storage.runs import runs
from workbench.tasks import spec as tasks
from workbench.text.columns import record
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.operations.evaluation.quality import Evidence
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

NAMED = 3  # documents named in a message


@dataclass(frozen=True)
class Comparison:
    """Systems in the given order, every pair of them, and the settings that differ.

    score: what the tests are about; slice_score: that of the slices. definition: what counts as
    correct, and of which gold.
    """

    split: str
    n: int
    fingerprint: str
    score: str
    definition: str
    slice_score: str
    systems: tuple[System, ...]
    pairs: tuple[SystemPair, ...]
    settings: tuple[SettingRow, ...]

    def system(self, run_id: int) -> System:
        return next(system for system in self.systems if system.run.id == run_id)

    def pair(self, first: int, second: int) -> SystemPair | None:
        """The pair seen from `first`; None if one of them is not compared."""
        for item in self.pairs:
            if {item.first, item.second} == {first, second}:
                return item if item.first == first else item.swapped
        return None


def compare(
    project: Project,
    run_ids: Sequence[int],
    split: str = "dev",
    *,
    score: str = "",
    where: str = "",
    watch: Watch = QUIET,
) -> Comparison:
    """Compare systems on the documents of a split. Run it in a thread.

    score: what the tests are about, by default the main score of the task. where: a query, only
    the documents that match it. Raises WorkbenchError if the runs were not scored on the same
    documents, or have another task or layer; QueryError.
    """
    chosen = [runs.get(project.db, id) for id in dict.fromkeys(run_ids)]
    evidence = on_one_test_set(project, chosen, split, where=where, watch=watch.part(0.0, 0.1))
    systems = _systems(project, chosen, evidence, split, watch.part(0.1, 0.3))
    info, first = evidence[0].info, systems[0]
    tested = _tested(first, score or info.main)
    by_slice = slices.ACCURACY if slices.ACCURACY in first.scores else info.main
    rows, both = [], list(combinations(systems, 2))
    for at, (left, right) in enumerate(both):
        part = watch.part(0.3 + 0.7 * at / len(both), 0.3 + 0.7 * (at + 1) / len(both))
        rows.append(pairs.pair(left, right, tested, by_slice, part))
    return Comparison(
        split,
        len(evidence[0]),
        fingerprint(evidence[0]),
        tested,
        info.definition,
        by_slice,
        tuple(systems),
        pairs.corrected(rows),
        run_settings.differing(chosen),
    )


def _systems(
    project: Project, chosen: Sequence[Run], evidence: Sequence[Evidence], split: str, watch: Watch
) -> list[System]:
    """The runs with their scores, and what they were trained on of the test set."""
    systems, texts, count = [], TrainingTexts(project), len(chosen)
    for at, (run, system_evidence) in enumerate(zip(chosen, evidence, strict=True)):
        part = watch.part(at / count, (at + 1) / count)
        trained_on = texts.among(run, split, system_evidence.documents)
        systems.append(replace(pairs.system(run, system_evidence, part), trained_on=trained_on))
    return systems


def _tested(first: System, score: str) -> str:
    """The score. Raises WorkbenchError if the task does not have it."""
    if score not in first.scores:
        raise WorkbenchError(
            _("There is no score {score!r} of this task.", score=score),
            hint=_("Scores: {names}.", names=", ".join(first.scores)),
        )
    return score


def check_comparable(chosen: Sequence[Run]) -> None:
    """Raises WorkbenchError unless two runs or more answer the same question of one layer."""
    if len(chosen) < 2:
        raise WorkbenchError(_("A comparison needs at least two different runs."))
    first = chosen[0]
    for other in chosen[1:]:
        if reason := why_not(first, other):
            raise WorkbenchError(reason)


def why_not(first: Run, other: Run) -> str:
    """Why the predictions of two runs cannot be compared, "" if they can."""
    if first.layer_id != other.layer_id:
        return _(
            "{one} and {other} were trained on different layers, so their predictions "
            "cannot be compared.",
            one=first.name,
            other=other.name,
        )
    for run in (first, other):
        if reason := missing.of_run(run):
            return _("{name} cannot be compared: {reason}", name=run.name, reason=reason)
    ours, theirs = (tasks.info(results.task_of(run)) for run in (first, other))
    if tasks.comparable(ours, theirs):
        return ""
    return _(
        "The task of {one} is “{task}”, that of {other} is “{other_task}”: their predictions "
        "cannot be compared.",
        one=first.name,
        task=_(ours.title),
        other=other.name,
        other_task=_(theirs.title),
    )


def check_seen(chosen: Sequence[Run], split: str) -> None:
    """Raises WorkbenchError for a test score that nobody has asked for yet."""
    unseen = [run.name for run in chosen if split == "test" and not run.seen_test]
    if unseen:
        raise WorkbenchError(
            _("The test score of {runs} has not been viewed yet.", runs=", ".join(unseen)),
            hint=_("Evaluate on test first; that counts as a view of the test score."),
        )


# ---------------------------------------------------------------- one test set


def on_one_test_set(
    project: Project,
    chosen: Sequence[Run],
    split: str,
    *,
    where: str = "",
    only_shared: bool = False,
    watch: Watch = QUIET,
) -> list[Evidence]:
    """The stored predictions of each run for the same documents. Raises WorkbenchError as
    `compare`.

    only_shared: documents that some run has no prediction for are left out, such as those beside
    a sample.
    """
    check_comparable(chosen)
    check_seen(chosen, split)
    evidence = []
    for at, run in enumerate(chosen):
        watch.at(at / len(chosen))
        info = tasks.info(results.task_of(run)).compared()
        system_evidence = quality.evidence(project, run, split, info)
        evidence.append(quality.matching(project, system_evidence, where))
    if only_shared:
        shared = set.intersection(*({row_id(it) for it in each.documents} for each in evidence))
        if shared:
            evidence = [quality.of_documents(each, shared) for each in evidence]
    _check_one_test_set(chosen, evidence, split)
    return evidence


def _check_one_test_set(chosen: Sequence[Run], evidence: Sequence[Evidence], split: str) -> None:
    """Raises WorkbenchError unless all systems have the same fingerprint."""
    prints = [fingerprint(system_evidence) for system_evidence in evidence]
    first = {row_id(document): document for document in evidence[0].documents}
    for run, system_evidence, own in zip(chosen, evidence, prints, strict=True):
        if own == prints[0] and len(system_evidence):
            continue
        theirs = {row_id(document): document for document in system_evidence.documents}
        for lacks, has, ids, documents in (
            (run, chosen[0], first.keys() - theirs.keys(), first),
            (chosen[0], run, theirs.keys() - first.keys(), theirs),
        ):
            if ids:
                raise _other_set(lacks, has, [documents[id].key for id in sorted(ids)], split)
        raise WorkbenchError(
            _(
                "There is no {split} document with gold labels and predictions of {runs}.",
                split=split,
                runs=", ".join(repr(run.name) for run in chosen),
            ),
            hint=_evaluate_first(run, split),
        )


def fingerprint(evidence: Evidence) -> str:
    """Fingerprint of the documents that a run has predictions for, and of their gold labels."""
    rows = zip(evidence.documents, evidence.golds, strict=True)
    return scoring.fingerprint([GoldDocument(document, gold) for document, gold in rows])


def _other_set(lacks: Run, has: Run, keys: Sequence[str], split: str) -> WorkbenchError:
    listed = ", ".join(keys[:NAMED]) + (", …" if len(keys) > NAMED else "")
    template = ngettext(
        "The runs were not scored on the same test set: {n} {split} document has a prediction of "
        "{has!r}, but none of {lacks!r} ({keys}).",
        "The runs were not scored on the same test set: {n} {split} documents have a prediction "
        "of {has!r}, but none of {lacks!r} ({keys}).",
        len(keys),
        split=split,
        has=has.name,
        lacks=lacks.name,
        keys=listed,
    )
    message = template
    return WorkbenchError(message, hint=_evaluate_first(lacks, split))


def _evaluate_first(run: Run, split: str) -> str:
    if not kinds.info(run.kind).predicts:
        return _("Import a file with predictions for all of them.")
    return _("Evaluate {run!r} on {split} first.", run=run.name, split=split)


# ---------------------------------------------------------------- for programs


def comparison_report(comparison: Comparison) -> dict[str, Any]:
    """The comparison for programs; documents by id and key."""
    names = {system.run.id: system.run.name for system in comparison.systems}
    titles = run_settings.option_titles()
    return {
        "split": comparison.split,
        "n": comparison.n,
        "fingerprint": comparison.fingerprint,
        "score": comparison.score,
        "definition": _(comparison.definition),
        "systems": [
            {
                "run": system.run.name,
                "kind": system.run.kind,
                "scores": {name: score.to_json() for name, score in system.scores.items()},
                "trained_on": [to_plain(overlap) for overlap in system.trained_on],
            }
            for system in comparison.systems
        ],
        "pairs": [_pair_json(pair, names) for pair in comparison.pairs],
        "settings": [
            {"name": row.name, "title": row.title(titles), "values": list(row.values)}
            for row in comparison.settings
        ],
    }


def _pair_json(pair: SystemPair, names: Mapping[int, str]) -> dict[str, Any]:
    columns = pairs.part_columns("")
    return {
        "first": names[pair.first],
        "second": names[pair.second],
        "samples": pair.rounds,
        "differences": {name: vars(value) for name, value in pair.differences.items()},
        "tests": [vars(test) for test in pair.tests],
        "labels": [record(columns, row) for row in pair.labels],
        "slices": [
            {**record(columns, row), "documents": list(row.documents)} for row in pair.slices
        ],
        "both_right": pair.both_right,
        **{
            name: [vars(row) for row in getattr(pair, name)]
            for name in ("only_first", "only_second", "both_wrong")
        },
    }
