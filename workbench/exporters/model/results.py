"""What an export of a model returns: its files, and how it compares with the original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from workbench.base.i18n import _, ngettext
from workbench.base.records import JsonRecord
from workbench.metrics.evaluation import UNKNOWN, Measured
from workbench.tasks import spec as tasks
from workbench.text.columns import Column, ValueKind

TOLERANCE = 0.01  # of logits; float32 on other kernels differs by less than 0.001
MIN_EQUAL_SHARE = 0.9  # fraction of labels
MAX_DIFFERING = 100  # texts that are named


@dataclass(frozen=True)
class CheckedText(JsonRecord):
    """A text that original and export were compared on.

    is_extreme: an unusual text of ours instead of one of the user's. difference: the largest of the
    logits. expected, answer: the two predictions in words where they differ, else "".
    """

    text: str
    difference: float
    equal: bool
    is_extreme: bool = False
    expected: str = ""
    answer: str = ""


@dataclass(frozen=True)
class Verification(JsonRecord):
    """An exported folder compared with the original model on `texts` documents, `extremes` of which
    are unusual texts: empty, one character, long, emoji, from right to left.

    labels: decisions compared, one per document, for tags one per word, for spans one per predicted
    span. equal_labels: fraction of them that are equal. largest_difference: of logits; for formats
    that give answers alone, of the scores of labels. lossy: see `ExporterInfo`. differing: texts
    with unequal labels, up to MAX_DIFFERING. score: the main score, named `score_name`, on
    the `scored` dev documents that have gold; change: from the original, with the interval of the
    paired bootstrap. ms_1, ms_32: median milliseconds per text alone and in batches of 32,
    tokenization included; None if they were not measured. bytes: of the files. problem: why
    there was no comparison, "" if there was. note: what is to be said of the format, as display
    text. next_tokens: of a language model, whose labels are the most probable next tokens.
    """

    texts: int = 0
    labels: int = 0
    equal_labels: float = 1.0
    largest_difference: float = 0.0
    seconds: float = 0.0
    extremes: int = 0
    lossy: bool = False
    differing: tuple[CheckedText, ...] = ()
    score_name: str = ""
    scored: int = 0
    score: Measured = UNKNOWN
    change: Measured = UNKNOWN
    ms_1: float | None = None
    ms_32: float | None = None
    bytes: int = 0
    problem: str = ""
    note: str = ""
    next_tokens: bool = False

    @property
    def equal(self) -> int:
        return round(self.equal_labels * self.labels)

    @property
    def failed(self) -> bool:
        """Whether the difference is too large for rounding, or more labels differ than those of
        nearly equal scores. Of a lossy format the logits may differ.
        """
        if self.problem:
            return True
        unequal = self.labels - self.equal
        if unequal > max(1, (1 - MIN_EQUAL_SHARE) * self.labels):
            return True
        return not self.lossy and not self.largest_difference <= TOLERANCE

    def sentence(self) -> str:
        """ "60 of 60 labels equal, largest difference 2.4e-06"."""
        if self.problem:
            return self.problem
        if not self.texts:
            return _("There are no texts to verify with.")
        if not self.labels:
            message = ngettext(
                "No labels predicted in {texts:,} text, largest difference {difference:.1e}",
                "No labels predicted in {texts:,} texts, largest difference {difference:.1e}",
                self.texts,
            )
            return message.format(texts=self.texts, difference=self.largest_difference)
        message = ngettext(
            "{equal} of {labels} label equal, largest difference {difference:.1e}",
            "{equal} of {labels} labels equal, largest difference {difference:.1e}",
            self.labels,
        )
        if self.next_tokens:
            message = ngettext(
                "{equal} of {labels} next token equal, largest difference {difference:.1e}",
                "{equal} of {labels} next tokens equal, largest difference {difference:.1e}",
                self.labels,
            )
        return message.format(
            equal=self.equal, labels=self.labels, difference=self.largest_difference
        )


@dataclass(frozen=True)
class ExportedFile:
    path: str
    bytes: int


@dataclass(frozen=True)
class ExportResult(JsonRecord):
    """The outcome of one export.

    folders: format → its folder. checks: format → its comparison with the original; check: the
    most thorough of them. original: score, speed and size of the model itself, None for a language
    model. stored: the model compared with the predictions that are stored with its run, None
    without any. own_head: see `ExporterInfo.loading_code`.
    """

    folders: Mapping[str, str] = field(default_factory=dict)
    files: tuple[ExportedFile, ...] = ()
    check: Verification | None = None
    checks: Mapping[str, Verification] = field(default_factory=dict)
    own_head: bool = False
    seconds: float = 0.0
    stored: Verification | None = None
    original: Verification | None = None

    @property
    def overall(self) -> Verification:
        """The worst of all formats: the check with the fewest equal labels, with the largest
        difference of any.
        """
        checks = [self.check or Verification(), *self.checks.values()]  # the main one wins a tie
        worst = min(checks, key=lambda check: check.equal_labels)
        return replace(worst, largest_difference=max(c.largest_difference for c in checks))

    @property
    def failed(self) -> tuple[str, ...]:
        """Formats that do not give the predictions of the model."""
        return tuple(format for format, check in self.checks.items() if check.failed)

    @property
    def bytes_written(self) -> int:
        return sum(file.bytes for file in self.files)


# ---------------------------------------------------------------- as a table

Row = tuple[str, Verification]  # title of a format, and its comparison


def columns() -> tuple[Column, ...]:
    """Of a table with a row for the original and for each format."""
    return (
        Column(_("Format"), lambda row: row[0], key="title"),
        Column(_("Size"), lambda row: row[1].bytes or None, kind=ValueKind.BYTES, key="bytes"),
        Column(
            _("ms, one text"),
            lambda row: row[1].ms_1,
            kind=ValueKind.NUMBER,
            digits=1,
            key="ms_1",
            hint=_("Milliseconds per text on a CPU, the median of up to 20 texts one by one"),
        ),
        Column(
            _("ms, batches"),
            lambda row: row[1].ms_32,
            kind=ValueKind.NUMBER,
            digits=1,
            key="ms_32",
            hint=_("Milliseconds per text on a CPU, in batches of 32"),
        ),
        Column(
            _("Equal labels"),
            lambda row: row[1].equal if row[1].labels else None,
            kind=ValueKind.COUNT,
            key="equal",
            display=lambda row: (
                _("{equal:,} of {labels:,}", equal=row[1].equal, labels=row[1].labels)
                if row[1].labels
                else None
            ),
        ),
        Column(
            _("Largest difference"),
            lambda row: row[1].largest_difference if row[1].labels else None,
            display=lambda row: f"{row[1].largest_difference:.1e}" if row[1].labels else None,
            kind=ValueKind.NUMBER,
            key="largest_difference",
        ),
        Column(
            _("Score"),
            lambda row: row[1].score.value,
            display=lambda row: score_text(row[1].score, row[1].score_name),
            kind=ValueKind.NUMBER,
            key="score",
            hint=_("On dev documents with gold, with its 95% interval"),
        ),
        Column(
            _("Change"),
            lambda row: row[1].change.value,
            display=lambda row: score_text(row[1].change, row[1].score_name, signed=True),
            kind=ValueKind.NUMBER,
            key="change",
            hint=_("From the original, with the 95% interval, paired over documents"),
        ),
    )


def score_text(score: Measured, name: str, *, signed: bool = False) -> str | None:
    """ "84.1 (75.0 – 91.4)", "+0.3 (−0.2 to +0.9)"; None if it is not known. name: of the score."""
    if score.value is None:
        return None
    value = tasks.score_text(name, score.value, signed=signed)
    if score.interval is None:
        return value
    low, high = (tasks.score_text(name, end, signed=signed) for end in score.interval)
    if signed:
        return _("{value} ({low} to {high})", value=value, low=low, high=high)
    return f"{value} ({low} – {high})"
