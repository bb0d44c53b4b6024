"""Text written by a model, without documents or labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import N_, _, ngettext
from workbench.operations.prompts import free_text, prompt_versions, servers
from workbench.prompting.backends.spec import CHAT, GENERATE, TOKEN_PROBABILITIES
from workbench.prompting.generation import (
    ASSISTANT,
    CANCELLED,
    FAILED,
    LENGTH,
    STOP,
    SYSTEM,
    USER,
    GenerationRequest,
    Message,
    Reply,
    ReplyToken,
)
from workbench.prompting.spec import LOCAL

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.jobs.host import Host
    from workbench.operations.prompts.prompt_models import AskableModel
    from workbench.ui.panels.prompts.draft import PromptDraft
    from workbench.ui.panels.prompts.model_state import ModelState

WRITE = "free-text"  # task
OPTIONS = free_text.OPTIONS
ENDS = {STOP: N_("ended"), LENGTH: N_("cut at the limit"), CANCELLED: N_("stopped")}
ROLES = {USER: N_("You"), ASSISTANT: N_("Model")}
CONTINUE, CONVERSE = "continue", "chat"  # modes


@dataclass
class Sample:
    """One reply. `finish` is "" while it is written."""

    request: GenerationRequest
    tokens: list[ReplyToken] = field(default_factory=list)
    finish: str = ""
    error: str = ""

    @property
    def text(self) -> str:
        return "".join(token.text for token in self.tokens)


class FreeTextState(State):
    """key: of the model. mode: CONTINUE or CONVERSE. text: what is continued, or the message to be
    sent. turns: the conversation so far, without the samples that answer it. settings: texts of
    `free_text.OPTIONS` that differ from the defaults, errors: of those that do not fit.

    samples: replies to the same text. chosen: number of the one that a conversation goes on with.
    token: number of a sample and of its token whose alternatives are shown. running: while samples
    are written, loading: until their first token. `changed` names "tokens" when some have arrived.
    """

    def __init__(self, draft: PromptDraft, models: ModelState) -> None:
        super().__init__()
        self.draft, self.context, self.project = draft, draft.context, draft.project
        self._models = models
        self.key, self.mode = "", CONTINUE
        self.text, self.system = "", ""
        self.turns: tuple[Message, ...] = ()
        self.settings: Mapping[str, str] = {}
        self.errors: Mapping[str, str] = {}
        self.samples: tuple[Sample, ...] = ()
        self.chosen = 0
        self.token: tuple[int, int] | None = None
        self.running = self.loading = False
        self._host: Host | None = None
        self._loaded = ""  # the model of the host
        self.listen(models.changed, lambda _fields: self._models_changed())
        self._models_changed()

    def close(self) -> None:
        super().close()
        self._close_host()

    def _close_host(self) -> None:
        if self._host is not None:
            self._host.close(wait=False)
            self._host, self._loaded = None, ""

    # ---------------------------------------------------------------- the model

    @property
    def models(self) -> tuple[AskableModel, ...]:
        """Those that write."""
        return tuple(it for it in self._models.models if it.model.can & {GENERATE, CHAT})

    @property
    def model(self) -> AskableModel | None:
        return next((it for it in self.models if it.key == self.key), None)

    @property
    def modes(self) -> tuple[str, ...]:
        can = self.model.model.can if self.model is not None else frozenset()
        return tuple(
            mode for mode, needs in ((CONTINUE, GENERATE), (CONVERSE, CHAT)) if needs in can
        )

    def choose_model(self, key: str) -> None:
        self.stop()
        self.update(key=key)
        if self.mode not in self.modes:
            self.choose_mode(next(iter(self.modes), CONTINUE))

    def choose_mode(self, mode: str) -> None:
        self.stop()
        self.update(mode=mode, turns=(), samples=(), token=None)
        self.context.commands_changed()

    def _models_changed(self) -> None:
        """The models of the page were read again."""
        keys = [model.key for model in self.models]
        preferred = self._models.key if self._models.key in keys else next(iter(keys), "")
        if self.key not in keys:
            self.choose_model(preferred)
        self.changed.emit(frozenset({"models"}))

    # ---------------------------------------------------------------- what is written

    def set_text(self, text: str) -> None:
        self.text = text
        self.context.commands_changed()

    def set_system(self, text: str) -> None:
        self.system = text

    def set_settings(self, settings: Mapping[str, str]) -> None:
        self.update(settings=dict(settings), errors=_errors(settings))

    @property
    def ready(self) -> bool:
        known = self.model is not None and not self.errors
        return known and not self.running and (bool(self.text) or self.mode == CONTINUE)

    def write(self) -> None:
        """Continue the text, or send the message; the reply that is chosen is part of the
        conversation then.
        """
        if not self.ready or not self._allowed():
            return
        turns = self.turns
        if self.mode == CONVERSE:
            turns = (*self._exchange, Message(USER, self.text))
        decoding = free_text.decoding(self.settings)
        system = (Message(SYSTEM, self.system),) if self.system.strip() else ()
        requests = free_text.requests(
            decoding,
            text=self.text if self.mode == CONTINUE else "",
            messages=(*system, *turns) if self.mode == CONVERSE else (),
        )
        text = self.text if self.mode == CONTINUE else ""
        self.update(
            turns=turns, samples=tuple(map(Sample, requests)), chosen=0, token=None, text=text
        )
        self._write(dict(enumerate(requests)))

    @property
    def _exchange(self) -> tuple[Message, ...]:
        """The conversation, with the chosen reply."""
        if not self.turns or not self.samples:
            return self.turns
        return (*self.turns, Message(ASSISTANT, self.samples[self.chosen].text))

    def choose(self, sample: int) -> None:
        self.update(chosen=sample)

    def new(self) -> None:
        """Forget the conversation and the samples."""
        self.stop()
        self.update(turns=(), samples=(), token=None, chosen=0)

    def append(self, sample: int) -> None:
        """Make a sample part of the text that is continued."""
        text = self.text + self.samples[sample].text
        self.update(text=text, samples=(), token=None)

    def stop(self) -> None:
        """Keep what is written so far."""
        if self.running:
            self.context.drop(WRITE)
            self._ended([None] * len(self.samples), range(len(self.samples)))

    # ---------------------------------------------------------------- tokens

    def show_token(self, sample: int, token: int | None) -> None:
        self.update(token=None if token is None else (sample, token))

    @property
    def shown_token(self) -> ReplyToken | None:
        if self.token is None:
            return None
        sample, number = self.token
        tokens = self.samples[sample].tokens if sample < len(self.samples) else []
        return tokens[number] if number < len(tokens) else None

    @property
    def can_force(self) -> bool:
        """Whether a reply can go on behind a token of the user. Servers do not continue a reply of
        a conversation.
        """
        model = self.model
        writes = model is not None and TOKEN_PROBABILITIES in model.model.can
        local = model is not None and model.backend == LOCAL
        return writes and not self.running and (local or self.mode == CONTINUE)

    def force(self, text: str) -> None:
        """Put one of the alternatives in place of the token that is shown, and write on from there.

        "" ends the reply there.
        """
        if self.token is None or not self.can_force or not self._allowed():
            return
        number, place = self.token
        sample = self.samples[number]
        before = sample.tokens[place]
        logprob = dict(before.others).get(text)
        forced = [ReplyToken(text, logprob, before.others)] if text else []
        tokens = [*sample.tokens[:place], *forced]
        decoding = free_text.decoding(self.settings)
        left = decoding.max_tokens - len(tokens)
        request = replace(
            sample.request,
            begin="".join(token.text for token in tokens),
            decoding=replace(
                sample.request.decoding,
                max_tokens=max(1, left),
            ),
        )
        ended = not text or left < 1
        other = Sample(sample.request, tokens, STOP if ended else "")
        samples = (*self.samples[:number], other, *self.samples[number + 1 :])
        self.update(samples=samples, token=None)
        if not ended:
            self._write({number: request})

    # ---------------------------------------------------------------- the worker

    def _allowed(self) -> bool:
        """Whether the text may be sent where the model is."""
        model = self.model
        if model is None:
            return False
        try:
            servers.check_consent(self.project, model.backend, model.model.path)
        except WorkbenchError as error:
            self.context.fail(error)
            return False
        return True

    def _write(self, requests: Mapping[int, GenerationRequest]) -> None:
        numbers = list(requests)
        host, dispatch = self._ready_host(), self.context.dispatch

        def work(watch: Watch) -> Sequence[Reply]:
            def arrived(tokens: Sequence[tuple[int, ReplyToken]]) -> None:
                dispatch(lambda: self._add(numbers, tokens) if not watch.cancelled else None)

            return free_text.write(host, list(requests.values()), arrived, watch=watch)

        def failed(error: Exception) -> None:
            self._ended([None] * len(numbers), numbers)
            self.context.fail(error)

        self.update(running=True, loading=True)
        self.context.commands_changed()
        self.context.task(WRITE, work, lambda replies: self._ended(replies, numbers), failed=failed)

    def _ready_host(self) -> Host:
        from workbench.jobs.host import Host

        model = self.model
        assert model is not None
        if self._host is None or self._loaded != model.key:
            self._close_host()
            spec = free_text.host(model.model, model.backend, {}, self.context.settings.device)
            self._host = Host(spec, dispatch=self.context.dispatch, spare=self.context.queue.spare)
            self._loaded = model.key
        return self._host

    def _add(self, numbers: Sequence[int], tokens: Sequence[tuple[int, ReplyToken]]) -> None:
        for number, token in tokens:
            self.samples[numbers[number]].tokens.append(token)
        self.loading = False
        self.changed.emit(frozenset({"tokens", "loading"}))

    def _ended(self, replies: Sequence[Reply | None], numbers: Sequence[int]) -> None:
        """None: a reply that was stopped."""
        for number, reply in zip(numbers, replies, strict=True):
            sample = self.samples[number]
            if reply is None:
                sample.finish = sample.finish or CANCELLED
                continue
            sample.finish, sample.error = reply.finish, reply.error
            if reply.finish != FAILED and not sample.tokens and reply.text:
                sample.tokens.append(ReplyToken(reply.text))
        self.update(running=False, loading=False)
        self.changed.emit(frozenset({"tokens"}))
        self.context.commands_changed()

    # ---------------------------------------------------------------- what is kept

    @property
    def can_save(self) -> bool:
        any_text = any(sample.text for sample in self.samples)
        return any_text and not self.running and not self.project.read_only

    def save(self, numbers: Sequence[int] | None = None) -> None:
        """Add samples, by default all, as documents of the project. A text is stored with its
        continuation, of a conversation only the reply.
        """
        if not self.can_save or self.model is None:
            return
        chosen = self.samples if numbers is None else [self.samples[n] for n in numbers]
        written = [
            free_text.Written(
                _before(sample.request),
                sample.request.text + sample.text,
                sample.request.decoding.seed,
            )
            for sample in chosen
            if sample.text
        ]
        decoding, model = free_text.decoding(self.settings), self.model.model.name
        ids = self.context.attempt(free_text.save_documents, self.project, written, model, decoding)
        if ids:
            message = ngettext("Added {n} document.", "Added {n} documents.", len(ids))
            self.context.note(message, True)

    @property
    def can_compare(self) -> bool:
        return self.can_save and len(self._compared) > 1

    @property
    def _compared(self) -> list[Sample]:
        """Samples of one text or conversation; of equal ones the first."""
        texts = {sample.text.strip(): sample for sample in reversed(self.samples) if sample.text}
        return [sample for sample in self.samples if texts.get(sample.text.strip()) is sample]

    def compare(self) -> None:
        """Add the samples as a document with answers, of which the better one is then chosen."""
        if not self.can_compare or self.model is None:
            return
        samples = self._compared
        added = self.context.attempt(
            free_text.save_comparison,
            self.project,
            samples[0].request,
            [sample.text.strip() for sample in samples],
            self.model.model.name,
        )
        if added is not None:
            message = _(
                "Added the answers. Choose the better one in Annotate, in the layer {layer}.",
                layer=added[1],
            )
            self.context.note(message, True)

    def save_prompt(self) -> None:
        """Keep the text or the exchange as a prompt of the project, with the model and settings."""
        if self.model is None:
            return
        spec = replace(
            self.draft.spec,
            template=free_text.as_template(self.text, self._exchange),
            backend=self.model.backend,
            model=self.model.model.path,
            model_name=self.model.model.name,
            allow_pickle=self.model.model.pickled,
            options={},
            chat=self.mode == CONVERSE,
            decoding=free_text.decoding(self.settings),
        )
        name = prompt_versions.free_name(self.project, _("Free text"))
        if self.context.attempt(prompt_versions.save, self.project, name, spec) is not None:
            self.context.note(_("Saved as prompt “{name}”.", name=name), True)

    @property
    def can_save_prompt(self) -> bool:
        any_text = bool(self.turns if self.mode == CONVERSE else self.text)
        return any_text and not self.running and not self.project.read_only


def _before(request: GenerationRequest) -> str:
    """What a reply follows, for the metadata of a document."""
    return "\n".join(turn.content for turn in request.messages) or request.text


def _errors(settings: Mapping[str, Any]) -> dict[str, str]:
    """Name of an option → why its value does not fit."""
    errors = {}
    for option in OPTIONS:
        try:
            option.checked(settings.get(option.name, option.default))
        except SpecError as error:
            errors[option.name] = str(error)
    return errors
