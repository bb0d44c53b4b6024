"""How scores change where words of one group replace those of another: description and result."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.base import paths
from workbench.base.i18n import N_
from workbench.base.options import MAX_SEED, Option
from workbench.inspection.spec import TEXTS, InspectorInfo

FOLDER = "groups"  # of word lists, in the resources and in the user's settings
PROBABILITY, VALUE, COUNT = "probability", "value", "count"


@dataclass(frozen=True, slots=True)
class GroupEffect:
    """mean: of the score of a label over the documents with the words of a group, see `GroupSwap`.

    change: mean difference to the mean of all groups, paired by document, with its 95% interval.
    """

    label: str
    group: str
    mean: float
    change: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SwappedDocument:
    """label: what is predicted for the text as it is, labels: for each group. shares: the score of
    `of` for each group, the label of a class that is predicted, else that with the largest spread.
    texts: for each group.
    """

    key: str
    text: str
    label: str
    labels: tuple[str, ...]
    shares: tuple[float, ...]
    texts: tuple[str, ...]
    of: str = ""

    @property
    def spread(self) -> float:
        """The largest difference between two groups."""
        return max(self.shares) - min(self.shares)


@dataclass(frozen=True)
class GroupSwap:
    """scores: what the scores are: PROBABILITY of a label, or of the answers to the questions;
    VALUE, the predicted number; COUNT of spans, or of tags, with a label.
    title: of the list. read: documents in the sample; documents: those with a word of the list.

    changed: of these, how many are predicted differently for some group. rows: the documents with
    the largest spread first.
    """

    title: str
    groups: tuple[str, ...]
    effects: tuple[GroupEffect, ...]
    read: int
    documents: int
    changed: int
    rows: tuple[SwappedDocument, ...]
    scores: str = PROBABILITY


def lists() -> dict[str, Path]:
    """The word lists that come with the application and those of the user, by file name.

    A file of the user replaces one of the application with the same name.
    """
    folders = (paths.resource(FOLDER), paths.config_folder() / FOLDER)
    files = (file for folder in folders for file in sorted(folder.glob("*.toml")))
    return {file.stem: file for file in files}


INFO = InspectorInfo(
    "group_swap",
    N_("Group swap"),
    GroupSwap,
    (
        Option(
            "list",
            "text",
            "english-pronouns",
            N_("Name or file of a list of words by group."),
            suggestions=lists,
        ),
        Option(
            "documents",
            "int",
            2000,
            N_(
                "Maximum number of documents; a random sample is taken if there are more. Test "
                "documents are left out."
            ),
            low=1,
            high=100_000,
        ),
        Option("seed", "int", 1, N_("Seed of the sample."), low=0, high=MAX_SEED),
    ),
    shows=N_(
        "Shows how predictions change if names or pronouns of your documents are exchanged with "
        "those of another group. Does not show effects of other words of a "
        "group, nor whether gold labels are fair. Kiritchenko and Mohammad 2018."
    ),
    examines=TEXTS,
)
