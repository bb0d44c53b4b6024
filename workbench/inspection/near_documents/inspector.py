"""The documents of a project that are nearest to a text: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.inspection.corpus.index import CorpusIndex
from workbench.inspection.corpus.vectors import DOCUMENT, text_vectors
from workbench.inspection.near_documents.info import INFO, NearDocument, NearDocuments
from workbench.inspection.subject import Subject
from workbench.text.document import Document


class NearDocumentsInspector:
    """For every model with states. Computed from an index of the documents, see `corpus`."""

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> NearDocuments:
        """Without an index, no documents. Raises ModelError if it cannot be read, or for an empty
        text, and SpecError for a layer that the index does not hold.
        """
        (document,) = documents
        if not options["index"]:
            return NearDocuments((), -1, (), 0, 0)
        if not document.text.strip():
            raise ModelError(
                _("There is no text to compare with the documents."),
                hint=_("Type a text, or pick a document."),
            )
        index = CorpusIndex(options["index"])
        layer = index.existing_layer(options["layer"])
        vector = text_vectors(subject, document, DOCUMENT, 0, max(1, len(document.text)))[layer]
        cosines = index.cosines(layer, vector)
        most = min(options["top"], len(cosines))
        best = np.argpartition(-cosines, most - 1)[:most] if most else np.zeros(0, np.int64)
        best = best[np.argsort(-cosines[best], kind="stable")]
        ids = index.places[best, 0].tolist()
        near = tuple(
            NearDocument(id, line["key"], line["text"], float(cosine))
            for id, line, cosine in zip(ids, index.lines(best), cosines[best], strict=True)
        )
        return NearDocuments(near, layer, index.layers, index.count, index.total)
