"""The smallest change of a text that turns its predicted class: description and result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.spec import InspectorInfo, WordRow

DELETE, REPLACE, FLIP = "delete", "replace", "flip"


@dataclass(frozen=True, slots=True)
class Trial:
    """One word deleted or replaced. new: "" for a deletion. label, share: the prediction then.

    fall: by how much the probability of the original class falls. estimate: of the fall, by the
    gradient; None for words that were not proposed by it.
    """

    word: int
    new: str
    label: str
    share: float
    fall: float
    estimate: float | None = None


@dataclass(frozen=True)
class Change:
    """The words changed, in order of the search, each with what stands in its place ("": nothing).

    label, share: the prediction for `text`, the changed text. turned: whether the class changed.
    """

    kind: str
    words: tuple[tuple[int, str], ...]
    text: str
    label: str
    share: float
    turned: bool


@dataclass(frozen=True)
class SmallestChange:
    """label, share: the prediction for the text. trials: single changes, largest fall first.

    changes: the best deletion; the best replacement by words of a masked language model, if one is
    known, it is `proposed_by`; and the best by words that the gradient proposes.
    """

    words: tuple[WordRow, ...]
    label: str
    share: float
    changes: tuple[Change, ...]
    trials: tuple[Trial, ...]
    proposed_by: str = ""
    cut: bool = False


INFO = InspectorInfo(
    "smallest_change",
    N_("Smallest change"),
    SmallestChange,
    (
        Option("most", "int", 5, N_("Words that may be changed."), low=1, high=20),
        Option("top", "int", 8, N_("Replacements to try for each word."), low=1, high=50),
    ),
    shows=N_(
        "Shows which words, deleted or replaced by what a masked language model or the gradient "
        "proposes, turn the predicted class; the search is greedy. Does not show that no smaller "
        "change exists. Li et al. 2016; Ebrahimi et al. 2018 (HotFlip); Li et al. 2020."
    ),
)
