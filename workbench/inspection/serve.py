"""The host that keeps one model loaded and runs inspectors of the registry on it."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.base.registry import contract_hint, registry
from workbench.inspection import spec
from workbench.inspection.loading import load
from workbench.inspection.predicting import Predicting, document_of
from workbench.inspection.spec import Inspection
from workbench.text.document import TEXT, TEXT_B, Document

WARM = "A few words to begin with."


def open(params: Mapping[str, Any]) -> Answering:
    """Host target. params: as for `loading.load`.

    A request {"inspector": id, "documents": [{"texts": {field: content}, "tokens": {field:
    [[start, end], …]}}], "options": {name: value}} gives Answer.to_plain(). Raises ModelError if
    the folder cannot be loaded.
    """
    subject = load(params)
    subject.warm_up(Document("", ((TEXT, WARM), (TEXT_B, WARM))[: subject.texts]))
    return Answering(Inspecting(subject))


class Answering:
    """Answers requests as plain values. idle_steps: see `jobs.serving.serve`."""

    def __init__(self, inspecting: Inspecting):
        self._inspecting = inspecting
        self.idle_steps = inspecting.load_libraries()

    def __call__(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return self._inspecting.answer(request).to_plain()


class Inspecting:
    """One model, and the inspectors that were used with it so far."""

    def __init__(self, subject: Predicting):
        self.subject = subject
        self._inspectors: dict[str, Any] = {}
        self._counted: tuple[tuple[str, ...], float] | None = None

    def answer(self, request: Mapping[str, Any]) -> Inspection:
        """Raises ModelError if the model lacks what the inspector needs."""
        began = time.perf_counter()
        self.subject.refresh()
        id = str(request["inspector"])
        inspector = self._inspector(id)
        options = spec.options(id, request.get("options") or {})
        documents = [
            document_of(item["texts"], item.get("tokens"), item.get("questions"))
            for item in request["documents"]
        ]
        if not spec.reads_whole(registry().entry("inspector", id), asks=self.subject.asks):
            documents = [self.subject.as_read(document) for document in documents]
        documents = self.subject.segmented(documents)
        result = inspector.run(self.subject, documents, options)
        _check(id, result)
        texts = tuple(content for document in documents for _, content in document.texts)
        return Inspection(id, result, self._unknown(texts), 1000 * (time.perf_counter() - began))

    def load_libraries(self) -> Iterator[str]:
        """Import what inspectors of this model name in the index as `imports`: large libraries that
        only they use. Yields the name of each module after its import.
        """
        for entry in registry().all("inspector"):
            if not spec.missing(entry, self.subject.gives):
                for name in entry.options.get("imports", ()):
                    with suppress(ImportError, OSError):  # the inspector reports it
                        importlib.import_module(name)
                    yield name

    def _unknown(self, texts: tuple[str, ...]) -> float:
        """Fraction of unknown words, cached as inspectors and options change more than the text."""
        if self._counted is None or self._counted[0] != texts:
            self._counted = texts, self.subject.unknown_share(texts)
        return self._counted[1]

    def _inspector(self, id: str) -> Any:
        if id not in self._inspectors:
            lacks = spec.missing(registry().entry("inspector", id), self.subject.gives)
            if lacks:
                raise ModelError(
                    _(
                        "{model} does not provide what the inspector {inspector} requires: "
                        "{needs}.",
                        model=self.subject.name,
                        inspector=id,
                        needs=", ".join(lacks),
                    )
                )
            info = spec.light(id)
            if info is not None and info.examines:
                raise ModelError(
                    _("{inspector} examines the documents of a project.", inspector=id),
                    hint=_("Specify the project with --project."),
                )
            self._inspectors[id] = registry().get("inspector", id)()
        return self._inspectors[id]


def _check(id: str, result: object) -> None:
    """Raises ModelError if an inspector returns something else than its info says."""
    info = spec.light(id)
    if info is not None and not isinstance(result, info.result):
        message = _("The inspector {id} returned {given}, expected {expected}.")
        raise ModelError(
            message.format(id=id, given=type(result).__name__, expected=info.result.__name__),
            hint=contract_hint(id),
        )
