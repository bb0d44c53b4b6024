"""What counts as an answer: the forms that fit the layer, and the settings of the one chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.prompts import prompt_reading
from workbench.prompting.spec import (
    ANSWER_OPTIONS,
    DECODING_OPTIONS,
    Decoding,
    stop_option,
    stop_texts,
)

if TYPE_CHECKING:
    from workbench.base.options import Option
    from workbench.ui.panels.prompts.draft import PromptDraft
    from workbench.ui.panels.prompts.model_state import ModelState

NO_ANSWER_RULE = _("“No answer” counts as wrong in the scores and never becomes a label.")
REFUSED = _("{model} cannot answer like this: {why}.")


@dataclass(frozen=True)
class FormChoice:
    """The forms to choose from: titles, and why the model cannot do some of them. hint: of the one
    chosen. generated: the model writes replies in it. problem: why the model cannot answer.
    """

    titles: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    chosen: str = ""
    hint: str = ""
    generated: bool = False
    problem: str = ""


class AnswerState(State):
    """choice: of the form. options: the settings that it has, values: theirs; fault: what is wrong
    with its pattern. decoding: values of DECODING.
    """

    DECODING: tuple[Option, ...] = DECODING_OPTIONS

    def __init__(self, draft: PromptDraft, models: ModelState) -> None:
        super().__init__()
        self.draft, self._models = draft, models
        self.choice, self.fault = FormChoice(), ""
        self.options: tuple[Option, ...] = ()
        self.values: Mapping[str, Any] = {}
        self.decoding: Mapping[str, Any] = {}
        self.listen(draft.changed, lambda _fields: self._read())
        self.listen(models.changed, lambda _fields: self._read())
        self._read()

    def choose(self, form: str) -> None:
        answer = replace(self.draft.spec.answer, form=form)
        can = prompt_reading.form(answer).can_be_constrained
        self.draft.change(answer=replace(answer, constrained=answer.constrained and can))

    def set_values(self, texts: Mapping[str, str]) -> None:
        """Take the settings of the form as they were entered."""
        values: dict[str, Any] = {
            option.name: texts[option.name] if option.kind == "text" else option.parse(text)
            for option in self.options
            if (text := texts.get(option.name)) is not None
        }
        self.draft.change(answer=replace(self.draft.spec.answer, **values))

    def set_decoding(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Take the settings of decoding as entered if all fit; what is wrong, by name."""
        values: dict[str, Any] = {}
        errors: dict[str, str] = {}
        for option in DECODING_OPTIONS:
            text = texts[option.name]
            try:
                values[option.name] = text if option.kind == "text" else option.parse(text)
            except SpecError as error:
                errors[option.name] = str(error)
        if not errors:
            decoding = Decoding(**{**values, "stop": stop_texts(values["stop"])})
            self.draft.change(decoding=decoding)
        return errors

    # ---------------------------------------------------------------- reading

    def _read(self) -> None:
        answer, decoding = self.draft.spec.answer, self.draft.spec.decoding
        self.update(
            choice=self._choice(),
            options=self._options(),
            values=answer.to_json(),
            fault=prompt_reading.fault_of(answer),
            decoding={**decoding.to_json(), "stop": stop_option(decoding.stop)},
        )

    def _choice(self) -> FormChoice:
        form = prompt_reading.form(self.draft.spec.answer)
        fitting = prompt_reading.fitting_forms(self.draft.layer)
        why, hint = self._models.problem, _(form.hint)
        if form.generated:
            hint = _("{hint} {rule}", hint=hint, rule=NO_ANSWER_RULE)
        return FormChoice(
            {each.id: _(each.title) for each in fitting},
            {each.id: reason for each in fitting if (reason := self._models.refuses(each))},
            form.id,
            hint,
            form.generated,
            REFUSED.format(model=self._models.key, why=why) if why else "",
        )

    def _options(self) -> tuple[Option, ...]:
        answer = self.draft.spec.answer
        form = prompt_reading.form(answer)
        can = answer.constrained or not self._models.refuses(form, constrained=True)
        has = {
            "pattern": form.patterned,
            "marker": form.marked,
            "mentions": form.mentions and prompt_reading.asks_for_spans(self.draft.layer),
            "constrained": form.can_be_constrained and can,
        }
        return tuple(option for option in ANSWER_OPTIONS if has[option.name])
