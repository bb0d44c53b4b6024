"""One inspector on the Inspect page: what is asked of it, and its result for the text on show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.inspection.spec import Answer, InspectorInfo, light

if TYPE_CHECKING:
    from workbench.ui.panels.inspect.state import InspectState


class Shown(State):
    """The state that a view is given. `page` has the document, gold, labels and the chosen token.

    result: what the inspector returned, None while there is none for the present text; `answer`
    is the result with what surrounds it. options: those that differ from the defaults.
    asking: whether an answer is on its way. error: why there is none.
    """

    def __init__(self, page: InspectState, id: str):
        super().__init__()
        self.page, self.id = page, id
        self.result: Any = None
        self.answer: Answer | None = None
        self.options: dict[str, Any] = {}
        self.asking, self.error = False, ""
        self._asked: tuple | None = None  # what the answer that is awaited belongs to

    @property
    def info(self) -> InspectorInfo | None:
        return light(self.id)

    def option(self, name: str) -> Any:
        """The value of an option as it is asked for."""
        info = self.info
        defaults = {one.name: one.default for one in (info.options if info else ())}
        return self.options.get(name, defaults.get(name))

    def set_options(self, **values: Any) -> None:
        """Ask again with other options; the result before stays until the new one comes."""
        if any(self.option(name) != value for name, value in values.items()):
            self.update(options={**self.options, **values})
            self.ask()

    def forget(self, *, model: bool = False) -> None:
        """Another text, or another `model`: there is no result any more.

        Options of the text go back to their defaults; with another model all of them do.
        """
        self._asked = None
        of_text = self.info.of_text if self.info is not None else ()
        kept = {key: value for key, value in self.options.items() if key not in of_text}
        options = {} if model else kept
        self.update(result=None, answer=None, asking=False, error="", options=options)

    def ask(self) -> None:
        """Ask about the text on show."""
        self._ask(self.options, None)

    def ask_more(self, **options: Any) -> None:
        """Ask with further options and join: the result becomes `result.joined(new)`."""
        if self.result is not None and not self.asking:
            self._ask({**self.options, **options}, self.result)

    def _ask(self, options: dict[str, Any], before: Any) -> None:
        page = self.page
        if page.choice is None or page.document is None:
            return
        asked = self._asked = (page.choice, page.document, options)
        self.update(asking=True, error="")

        def answered(answer: Answer | None, error: WorkbenchError | None) -> None:
            if self._asked is asked:
                self._take(answer, error, before)

        page.ask_host(self.id, options, answered)

    def _take(self, answer: Answer | None, error: WorkbenchError | None, before: Any) -> None:
        self._asked = None
        if error is not None or answer is None:
            self.update(asking=False, error=str(error) if error else "")
            return
        result = answer.result if before is None else before.joined(answer.result)
        self.update(asking=False, answer=answer, result=result, error="")

    def failed(self, message: str) -> None:
        """The process with the model has ended."""
        if self.asking:
            self._asked = None
            self.update(asking=False, error=message)
