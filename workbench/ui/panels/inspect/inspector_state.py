"""One inspector on the Inspect page: its options and its result for the current text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from workbench.base import deprecation
from workbench.base.errors import details_of
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.inspection import spec
from workbench.inspection.spec import QUESTIONS, Inspection, InspectorInfo, light

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from workbench.base.options import Option
    from workbench.operations.inspecting.inspect import (
        DocumentGold,
        InspectableModel,
        InspectorChoice,
    )
    from workbench.operations.inspecting.retained_samples import KeptSample
    from workbench.project.project import Project
    from workbench.text.document import Document
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.inspect.corpus import PageDocuments
    from workbench.ui.project.indexing import Build, Indexing

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, Shown="InspectorState")


class InspectPage(Protocol):
    """What an inspector and its view know of their page; see `state.InspectState`."""

    context: PanelContext
    project: Project
    corpus: PageDocuments
    choice: InspectableModel | None
    choices: tuple[InspectableModel, ...]
    document: Document | None
    document_id: int | None
    gold: DocumentGold | None
    labels: Mapping[str, Any]
    chosen_token: int | None
    chosen_head: tuple[int, int] | None
    chosen_documents: tuple[int, ...]
    view: str
    second: str

    def type_text(self, text: str, text_b: str | None = None) -> None: ...
    def pick(self, document_id: int) -> None: ...
    def correct(self) -> None: ...
    def choose_token(self, number: int | None) -> None: ...
    def choose_head(self, layer: int, head: int) -> None: ...
    def compare(self, spans: Sequence[Any]) -> tuple[Any, ...]: ...
    def save(self, write: Callable[[], object], path: Path) -> None: ...
    def save_matrix(self, path: Path, values: Any, names: Sequence[str]) -> None: ...
    def save_rows(self, path: Path, rows: Sequence[Sequence[object]]) -> None: ...
    def save_result(self, path: Path, result: Any) -> None: ...
    def kept_samples(self) -> tuple[KeptSample, ...]: ...
    def keep_sample(self, text: str, settings: Mapping[str, Any]) -> None: ...
    def drop_sample(self, sample: KeptSample) -> None: ...
    def ask_host(
        self,
        state: InspectorState,
        options: Mapping[str, Any],
        done: Callable[[Inspection], None],
        failed: Callable[[Exception], None],
    ) -> None: ...


class InspectorState(State):
    """The state passed to a view. `page` has the document, gold, labels and the selected token.

    result: what the inspector returned, None if there is none for the current text; `answer` is
    the result with its metadata. options: those that differ from the defaults. asking: whether
    a request is running; continuing: for a further part of the shown result, while the view is
    open. error: why there is no result; details: its traceback, if any. build: the index that a
    request waits for.
    needs_text: whether there is nothing to show without a result for the text.
    """

    needs_text = True

    def __init__(self, page: InspectPage, id: str):
        super().__init__()
        self.page, self.id = page, id
        self.result: Any = None
        self.answer: Inspection | None = None
        self.options: dict[str, Any] = {}
        self.asking, self.error, self.details = False, "", ""
        self.continuing, self._whole = False, False
        self.build: Build | None = None
        self._indexing: Indexing | None = None

    @property
    def info(self) -> InspectorInfo | None:
        return light(self.id)

    def option(self, name: str) -> Any:
        """The current value of an option."""
        return self.options[name] if name in self.options else self.default(name)

    def default(self, name: str) -> Any:
        """The default value of an option."""
        option = self.described(name)
        return option.default if option is not None else None

    def suggestions(self, name: str) -> tuple[str, ...]:
        """Texts that can be offered for an option."""
        option = self.described(name)
        return tuple(option.suggestions()) if option and option.suggestions else ()

    def described(self, name: str) -> Option | None:
        """The description of an option, None if the inspector has no such option."""
        options = self.info.options if self.info is not None else ()
        return next((option for option in options if option.name == name), None)

    def set_options(self, **values: Any) -> None:
        """Set options and run again; the previous result stays until the new one arrives."""
        if any(self.option(name) != value for name, value in values.items()):
            self.update(options={**self.options, **values})
            self.ask()

    def forget(self, *, model: bool = False) -> None:
        """Discard the result after a change of the text or of the model.

        Options of the text are reset to their defaults; with another `model`, all options are.
        """
        self._drop()
        of_text = self.info.of_text if self.info is not None else ()
        remaining = {key: value for key, value in self.options.items() if key not in of_text}
        options = {} if model else remaining
        self.update(result=None, answer=None, asking=False, options=options, build=None)
        self.update(error="", details="", continuing=False)

    def close(self) -> None:
        self._drop()
        super().close()

    def _drop(self) -> None:
        """Drop the request that has no answer yet."""
        self.page.context.drop(self)
        if self._indexing is not None:
            self._indexing.close()

    def ask(self) -> None:
        """Run the inspector on the current text; it may answer in parts, the first one early."""
        self._whole = False
        self.update(continuing=False)
        self._ask({**self.options, **self._in_parts}, None)

    def ask_rest(self) -> None:
        """Compute all further parts of the result, however many there are."""
        self._whole = True
        self.resume()

    def stop(self) -> None:
        """Compute no further parts; the result keeps those that it has."""
        self._whole = False
        if self.continuing:
            self.page.context.drop(self)
            self.update(continuing=False)

    def resume(self) -> None:
        """Ask for the next part of a result whose view is open again."""
        if self.result is not None and not self.page.context.waiting(self):
            self._ask_further()

    @property
    def _in_parts(self) -> Mapping[str, Any]:
        return self.info.in_parts if self.info is not None else {}

    def _further(self, result: Any) -> dict[str, Any] | None:
        """Options of the next part; None if there is none, or while the view is closed."""
        if not self._in_parts or self.id not in (self.page.view, self.page.second):
            return None
        more: dict[str, Any] | None = result.further(self._whole)
        return more

    def _ask_further(self) -> None:
        """Ask for the next part, joined with the result; the window shows the result meanwhile."""
        more = self._further(self.result)
        self.update(continuing=more is not None)
        if more is not None:
            self._ask({**self.options, **self._in_parts, **more}, self.result)

    def _ask(self, options: dict[str, Any], before: Any) -> None:
        page = self.page
        if page.choice is None or page.document is None:
            return
        self.update(asking=before is None, error="", details="")

        def ask(options: dict[str, Any]) -> None:
            page.ask_host(self, options, partial(self._take, before), self._refuse)

        if self.info is None or not self.info.corpus:
            ask(options)
            return
        page.context.drop(self)
        complete = spec.options(self.id, options)
        self.indexing.ensure(page.choice, self.info, complete, ask, self._refuse_index)

    @property
    def indexing(self) -> Indexing:
        """The index of the documents that the inspector needs."""
        if self._indexing is None:
            from workbench.ui.project.indexing import Indexing

            page = self.page
            self._indexing = Indexing(
                page.context, page.project, lambda build: self.update(build=build)
            )
        return self._indexing

    def _refuse(self, error: Exception) -> None:
        self.update(asking=False, error=str(error), details=details_of(error), continuing=False)

    def _refuse_index(self, message: str) -> None:
        self.update(asking=False, error=message, details="")

    def _take(self, before: Any, answer: Inspection) -> None:
        result = answer.result
        if before is not None and self.answer is not None:
            result = before.joined(result)
            answer = replace(answer, milliseconds=self.answer.milliseconds + answer.milliseconds)
        self.update(asking=False, continuing=self._further(result) is not None)
        self.update(answer=answer, result=result, error="")
        self._ask_further()

    def labels_changed(self) -> None:
        """Run again if the result contains labels of the project."""
        if self.result is not None and self.option("senses"):
            self.ask()

    def failed(self, message: str) -> None:
        """The process with the model has ended."""
        if self.page.context.waiting(self):
            self.page.context.drop(self)
            self.update(asking=False, continuing=False, error=message, details="")


def by_question(offers: Iterable[InspectorChoice]) -> list[tuple[str, list[InspectorChoice]]]:
    """The views that fit, under the headings of the list; headings without a view are left out."""
    fitting = [offer for offer in offers if not offer.refused]
    grouped = [
        (_(title), [offer for offer in fitting if offer.question == question])
        for question, title in QUESTIONS.items()
    ]
    return [(title, choices) for title, choices in grouped if choices]
