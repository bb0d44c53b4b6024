"""What jobs that query or download models of the Hugging Face hub return. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.base.records import JsonRecord


@dataclass(frozen=True)
class RepositoryFile:
    name: str
    bytes: int


@dataclass(frozen=True)
class Repository(JsonRecord):
    """A model of the hub: the files that would be downloaded, and what its card says.

    revision: commit. licence, family: "" if not stated. pickled: whether it has only pickled
    weights. gated: whether its terms must be accepted on the hub first.
    """

    id: str
    revision: str = ""
    licence: str = ""
    size_bytes: int = 0
    files: tuple[RepositoryFile, ...] = ()
    pickled: bool = False
    family: str = ""
    gated: bool = False


@dataclass(frozen=True)
class Download(JsonRecord):
    """The outcome of a download. path: folder in the cache, "" if it was stopped; card: as
    `ModelInfo.to_json`.
    """

    id: str = ""
    path: str = ""
    stopped: bool = False
    card: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchHit:
    """A model that a search of the hub found; family and licence as in Repository.

    format: the library whose format it has: "transformers", "flair".
    """

    id: str
    downloads: int = 0
    family: str = ""
    licence: str = ""
    format: str = ""


@dataclass(frozen=True)
class SearchResult(JsonRecord):
    """Models of supported families, most downloaded first."""

    hits: tuple[SearchHit, ...] = ()
