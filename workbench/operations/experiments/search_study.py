"""The study of a search: its trials, in a file of Optuna beside the runs.

Optuna is imported when a study is opened. None of this is for the main thread, but `Weak`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from workbench.operations.experiments.search_ranges import LIST, LOG, WHOLE, Range

RUNNING, DONE, PRUNED, FAILED = "running", "complete", "pruned", "fail"  # states, as Optuna's
TPE, RANDOM = "tpe", "random"
STARTUP = 5  # finished trials before which none is stopped
PARTS = 10  # a training is compared with others at every tenth of it
FIRST = 2  # parts of a training before which it is not stopped
_DEFAULTS, _RUN, _SECONDS = "defaults", "run", "seconds"  # attributes of trials


@dataclass(frozen=True)
class Trial:
    """values: of the ranges that vary. value: the score, None for a trial that is running or has
    failed. run: uid of its run, "" if it has none. seconds: that it took. is_default: the settings
    without a search, which were not asked for.
    """

    number: int
    values: Mapping[str, Any] = field(hash=False)
    state: str = RUNNING
    value: float | None = None
    run: str = ""
    seconds: float = 0.0
    is_default: bool = False


class Study:
    """An open study, see `opened`. A trial depends on the seed and on the trials before it: those
    of an interrupted search are the same as without the interruption.
    """

    def __init__(
        self, study: Any, ranges: Sequence[Range], *, seed: int, sampler: str, maximize: bool
    ) -> None:
        self._study, self._ranges, self._seed = study, ranges, seed
        self._sampler, self._maximize = sampler, maximize

    @property
    def trials(self) -> tuple[Trial, ...]:
        """In the order in which they were asked for."""
        return tuple(map(_trial, self._stored()))

    def _stored(self) -> list[Any]:
        trials: list[Any] = self._study.get_trials(deepcopy=False)
        return trials

    def ask(self) -> Trial:
        """The next trial, chosen by the scores of the others."""
        import numpy as np
        import optuna

        number = len(self._stored())
        seed = int(np.random.SeedSequence([self._seed, number]).generate_state(1)[0])
        if self._sampler == TPE:  # far from trials that have no score yet, on a cluster
            self._study.sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True)
        else:
            self._study.sampler = optuna.samplers.RandomSampler(seed=seed)
        trial = self._study.ask(distributions(self._ranges))
        return Trial(trial.number, dict(trial.params))

    def tell(
        self,
        number: int,
        state: str,
        *,
        value: float | None = None,
        curve: Mapping[int, float] | None = None,
        run: str = "",
        seconds: float = 0.0,
    ) -> None:
        """Store the end of a trial; does nothing for one whose end is stored.

        curve: part of the training → best score until then; of a pruned trial, its last score
        counts.
        """
        import optuna

        stored = self._stored()[number]
        if stored.state.is_finished():
            return
        trial = optuna.trial.Trial(self._study, stored._trial_id)
        trial.set_user_attr(_RUN, run)
        trial.set_user_attr(_SECONDS, seconds)
        for part, score in (curve or {}).items():
            trial.report(score, part)
        ending = optuna.trial.TrialState[state.upper()]
        self._study.tell(trial, value if state == DONE else None, ending)

    def add_default(self, values: Mapping[str, Any], value: float, run: str) -> None:
        """Store the score of settings that were not asked for, once, if they lie within the
        ranges.
        """
        import optuna

        fits = all(item.has(values.get(item.name)) for item in self._ranges)
        if not fits or any(trial.is_default for trial in self.trials):
            return
        trial = optuna.trial.create_trial(
            params={item.name: values[item.name] for item in self._ranges},
            distributions=distributions(self._ranges),
            value=value,
            user_attrs={_DEFAULTS: True, _RUN: run},
        )
        self._study.add_trial(trial)

    def weak(self) -> Weak:
        import optuna

        memory = optuna.create_study(direction=_direction(self._maximize))
        memory.add_trials([trial for trial in self._stored() if trial.state.is_finished()])
        return Weak(memory)


class Weak:
    """Says which trainings are weaker than the finished ones; for any thread."""

    def __init__(self, memory: Any) -> None:
        import optuna

        self._memory, self._pruner = memory, optuna.pruners.MedianPruner(STARTUP, FIRST)

    def __call__(self, curve: Mapping[int, float]) -> bool:
        """Whether the best score so far is worse than the median of the finished trainings at the
        same part of theirs.
        """
        import optuna

        trial = optuna.trial.create_trial(
            state=optuna.trial.TrialState.RUNNING, intermediate_values=dict(curve)
        )
        return bool(self._pruner.prune(self._memory, trial))


@contextmanager
def opened(
    path: Path,
    name: str,
    ranges: Sequence[Range],
    *,
    seed: int = 1,
    sampler: str = TPE,
    maximize: bool = True,
) -> Iterator[Study]:
    """The study of a name in a file, which is closed afterwards: a project can be moved while a
    trial is trained. ranges: those that vary.
    """
    import optuna
    from sqlalchemy import URL

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    path.parent.mkdir(parents=True, exist_ok=True)
    url = URL.create("sqlite", database=str(path)).render_as_string()
    storage = optuna.storages.RDBStorage(url)
    try:
        study = optuna.create_study(
            storage=storage,
            study_name=name,
            direction=_direction(maximize),
            pruner=optuna.pruners.NopPruner(),
            load_if_exists=True,
        )
        yield Study(study, ranges, seed=seed, sampler=sampler, maximize=maximize)
    finally:
        storage.remove_session()
        storage.engine.dispose()


def distributions(ranges: Sequence[Range]) -> dict[str, Any]:
    """What Optuna draws from, by setting."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    known: dict[str, Any] = {}
    for item in ranges:
        if item.scale == LIST:
            known[item.name] = CategoricalDistribution(item.values)
            continue
        is_whole = item.scale == WHOLE or all(isinstance(end, int) for end in item.ends)
        kind: Any = IntDistribution if is_whole else FloatDistribution
        known[item.name] = kind(*item.ends, log=item.scale == LOG)
    return known


def curve_of(
    points: Sequence[tuple[int, float]], total: int, *, maximize: bool
) -> dict[int, float]:
    """Part of a training → best score until then, from (step, score) of its evaluations in order.

    Trainings of different lengths are compared at equal parts, from the first evaluation on.
    """
    curve: dict[int, float] = {}
    best = max if maximize else min
    for step, score in points:
        here = min(PARTS, PARTS * step // max(1, total))
        if curve:
            last = max(curve)
            curve |= dict.fromkeys(range(last + 1, here), curve[last])
            score = best(score, curve[last])
        curve[here] = score
    return curve


def _trial(trial: Any) -> Trial:
    attributes = trial.user_attrs
    return Trial(
        trial.number,
        dict(trial.params),
        trial.state.name.lower(),
        trial.value if trial.state.is_finished() else None,
        attributes.get(_RUN, ""),
        attributes.get(_SECONDS, 0.0),
        attributes.get(_DEFAULTS, False),
    )


def _direction(maximize: bool) -> Literal["minimize", "maximize"]:
    return "maximize" if maximize else "minimize"
