"""Query and download models of the Hugging Face hub into its cache, on request of the user only.

`HF_ENDPOINT`, `HF_HOME`, `HF_HUB_OFFLINE` and a stored token are used as in huggingface_hub.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

from workbench.base.errors import ModelError, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.registry import registry
from workbench.models import spec
from workbench.models.results import (
    Download,
    Repository,
    RepositoryFile,
    SearchHit,
    SearchResult,
)
from workbench.models.spec import downloads, places
from workbench.models.spec.info import FamilyInfo

if TYPE_CHECKING:
    from types import TracebackType

SMALL_FILES = (
    "config.json",
    "generation_config.json",
    "README.md",
    "LICENSE",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "special_tokens_map.json",
    "added_tokens.json",
)
TOKENIZERS = (
    "tokenizer.json",
    "tokenizer_config.json",
    "spiece.model",
    "spm.model",
    "tokenizer.model",
    "sentencepiece.bpe.model",
)
MAX_HITS = 20  # models that a search returns of each format
BLOCK = 1 << 20  # bytes per read
NETWORK = ("httpx", "httpx2", "httpcore", "httpcore2", "huggingface_hub")  # modules of its errors


def look_up(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target. params: id, revision (default main).

    Returns a Repository as JSON. Raises ModelError for an unknown id or a repository without
    loadable weights.
    """
    yield {
        "kind": "log",
        "line": _("Querying {endpoint} for {model}…", endpoint=_endpoint(), model=params["id"]),
    }
    with _explained(params["id"]):
        return _described(params["id"], params.get("revision") or None).to_json()


