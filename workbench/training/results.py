"""What a training returns at its end. JSON in the files of a run and in the project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from workbench.base.costs import PredictionCost
from workbench.base.records import from_plain, to_plain
from workbench.metrics import evaluation
from workbench.metrics.evaluation import Evaluation
from workbench.training.plan import Plan

if TYPE_CHECKING:
    from workbench.tasks.spec import TaskInfo


@dataclass(frozen=True)
class Adaptation:
    """A language model that was adapted to a text before the training.

    path: its folder, an ordinary model. documents, held_out: numbers of documents that it was
    trained and measured on. before, after: perplexity (per unit) and, where the objective defines
    it, perplexity_per_word on the held-out documents; {} if they are too short to measure.
    """

    objective: str
    path: str
    documents: int = 0
    held_out: int = 0
    epochs: int = 0
    steps: int = 0
    seconds: float = 0.0
    stopped: bool = False
    before: Mapping[str, float] = field(default_factory=dict)
    after: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Scoring:
    """How a task and its scores are shown where the task is missing.

    main: the score that runs are compared by. errors: the scores that are errors in their own unit.
    titles: the display title of every score, in the order of the task. task, short: the titles of
    the task. Runs of earlier versions have no titles, or nothing at all.
    """

    main: str = ""
    errors: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    task: str = ""
    short: str = ""

    @classmethod
    def of(cls, task: TaskInfo) -> Scoring:
        from workbench.tasks.spec import is_error, score_title

        names = [score.name for score in task.scores]
        titles = {name: score_title(name) for name in names}
        return cls(task.main, tuple(filter(is_error, names)), titles, task.title, task.short)


@dataclass(frozen=True)
class TrainResult:
    """The outcome of one training; fields that an earlier version did not store have defaults.

    evaluations: of the best checkpoint, by split. used: split → documents. cut: truncated texts,
    None if not known; windows: inputs beyond one per document. flat_left_out: spans inside others
    that a flat tagger cannot learn; shifted: spans moved to token boundaries. loss: mean of the
    last epoch. best_step: step of the kept checkpoint. layer_weights: learned weights of the layers
    at the best step, see `events.LayerWeights`; {} if there are none. micro_batch: examples into
    which batches were divided as memory was short, None for whole ones; checkpointing: whether
    gradient checkpointing was used. plan: None in results
    recovered from the events of a run. parameters: of the whole network, trained_parameters: of
    those that training changes; None in runs of earlier versions. adaptation: of the language model
    before the training, None without one. predicting: what predictions cost, None if it was not
    measured. scoring: empty in runs of earlier versions. remarks: what happened to the training, in
    sentences. also: of the other layers that were trained together.
    """

    evaluations: Mapping[str, Evaluation] = field(default_factory=dict)
    used: Mapping[str, int] = field(default_factory=dict)
    cut: int | None = None
    cut_by_split: Mapping[str, int] = field(default_factory=dict)
    windows: int = 0
    flat_left_out: int = 0
    shifted: int = 0
    loss: float | None = None
    steps: int | None = None
    best_step: int | None = None
    stopped: bool = False
    seconds: float | None = None
    cpu_seconds: float | None = None
    device: str | None = None
    bf16: bool = False
    micro_batch: int | None = None
    checkpointing: bool = False
    plan: Plan | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    parameters: int | None = None
    trained_parameters: int | None = None
    base_sha256: str = ""
    weights_sha256: str = ""
    layer_weights: Mapping[str, Any] = field(default_factory=dict)
    adaptation: Adaptation | None = None
    predicting: PredictionCost | None = None
    scoring: Scoring = field(default_factory=Scoring)
    remarks: tuple[str, ...] = ()
    also: tuple[TrainResult, ...] = ()
    recovered: bool = False  # from the events of a worker that left no result

    def to_json(self) -> dict[str, Any]:
        evaluations = evaluation.to_json(self.evaluations)
        also = [result.to_json() for result in self.also]
        plain = to_plain(replace(self, evaluations={}, also=()))
        return {**plain, "evaluations": evaluations, "also": also}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> TrainResult:
        """Unknown and empty fields are skipped, and a plan that lacks a setting."""
        known = {name: value for name, value in raw.items() if value is not None}
        known["evaluations"] = {}
        also = tuple(cls.from_json(item) for item in known.pop("also", ()))
        try:
            result = from_plain(cls, known)
        except TypeError:
            result = from_plain(cls, {**known, "plan": None})
        return replace(result, evaluations=evaluation.from_json(raw), also=also)
