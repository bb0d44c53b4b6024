"""Opens the run or model that a request names, without torch for baselines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.baselines import spec as baselines
from workbench.inspection.predicting import (
    BaselineSubject,
    EnsembleMember,
    EnsembleSubject,
    Predicting,
)


def load(params: Mapping[str, Any]) -> Predicting:
    """The run or model that a request names. Raises ModelError if it cannot be loaded.

    params: model (folder), allow_pickle, device, weights; members (of an ensemble): for each its
    name, model and allow_pickle.
    """
    if members := params.get("members"):
        return EnsembleSubject(
            [
                EnsembleMember(str(item["name"]), load({**params, **item, "members": ()}))
                for item in members
            ]
        )
    folder = Path(str(params["model"]))
    if baselines.kind_of(folder):
        return BaselineSubject(folder)
    from workbench.inspection.subject import Subject
    from workbench.models import device as devices

    devices.use_threads()
    return Subject(
        folder,
        device=str(params.get("device") or "auto"),
        allow_pickle=bool(params.get("allow_pickle")),
        weights=str(params.get("weights") or "auto"),
    )
