"""Packages that Glossbench works without, and the extra that installs each."""

from __future__ import annotations

from workbench.base.i18n import _

EXTRAS = {
    "pyarrow": "parquet",
    "icu4py": "segmenters",
    "pythainlp": "segmenters",
    "umap-learn": "umap",
    "bitsandbytes": "quantized",
    "ray": "cluster",
    "fastapi": "serve",
    "uvicorn": "serve",
}


def advice(package: str) -> str:
    """How to get a package of `EXTRAS`; for users of the window, too, so without a command."""
    return _(
        "It is in the extra “{extra}”, see “Optional packages” in the README.",
        extra=EXTRAS.get(package, package),
    )
