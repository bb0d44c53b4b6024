"""A comparison as plain values, for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.base.records import to_plain
from workbench.operations.runs import run_settings

if TYPE_CHECKING:
    from workbench.operations.evaluation.compare import Comparison
    from workbench.operations.evaluation.pairs import PartDifference, SystemPair


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
    return {
        "first": names[pair.first],
        "second": names[pair.second],
        "samples": pair.rounds,
        "differences": {name: vars(value) for name, value in pair.differences.items()},
        "tests": [vars(test) for test in pair.tests],
        "labels": [_part_json(row) for row in pair.labels],
        "slices": [{**_part_json(row), "documents": list(row.documents)} for row in pair.slices],
        "both_right": pair.both_right,
        **{
            name: [vars(row) for row in getattr(pair, name)]
            for name in ("only_first", "only_second", "both_wrong")
        },
    }


def _part_json(row: PartDifference) -> dict[str, Any]:
    return {
        "name": row.name,
        "n": row.n,
        "first": row.first,
        "second": row.second,
        **{key: value for key, value in vars(row.difference).items() if key != "value"},
        "difference": row.difference.value,
        "holm": row.holm,
    }
