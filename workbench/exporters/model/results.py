"""What an export of a model returns: its files, and how it compares with the original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.base.i18n import _, ngettext
from workbench.base.records import JsonRecord, to_plain

TOLERANCE = 0.01  # of logits; float32 on other kernels differs by less than 0.001
MIN_EQUAL_SHARE = 0.9  # fraction of labels


@dataclass(frozen=True)
class Speed:
    """Median milliseconds per text, tokenization included."""

    torch_ms: float
    onnx_ms: float


@dataclass(frozen=True)
class Verification:
    """An exported folder compared with the original model on `texts` documents.

    labels: decisions compared, one per document, for tags one per word, for spans one per predicted
    span. equal_labels: fraction of them that are equal. largest_difference: of logits. speed: None
    if it was not measured.
    """

    texts: int = 0
    labels: int = 0
    equal_labels: float = 1.0
    largest_difference: float = 0.0
    seconds: float = 0.0
    speed: Speed | None = None

    @property
    def equal(self) -> int:
        return round(self.equal_labels * self.labels)

    @property
    def failed(self) -> bool:
        """Whether the difference is too large for rounding, or more labels differ than those of
        nearly equal scores.
        """
        unequal = self.labels - self.equal
        return not self.largest_difference <= TOLERANCE or unequal > max(
            1, (1 - MIN_EQUAL_SHARE) * self.labels
        )

    def sentence(self) -> str:
        """ "60 of 60 labels equal, largest difference 2.4e-06"."""
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
        return message.format(
            equal=self.equal, labels=self.labels, difference=self.largest_difference
        )

    def to_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = to_plain(self)
        if self.speed is None:
            del plain["speed"]
        return plain


@dataclass(frozen=True)
class ExportedFile:
    path: str
    bytes: int


@dataclass(frozen=True)
class ExportResult(JsonRecord):
    """The outcome of one export.

    folders: format → its folder. checks: format → its comparison with the original; check: the
    most thorough of them. stored: the model compared with the predictions that are stored with its
    run, None without any. own_head: see `ExporterInfo.loading_code`.
    """

    folders: Mapping[str, str] = field(default_factory=dict)
    files: tuple[ExportedFile, ...] = ()
    check: Verification | None = None
    checks: Mapping[str, Verification] = field(default_factory=dict)
    own_head: bool = False
    seconds: float = 0.0
    stored: Verification | None = None

    @property
    def overall(self) -> Verification:
        """The worst of all formats: the check with the fewest equal labels, with the largest
        difference of any.
        """
        checks = [self.check or Verification(), *self.checks.values()]  # the main one wins a tie
        worst = min(checks, key=lambda check: check.equal_labels)
        return replace(worst, largest_difference=max(c.largest_difference for c in checks))

    @property
    def bytes_written(self) -> int:
        return sum(file.bytes for file in self.files)

    def to_json(self) -> dict[str, Any]:
        checks = {format: check.to_json() for format, check in self.checks.items()}
        others = {name: getattr(self, name) for name in ("check", "stored")}
        plain = {name: check and check.to_json() for name, check in others.items()}
        return {**to_plain(self), **plain, "checks": checks}
