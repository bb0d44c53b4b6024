"""What was proved of the sessions of a run, with which it predicts faster. Light.

A session lies beside the model of a run (`FOLDER`) and reads the weights from there; `INT8` has
weights of 8 bits, once their cost was measured. One is used only if this installation has written
it, for these weights, with these versions; anything else is as none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from workbench.base import checksums, owned_folder, settings
from workbench.base.i18n import _
from workbench.base.records import JsonRecord
from workbench.version import __version__

FOLDER, INT8, PROOF = "session", "int8", "proof.json"
MODEL = "model"  # the folder beside them
TOLERANCE = 1e-3  # of float32 numbers, relative to the largest one above 1


@dataclass(frozen=True)
class Proof(JsonRecord):
    """How a session compares with torch, on texts of the project and on extreme ones.

    model: digests of the files that the weights are in. reason: why there is no session. labels:
    decisions that were compared (see `TaskInfo.decisions`), `equal` of them were equal. difference:
    the largest of logits, see `tasks.agreement.difference`. torch_seconds, session_seconds: CPU
    time for the logits of all texts. least: the share of equal labels from which it is used; below
    1 only labels count, as with weights of 8 bits, whose times are in their table.
    """

    model: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    texts: int = 0
    labels: int = 0
    equal: int = 0
    difference: float = 0.0
    torch_seconds: float = 0.0
    session_seconds: float = 0.0
    least: float = 1.0

    @property
    def against(self) -> str:
        """Why the session is not used, "" if it is."""
        if self.reason:
            return self.reason
        is_close = self.least < 1 or self.difference <= TOLERANCE
        if self.equal < self.least * self.labels or not is_close:
            return _(
                "the share of equal labels is {share:.2%}, the largest difference {difference:.1e}",
                share=self.equal / max(1, self.labels),
                difference=self.difference,
            )
        if self.least == 1 and self.session_seconds >= self.torch_seconds:
            return _(
                "it takes {session:.2f} s, and torch {torch:.2f} s",
                session=self.session_seconds,
                torch=self.torch_seconds,
            )
        return ""


def folder_of(model: Path, name: str = FOLDER) -> Path | None:
    """Where the session of a model folder lies (name: FOLDER or INT8); None where none is made, as
    of models that are not in the folder of a run.
    """
    run = model.parent
    return run / name if model.name == MODEL and owned_folder.is_owned(run) else None


def proof_of(model: Path, name: str = FOLDER) -> Proof | None:
    """The proof of a session of a model folder, None unless it is of this model and valid."""
    folder = folder_of(model, name)
    if folder is None or not checksums.is_ours(folder):
        return None
    try:
        proof = Proof.from_json(json.loads((folder / PROOF).read_text(encoding="utf-8")))
        same = proof.model == checksums.of(model) and proof.versions == versions()
    except (OSError, ValueError, TypeError, LookupError):
        return None
    return proof if same else None


def usable(model: Path, name: str = FOLDER) -> Path | None:
    """The folder of a session that is to be used where a CPU predicts, None without one."""
    proof = proof_of(model, name) if settings.load().sessions else None
    return folder_of(model, name) if proof is not None and not proof.against else None


def is_missing(model: Path) -> bool:
    """Whether a session of the model folder could be made and has not been tried."""
    return settings.load().sessions and folder_of(model) is not None and proof_of(model) is None


def versions() -> dict[str, str]:
    return {
        "glossbench": __version__,
        **{name: version(name) for name in ("onnxruntime", "torch", "numpy")},
    }
