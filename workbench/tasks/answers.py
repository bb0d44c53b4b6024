"""Files of documents to predict, and of predictions: JSON lines. Imports no torch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.text.dataset import record_from_json
from workbench.text.document import TEXT, TEXT_B, Document
from workbench.text.fields import Prediction


def read_documents(path: Path) -> Iterator[Document]:
    """Documents from JSON lines.

    Either the application's own format (its first line is skipped), or objects with text and,
    optionally, text_b, id, key, questions.

    Raises ModelError naming a line that is neither.
    """
    with open(path, encoding="utf-8", errors="surrogatepass", newline="\n") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                raw = json.loads(line)
                if "glossbench" in raw:
                    continue
                yield record_from_json(raw).document if "texts" in raw else _typed(raw, number)
            except (ValueError, KeyError, TypeError) as error:
                raise ModelError(
                    _(
                        "{path}, line {number}: not a document ({error!r}).",
                        path=path,
                        number=number,
                        error=error,
                    )
                ) from error


def _typed(raw: Mapping[str, Any], number: int) -> Document:
    texts = [(name, str(raw[name])) for name in (TEXT, TEXT_B) if name in raw]
    if not texts:
        raise KeyError(TEXT)
    questions = tuple(map(str, raw.get("questions", ())))
    return Document(
        str(raw.get("key", number)), tuple(texts), id=raw.get("id"), questions=questions
    )


def answer(document: Document, prediction: Prediction) -> dict[str, Any]:
    """A line of predictions.jsonl."""
    return {
        "document_id": document.id,
        "key": document.key,
        "text_hash": document.asked_hash,
        "split": document.split,
        "prediction": prediction.to_json(),
    }


def read_answers(path: Path) -> dict[int | None, Prediction]:
    """Predictions of a file by the ids of their documents."""
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return {line["document_id"]: Prediction.from_json(line["prediction"]) for line in lines}


def write_answers(
    file: TextIO,
    documents: Sequence[Document],
    predictions: Sequence[Prediction],
    **more: object,
) -> None:
    for document, prediction in zip(documents, predictions, strict=True):
        file.write(json.dumps({**answer(document, prediction), **more}, ensure_ascii=True) + "\n")
