"""A tiny seeded ELMo model in the files of AllenNLP: two layers of width 2 × 6."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

OPTIONS = {
    "lstm": {
        "use_skip_connections": True,
        "projection_dim": 6,
        "cell_clip": 3,
        "proj_clip": 3,
        "dim": 10,
        "n_layers": 2,
    },
    "char_cnn": {
        "activation": "relu",
        "filters": [[1, 3], [2, 4], [3, 5]],
        "n_highway": 1,
        "embedding": {"dim": 4},
        "n_characters": 262,
        "max_characters_per_token": 12,
    },
}
WORDS = ("<S>", "</S>", "<UNK>", "the", "tram", "was", "late", ".", "bus")


def make(folder: Path, *, softmax: bool = False, seed: int = 0, **changed: object) -> Path:
    """Write the folder of a model; `changed` replaces options of its LSTM or its CNN."""
    import h5py

    from workbench.models.families.elmo.info import options as configs

    raw = {part: dict(values) for part, values in OPTIONS.items()}
    for name, value in changed.items():
        part = "lstm" if name in raw["lstm"] else "char_cnn"
        raw[part][name] = value
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "options.json").write_text(json.dumps(raw), encoding="utf-8")
    draw = np.random.default_rng(seed)
    sizes = configs.sizes(raw, [])
    with h5py.File(folder / "weights.hdf5", "w") as file:
        for name, shape in configs.shapes(sizes).items():
            file.create_dataset(name, data=draw.normal(0, 0.4, shape).astype(np.float32))
    if softmax:
        with h5py.File(folder / "softmax_weights.hdf5", "w") as file:
            shape = (len(WORDS), sizes.projection)
            file.create_dataset("softmax/W", data=draw.normal(size=shape).astype(np.float32))
            file.create_dataset("softmax/b", data=draw.normal(size=shape[0]).astype(np.float32))
        (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    return folder
