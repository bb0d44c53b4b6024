"""The texts of a project as a plain text file, which language models are trained on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from workbench.operations.documents.redaction import paragraphs
from workbench.text.document import Document


def write(path: Path, documents: Iterable[Document]) -> int:
    """All texts of the documents, one paragraph per line, with a blank line after each document.

    Returns the number of documents.
    """
    count = 0
    with open(path, "w", encoding="utf-8", errors="replace", newline="\n") as file:
        for document in documents:
            for _field, text in document.texts:
                file.writelines(f"{line}\n" for line in paragraphs(text))
            file.write("\n")
            count += 1
    return count
