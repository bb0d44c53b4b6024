"""Which settings matter: shares of the variance of a score, from the trials of a search.

fANOVA: a random forest of the scores, whose variance is divided among the settings.
Source: Hutter, Hoos and Leyton-Brown 2014, An efficient approach for assessing hyperparameter
importance.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import optuna

ROUNDS = 20  # of the bootstrap over trials
TREES = 32
SHARE = 0.8  # of the rounds within the interval


def run(params: Mapping[str, Any], _folder: Path) -> Generator[dict[str, Any], str, dict[str, Any]]:
    """ranges: name, scale, low and high or values of each setting. values: setting → value of each
    trial, scores: of each. Returns rows of name, share (mean over a bootstrap of the trials), low
    and high (its 80% interval), largest share first.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = {item["name"]: _distribution(item) for item in params["ranges"]}
    values, scores = params["values"], params["scores"]
    random = np.random.default_rng(0)
    rounds = []
    for number in range(ROUNDS):
        yield {"kind": "progress", "step": number, "total": ROUNDS}
        drawn = random.integers(len(scores), size=len(scores))
        rounds.append(_shares(space, [values[at] for at in drawn], [scores[at] for at in drawn]))
    ends = 50 * (1 - SHARE), 50 * (1 + SHARE)
    rows = [
        {"name": name, "share": float(np.mean(shares)), "low": float(low), "high": float(high)}
        for name in space
        for shares in [[one[name] for one in rounds]]
        for low, high in [np.percentile(shares, ends)]
    ]
    return {"rows": sorted(rows, key=lambda row: -float(row["share"]))}


def _shares(
    space: Mapping[str, Any], values: Sequence[Mapping[str, Any]], scores: Sequence[float]
) -> dict[str, float]:
    """0 for every setting if all scores are equal, as nothing is to be explained."""
    if len(set(scores)) < 2:
        return dict.fromkeys(space, 0.0)
    study = optuna.create_study()
    for point, score in zip(values, scores, strict=True):
        study.add_trial(
            optuna.trial.create_trial(params=dict(point), distributions=dict(space), value=score)
        )
    evaluator = optuna.importance.FanovaImportanceEvaluator(n_trees=TREES, seed=0)
    shares = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return {name: float(shares.get(name, 0.0)) for name in space}


def _distribution(item: Mapping[str, Any]) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    low, high = item["low"], item["high"]
    if item["scale"] == "list":
        return CategoricalDistribution(tuple(item["values"]))
    is_whole = item["scale"] == "whole" or (isinstance(low, int) and isinstance(high, int))
    return (IntDistribution if is_whole else FloatDistribution)(
        low, high, log=item["scale"] == "log"
    )
