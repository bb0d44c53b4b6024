"""Documents or uses of a word as points in a plane: the heavy part, which reads a computed map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.inspection.base import words_of
from workbench.inspection.corpus.index import CorpusIndex, unit
from workbench.inspection.corpus.spec import DOCUMENTS, PCA
from workbench.inspection.corpus.vectors import DOCUMENT, WORD, text_vectors, use_at
from workbench.inspection.document_map.info import INFO, DocumentMap
from workbench.inspection.subject import Subject
from workbench.text.document import Document


class DocumentMapInspector:
    """For every model with states. Computed from an index, see `corpus`."""

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> DocumentMap:
        """Without an index, no points. Raises ModelError if index or map cannot be read, and
        SpecError for a layer or a use that does not exist.
        """
        (document,) = documents
        method = options["method"]
        if not options["index"]:
            none = np.zeros(0, np.int64)
            points = np.zeros((0, 2), np.float32)
            return DocumentMap(points, none, none, none, none, method, -1, (), 0, 0)
        index = CorpusIndex(options["index"])
        layer = index.existing_layer(options["layer"])
        try:
            with np.load(options["map"], allow_pickle=False) as file:
                map = dict(file)
        except (OSError, ValueError) as error:
            raise ModelError(
                _("The map cannot be read: {error}.", error=error),
                hint=_("Run the view again; the map is then computed again."),
            ) from error
        places = index.places[map["rows"]]
        here: tuple[float, ...] = ()
        if method == PCA and (place := _place(document, options)) is not None:
            vector = unit(text_vectors(subject, document, *place)[layer])
            here = tuple(((vector - map["mean"]) @ map["axes"]).tolist())
        return DocumentMap(
            map["points"],
            places[:, 0].copy(),
            places[:, 1].copy(),
            places[:, 2].copy(),
            map["clusters"],
            method,
            layer,
            index.layers,
            index.count,
            index.total,
            tuple(map["shares"].tolist()) if method == PCA else (),
            here,
        )


def _place(document: Document, options: Mapping[str, Any]) -> tuple[str, int, int] | None:
    """(unit, start, end) of the text or of its use of the word, None without one."""
    if options["of"] == DOCUMENTS:
        return (DOCUMENT, 0, len(document.text)) if document.text.strip() else None
    forms = options["word"].casefold().split()
    words = words_of(document, 1)
    at = use_at(words, forms, options["start"])
    return (WORD, words[at].start, words[at].end) if at >= 0 else None
