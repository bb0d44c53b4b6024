"""Recognizes and describes files of static word vectors. Imports no torch and reads no vectors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import learning_rates
from workbench.base.errors import ModelError
from workbench.base.i18n import N_, _
from workbench.models.spec.info import FamilyInfo, Match, ModelInfo
from workbench.text.segmenters import stored
from workbench.text.segmenters.base import DEFAULT

if TYPE_CHECKING:
    from workbench.runtime.preparers.vectors import VectorWords
    from workbench.runtime.vectors.files import FileHeader

MAX_WORDS = 10_000  # maximum words of an input; vectors have no limit of their own
COUNTED = 1 << 28  # bytes of a GloVe file whose lines are counted for the card, in 0.1 s
EXPORTED = "vectors.json"  # of an exported folder, which has no vectors
UNKNOWN_VECTOR = "unknown.npy"  # beside a saved file that has no row for unknown words


class VectorsInfo(FamilyInfo):
    id = "vectors"
    title = N_("Static word vectors")
    saved_as = N_("Word vectors")
    architectures = frozenset(("vectors",))
    holds = N_(
        "A file of word vectors is in the format of word2vec, GloVe or fastText; a folder holds "
        "one such file."
    )

    def match(self, path: Path) -> Match:
        from workbench.runtime.vectors import files

        file, problems = files.file_of(path)
        if file is None:
            return Match.SURE if problems else Match.NO
        header, problems = files.header(file)
        if header is not None:  # text without any mark may be claimed by a plugin
            return Match.SURE if path.is_dir() or not header.is_text else Match.LIKELY
        return Match.LIKELY if problems else Match.NO

    def read(self, path: Path, *, allow_pickle: bool) -> ModelInfo:
        from workbench.runtime.vectors import ends, files

        file, problems = files.file_of(path)
        header = None
        if file is not None:
            header, problems = files.header(file)
            if header is not None and not problems:
                problems = ends.problems(file, header)
        words = _words(file, header) if file and header else 0
        width = header.width if header else 0
        return ModelInfo(
            "",
            str(path),
            architecture="vectors",
            parameters=(words + header.buckets) * width if header and words else 0,
            width=width,
            vocabulary=words,
            max_length=MAX_WORDS,
            gives=("states", "word_vectors"),
            dtype="float32",
            problems=tuple(problems),
            learning_rate=learning_rates.WORD_VECTORS,
        )

    def near_miss(self, path: Path) -> str:
        from workbench.runtime.vectors import ends, files

        candidates = files.candidates(path)
        return ends.near_miss(candidates[0]) if len(candidates) == 1 else ""

    def shapes(self, path: Path) -> Mapping[str, tuple[int, ...]]:
        from workbench.runtime.vectors import files

        file = self.file(path)
        header, _problems = files.header(file)
        if header is None or not (words := _words(file, header)):
            return {}
        ngrams = {"ngrams": (header.buckets, header.width)} if header.buckets else {}
        return {"vectors": (words, header.width), **ngrams}

    def preparer(self, path: Path) -> VectorWords:
        from workbench.runtime.preparers.vectors import VectorWords
        from workbench.runtime.vectors import store

        if (path / EXPORTED).is_file():
            return VectorWords.load(path)
        opened = store.open_file(self.file(path))
        preparer = VectorWords(opened.words, opened.ngrams)
        preparer.segmenter = self.segmenter(path)
        return preparer

    def segmenter(self, path: Path, settings: Mapping[str, Any] | None = None) -> str:
        """The segmenter of a saved folder, else that of the file of vectors."""
        id = super().segmenter(path)
        return stored.read(self.file(path)) if id == DEFAULT else id

    def weight_files(self, path: Path) -> tuple[Path, ...]:
        beside = path / UNKNOWN_VECTOR
        return (self.file(path), *((beside,) if beside.is_file() else ()))

    def file(self, path: Path) -> Path:
        """The file of vectors at a path. Raises ModelError if there is none, or several."""
        from workbench.runtime.vectors import files

        file, problems = files.file_of(path)
        if file is None:
            message = "; ".join(problems) or _("it contains no file of word vectors")
            raise ModelError(_("{path} cannot be used: {problem}.", path=path, problem=message))
        return file


def _words(path: Path, header: FileHeader) -> int:
    """The number of words; 0 if only reading a large file to its end would tell."""
    from workbench.runtime.vectors import files, store

    if header.words:
        return header.words
    if store.is_indexed(path):
        return len(store.open_file(path).words)
    return files.lines_of(path) if path.stat().st_size <= COUNTED else 0


INFO = VectorsInfo()
