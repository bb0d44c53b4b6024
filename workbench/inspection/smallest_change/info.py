"""The smallest change of a text that turns a prediction: description and result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.attributions.info import Target
from workbench.inspection.spec import InspectorInfo, WordRow

DELETE, REPLACE, FLIP = "delete", "replace", "flip"
NO_MODEL = "none"
TOGETHER = 16  # changed texts that are predicted in one pass


@dataclass(frozen=True, slots=True)
class Trial:
    """One word deleted or replaced. new: "" for a deletion. label, share, value: predicted then.

    fall: by how much the probability of what was predicted falls, or by how much a number changes.
    estimate: of the fall, by the gradient; None for words that were not proposed by it.
    """

    word: int
    new: str
    label: str
    share: float
    fall: float
    estimate: float | None = None
    value: float | None = None


@dataclass(frozen=True)
class Change:
    """The words changed, in order of the search, each with its replacement ("": nothing).

    label, share, value: the prediction for `text`, the changed text, as of `Verdict`. turned:
    whether something else is predicted.
    """

    kind: str
    words: tuple[tuple[int, str], ...]
    text: str
    label: str
    share: float
    turned: bool
    value: float | None = None


@dataclass(frozen=True)
class SmallestChange:
    """label, share: the prediction for the text. trials: single changes, largest fall first.

    changes: the best deletion; the best replacement by words of a masked language model, if one is
    known, it is `proposed_by`; and the best by words that the gradient proposes.
    targets: the decisions for the text, of which `target` was to change, see `decisions`.
    searching: the kind of change that a further request goes on with, "" after the end; until then
    its change is the best one so far. tried: changed texts that were predicted.
    """

    words: tuple[WordRow, ...]
    label: str
    share: float
    changes: tuple[Change, ...]
    trials: tuple[Trial, ...]
    proposed_by: str = ""
    cut: bool = False
    target: str = ""
    targets: tuple[Target, ...] = ()
    searching: str = ""
    tried: int = 0

    def further(self, _whole: bool) -> dict[str, Any] | None:
        """Options of the request that goes on; None after the end."""
        return {} if self.searching else None

    def joined(self, later: SmallestChange) -> SmallestChange:
        """The later answer, which has the earlier changes as well."""
        return later


INFO = InspectorInfo(
    "smallest_change",
    N_("Smallest change"),
    SmallestChange,
    (
        Option("most", "int", 5, N_("Maximum number of words to change."), low=1, high=20),
        Option("top", "int", 8, N_("Replacements to try for each word."), low=1, high=50),
        Option(
            "target", "text", "",
            N_("Prediction to change, as listed in the result: class:NAME, word:INDEX:TAG, "
                "span:FIRST:LAST:LABEL, number, or answer:INDEX."),
            title=N_("Decision"),
        ),
        Option(
            "step", "float", 0.5,
            N_("Minimum change of a predicted number that counts as a different prediction."),
            low=1e-6, title=N_("Step"),
        ),
        Option(
            "proposer", "text", "",
            N_("Name or folder of the masked language model that proposes replacements, or none. "
               "Default: the one that the run was trained from, else starter-bert."),
            title=N_("Replacements from"),
        ),
        Option(
            "part", "int", 0,
            N_("Changed texts to predict per request; 0: all that are needed."), low=0,
        ),
    ),
    shows=N_(
        "Shows which words change a prediction when they are deleted, or replaced as a "
        "masked language model or the gradient proposes; the search is greedy. Does not "
        "show that no smaller change exists. Li et al. 2016; Ebrahimi et al. 2018 "
        "(HotFlip); Li et al. 2020."
    ),
    of_text=("target",),
    in_parts={"part": TOGETHER},
)  # fmt: skip