def search(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target. params: words. Returns a SearchResult as JSON: at most MAX_HITS models of each
    supported format, most downloaded first.
    """
    words = params["words"]
    yield {"kind": "log", "line": _("Searching {endpoint}…", endpoint=_endpoint())}
    infos = [info for info in registry().infos("family") if info.library]
    with _explained(words):
        matches = [hit for info in infos for hit in _hits(info, words)]
    hits = {hit.id: hit for hit in sorted(matches, key=lambda hit: -hit.downloads)}
    return SearchResult(tuple(hits.values())).to_json()


def _hits(info: FamilyInfo, words: str) -> Iterator[SearchHit]:
    """The models of one format. Transformers are known by the tag of their architecture, as some
    belong to other libraries; the others by that of their library.
    """
    from huggingface_hub import HfApi

    known = info.architectures
    every = HfApi().list_models(
        search=words,
        filter=None if known else info.library,
        sort="downloads",
        limit=2 * MAX_HITS,
    )
    tagged = (
        (model, next((tag for tag in model.tags or () if tag in known), "")) for model in every
    )
    usable = ((model, family or info.id) for model, family in tagged if family or not known)
    for model, family in islice(usable, MAX_HITS):
        licence = _licence({}, model.tags or ())
        yield SearchHit(model.id, int(model.downloads or 0), family, licence, info.library)


def download(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target. params: id, revision, allow_pickle.

    Yields {"kind": "progress", "step", "total", "file"} (bytes). Returns a Download as JSON.

    "stop" and close both end it. Finished files stay in the cache; the next attempt resumes an
    unfinished one.

    Raises ModelError for pickled weights that the user has not allowed.
    """
    with _explained(params["id"]):
        repository = _described(params["id"], params.get("revision") or None)
        if repository.pickled and not params.get("allow_pickle"):
            raise ModelError(
                _(
                    "{model} has only pickled weights, which can execute arbitrary code.",
                    model=repository.id,
                ),
                hint=_(
                    "Confirm that you trust its source, or choose a model with model.safetensors."
                ),
            )
        done, path, stopped = 0, "", False
        for file in repository.files:
            for part in _fetched(repository.id, repository.revision, file.name, file.bytes):
                command = yield {
                    "kind": "progress",
                    "step": done + part,
                    "total": repository.size_bytes,
                    "file": file.name,
                }
                stopped = stopped or command == "stop"
                if stopped:
                    return Download(repository.id, stopped=True).to_json()
            done += file.bytes
            path = _settle(
                repository.id, repository.revision, params.get("revision") or "main", file.name
            )
    info = spec.read_folder(
        Path(path).parent,
        allow_pickle=bool(params.get("allow_pickle")),
        name=repository.id,
        origin="cache",
    )
    return Download(repository.id, info.path, card=info.to_json()).to_json()


# ---------------------------------------------------------------- repository contents


def _supported(model_id: str, architecture: str) -> str:
    """The architecture, "" if it is unknown. Raises ModelError if no family loads it."""
    if architecture and architecture not in (known := spec.known_architectures()):
        raise ModelError(
            _(
                "{model} is a {family} model, which is not supported.",
                model=model_id,
                family=architecture,
            ),
            hint=_("Supported families: {families}.", families=", ".join(sorted(known))),
        )
    return architecture


def _described(model_id: str, revision: str | None) -> Repository:
    from huggingface_hub import HfApi

    about = HfApi().model_info(model_id, revision=revision, files_metadata=True)
    sizes = {sibling.rfilename: int(sibling.size or 0) for sibling in about.siblings or ()}
    has_config = places.CONFIG in sizes
    weights, pickled = _weights(sizes)
    of_family = ""
    if not has_config:  # no model of transformers
        weight_names, of_family = places.without_config(sizes)
        weights, pickled = list(weight_names), True
    names = [text for text in (*SMALL_FILES, *TOKENIZERS) if text in sizes] + weights
    if not weights:
        missing = spec.WEIGHTS if has_config else places.CONFIG
        raise ModelError(
            _(
                "{model} cannot be used: its repository has no {missing}.",
                model=model_id,
                missing=missing,
            ),
            hint=_("Choose a model in the format of the transformers library or of Flair."),
        )
    config = about.config if isinstance(about.config, dict) else {}
    family = of_family or _supported(model_id, str(config.get("model_type") or ""))
    card = about.card_data.to_dict() if about.card_data else {}
    return Repository(
        id=about.id or model_id,
        revision=about.sha or "",
        licence=_licence(card, about.tags or ()),
        size_bytes=sum(sizes[name] for name in names),
        files=tuple(RepositoryFile(name, sizes[name]) for name in names),
        pickled=pickled,
        family=family,
        gated=bool(about.gated),
    )


def _weights(sizes: Mapping[str, int]) -> tuple[list[str], bool]:
    """Weight files at the top of the repository, preferably safetensors; whether pickled."""
    for single, index, shards, pickled in (
        (spec.WEIGHTS, spec.INDEX, ("model-", ".safetensors"), False),
        (spec.PICKLE, f"{spec.PICKLE}.index.json", ("pytorch_model-", ".bin"), True),
    ):
        if single in sizes:
            return [single], pickled
        shard_names = sorted(
            size
            for size in sizes
            if "/" not in size and size.startswith(shards[0]) and size.endswith(shards[1])
        )
        if shard_names and index in sizes:
            return [index, *shard_names], pickled
    return [], False


def _licence(card: Mapping[str, Any], tags: Sequence[str]) -> str:
    licence = card.get("license")
    if isinstance(licence, list):
        licence = ", ".join(map(str, licence))
    return str(
        licence or next((tag.split(":", 1)[1] for tag in tags if tag.startswith("license:")), "")
    )


# ---------------------------------------------------------------- download


def _fetched(model_id: str, revision: str, name: str, size: int) -> Iterator[int]:
    """Download one file into the cache's blobs; yields the bytes so far several times a second."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    url = hf_hub_url(model_id, name, revision=revision)
    about = get_hf_file_metadata(url)
    blob = _blob(model_id, about.etag)
    if not blob.exists():
        draft = blob.with_name(f"{blob.name}.glossbench-part")
        blob.parent.mkdir(parents=True, exist_ok=True)
        draft.touch()
        downloads.record(_repository(model_id), [draft])
        yield from _stream(about.location, url, draft, about.size or size)
        _verify(draft, about.etag or "", about.size, name)
        os.replace(draft, blob)
        downloads.record(_repository(model_id), [blob])
    yield size


def _repository(model_id: str) -> Path:
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE) / f"models--{model_id.replace('/', '--')}"


def _blob(model_id: str, etag: str | None) -> Path:
    if not etag or PurePosixPath(etag).name != etag or etag.startswith("."):
        raise ModelError(_("The server returned an invalid file name for {model}.", model=model_id))
    return _repository(model_id) / "blobs" / etag


def _stream(location: str, origin: str, draft: Path, size: int) -> Iterator[int]:
    """Append the missing part of the file; servers without range requests send it completely."""
    from huggingface_hub import get_session
    from huggingface_hub.utils import (  # type: ignore[attr-defined]  # public, not in __all__
        build_hf_headers,
        hf_raise_for_status,
    )

    there = draft.stat().st_size if draft.exists() else 0
    if there > size:
        draft.unlink()
        there = 0
    headers = build_hf_headers() if urlparse(location).netloc == urlparse(origin).netloc else {}
    headers["Accept-Encoding"] = "identity"
    if there:
        headers["Range"] = f"bytes={there}-"
    if there == size and size:
        return
    with get_session().stream("GET", location, headers=headers, follow_redirects=True) as response:
        hf_raise_for_status(response)
        resumed = there and response.status_code == 206
        with open(draft, "ab" if resumed else "wb") as file:
            done, reported = (there if resumed else 0), 0.0
            for block in response.iter_bytes(BLOCK):
                file.write(block)
                done += len(block)
                if time.monotonic() - reported > 0.1:
                    reported = time.monotonic()
                    yield done


def _verify(draft: Path, etag: str, size: int | None, name: str) -> None:
    """Check the size and, for large files (named by their SHA-256), the content."""
    if size is not None and draft.stat().st_size != size:
        actual = draft.stat().st_size
        raise ModelError(
            ngettext(
                "{name} has {found:,} byte after the download, expected {size:,}.",
                "{name} has {found:,} bytes after the download, expected {size:,}.",
                actual,
                name=name,
                found=actual,
                size=size,
            ),
            hint=_("Try again: the download resumes where it stopped."),
        )
    if len(etag) == 64:
        with open(draft, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != etag:
            draft.unlink()
            raise ModelError(
                _("{name} was damaged during the download (wrong SHA-256).", name=name),
                hint=_("Try again."),
            )


def _settle(model_id: str, revision: str, reference: str, name: str) -> str:
    """Let huggingface_hub add a blob to the snapshot; returns the path of the file there."""
    from huggingface_hub import hf_hub_download

    repository = _repository(model_id)
    entries = [repository / "snapshots" / revision / name]
    if reference != revision and PurePosixPath(reference).name == reference:
        entries.append(repository / "refs" / reference)
    created = [path for path in entries if not os.path.lexists(path)]
    path = hf_hub_download(model_id, name, revision=revision)
    for ref in entries[1:]:
        ref.parent.mkdir(parents=True, exist_ok=True)
        ref.write_text(revision, encoding="utf-8")
    downloads.record(repository, created)
    return path


# ---------------------------------------------------------------- errors


def _endpoint() -> str:
    from huggingface_hub import constants

    return constants.ENDPOINT


class _explained:
    """Convert errors of the library and the network into messages for the user."""

    def __init__(self, model_id: str):
        self.model_id = model_id

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, WorkbenchError):
            explained = self._explained(error)
            if explained is not None:
                raise explained from error

    def _explained(self, error: Exception) -> ModelError | None:
        """The error in words for the user; None for one that is not of the hub or the network."""
        from huggingface_hub import errors

        if isinstance(error, errors.GatedRepoError):
            return ModelError(
                _(
                    "{model} is available only to users who accepted its terms on the hub.",
                    model=self.model_id,
                ),
                hint=_("Accept the terms there and log in with `hf auth login`."),
            )
        if isinstance(error, errors.RevisionNotFoundError):
            return ModelError(_("{model} has no such revision.", model=self.model_id))
        if isinstance(error, (errors.RepositoryNotFoundError, errors.HFValidationError)):
            return ModelError(
                _(
                    "There is no model {model!r} on {endpoint}.",
                    model=self.model_id,
                    endpoint=_endpoint(),
                ),
                hint=_("Check the spelling: an id looks like distilbert/distilbert-base-uncased."),
            )
        if isinstance(error, errors.OfflineModeIsEnabled):
            return ModelError(_("Offline mode is on (HF_HUB_OFFLINE): downloads are disabled."))
        if isinstance(error, OSError) or type(error).__module__.split(".")[0] in NETWORK:
            return ModelError(
                _(
                    "{model} could not be downloaded from {endpoint}: {error}",
                    model=self.model_id,
                    endpoint=_endpoint(),
                    error=str(error)[:200] or type(error).__name__,
                ),
                hint=_("Check the network connection and try again. Finished files are kept."),
            )
        return None
