"""Texts and conversations that a model goes on with, without documents or labels."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.jobs.spec import JobSpec
from workbench.operations.schema import labels
from workbench.prompting.backends import spec as backends
from workbench.prompting.backends.spec import CHAT, GENERATE, PromptModel
from workbench.prompting.generation import (
    CANCELLED,
    GenerationRequest,
    Message,
    Reply,
    ReplyToken,
)
from workbench.prompting.spec import FREE_TEXT_OPTIONS, Decoding, stop_texts
from workbench.storage.documents import documents
from workbench.text import conversation
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document, with_choices
from workbench.text.labels import PREFERENCE

if TYPE_CHECKING:
    from workbench.jobs.host import Host
    from workbench.project.project import Project

SECONDS = 600.0  # until the next part of a reply
OPTIONS = FREE_TEXT_OPTIONS
PREFIX = "generated-"  # of the keys of documents
_STREAMS = itertools.count(1)
OnTokens = Callable[[Sequence[tuple[int, ReplyToken]]], None]


@dataclass(frozen=True)
class Written:
    """A text to be stored: what was continued or asked, and the reply."""

    before: str
    text: str
    seed: int


def decoding(settings: Mapping[str, Any]) -> Decoding:
    """Settings of OPTIONS as values or as text. Raises SpecError for one that does not fit."""
    known = {option.name: option for option in OPTIONS}
    values: dict[str, Any] = {
        name: option.checked(settings[name]) if name in settings else option.default
        for name, option in known.items()
    }
    return Decoding(**{**values, "stop": stop_texts(str(values["stop"]))})


def requests(
    decoding: Decoding,
    *,
    text: str = "",
    messages: Sequence[Message] = (),
    begin: str = "",
) -> tuple[GenerationRequest, ...]:
    """A request for each sample; their seeds follow each other."""
    return tuple(
        GenerationRequest(
            text=text,
            messages=tuple(messages),
            begin=begin,
            decoding=replace(decoding, seed=decoding.seed + sample, samples=1),
        )
        for sample in range(decoding.samples)
    )


def check(model: PromptModel, *, chat: bool) -> None:
    """Raises SpecError if a model cannot write, or not answer conversations."""
    if chat and CHAT not in model.can:
        raise SpecError(
            _("{model} has no chat template.", model=model.name),
            hint=_("Continue a text, or choose a model for chats."),
        )
    if not chat and GENERATE not in model.can:
        raise SpecError(
            _("{model} cannot continue texts.", model=model.name),
            hint=_("Choose a causal or text-to-text language model."),
        )


def host(model: PromptModel, backend: str, options: Mapping[str, Any], device: str) -> JobSpec:
    """A host for `write`. The caller asks for consent, see `servers.needs_consent`."""
    params = {
        "backend": backend,
        "model": model.path,
        "options": dict(options),
        "device": device,
        "allow_pickle": model.pickled,
    }
    return JobSpec(backends.HOST, params, title=model.name)


def write(
    host: Host,
    asked: Sequence[GenerationRequest],
    on_tokens: OnTokens,
    *,
    watch: Watch = QUIET,
) -> tuple[Reply, ...]:
    """Replies of a model. `on_tokens` gets their tokens with the numbers of their requests, a few
    times per second. After a cancellation, what was written is CANCELLED.

    Raises WorkbenchError.
    """
    written: list[list[ReplyToken]] = [[] for _request in asked]
    stream = next(_STREAMS)
    message: dict[str, Any] = {"write": [request.to_json() for request in asked]}
    while True:
        part = host.ask_now({**message, "stream": stream}, SECONDS, kind=f"stream {stream}")
        tokens = [(int(number), ReplyToken.from_json(raw)) for number, raw in part["tokens"]]
        for number, token in tokens:
            written[number].append(token)
        on_tokens(tokens)
        if part["replies"] is not None:
            return tuple(map(Reply.from_json, part["replies"]))
        if watch.cancelled:
            host.ask_now({"stream": stream, "end": True}, SECONDS, kind=f"stream {stream}")
            return tuple(cancelled(tokens) for tokens in written)
        message = {}


def cancelled(tokens: Sequence[ReplyToken]) -> Reply:
    """A reply that was stopped after some tokens."""
    text = "".join(token.text for token in tokens)
    return Reply(text, CANCELLED, tuple(tokens), reply_tokens=len(tokens))


# ---------------------------------------------------------------- what is kept


def save_documents(
    project: Project,
    texts: Sequence[Written],
    model: str,
    decoding: Decoding,
    *,
    origin: object = None,
) -> list[int]:
    """Add texts as documents, as one undo step; their ids. The metadata say how they were written:
    model, settings, seed and what came before.
    """
    about, first = _about(decoding), _first_free(project)
    records = [
        Record(
            Document(
                f"{PREFIX}{first + place}",
                ((TEXT, written.text),),
                meta={
                    "generated_by": model,
                    "generated_after": written.before,
                    "seed": written.seed,
                    **about,
                },
            )
        )
        for place, written in enumerate(texts)
    ]
    title = ngettext("Add {n} generated text", "Add {n} generated texts", len(records))
    with project.edit(title, origin=origin):
        source = project.source("import", model)
        return documents.add(project.db, records, source_id=source)


def save_comparison(
    project: Project,
    request: GenerationRequest,
    samples: Sequence[str],
    model: str,
    *,
    origin: object = None,
) -> tuple[int, str]:
    """Add the prompt with its samples as a document whose better answer is to be chosen, as one
    undo step; its id, and the name of the layer for that, which is added if there is none.
    """
    turns = [(message.role, message.content) for message in request.messages]
    prompt = conversation.written(turns) if turns else request.text
    key = f"{PREFIX}{_first_free(project)}"
    about = {"generated_by": model, **_about(request.decoding)}
    document = replace(with_choices(key, prompt, samples), meta=about)
    with project.edit(_("Add answers to compare"), origin=origin):
        layer = next((layer for layer in labels.layers(project) if layer.traits.compares), None)
        if layer is None:
            labels.add_layer(project, PREFERENCE.id, PREFERENCE.id, origin=origin)
        source = project.source("import", model)
        (id,) = documents.add(project.db, [Record(document)], source_id=source)
    return id, layer.name if layer is not None else PREFERENCE.id


def _about(decoding: Decoding) -> dict[str, Any]:
    settings = decoding.to_json()
    return {name: settings[name] for name in ("temperature", "top_k", "top_p", "max_tokens")}


def _first_free(project: Project) -> int:
    number = 1
    while documents.by_key(project.db, f"{PREFIX}{number}") is not None:
        number += 1
    return number


def as_template(text: str, messages: Sequence[Message]) -> str:
    """A text or a conversation as a template of a prompt, which goes on with the document's text
    and the answer.
    """
    if not messages:
        return "\n".join((_escaped(text), "{{ text }}", "{{ answer }}"))
    turns = ["{% " + item.role + " %}\n" + _escaped(item.content) for item in messages]
    last = ("{% user %}", "{{ text }}", "{% assistant %}", "{{ answer }}")
    return "\n".join([*turns, *last])


def _escaped(text: str) -> str:
    """Text that Jinja2 writes as it is."""
    return re.sub(r"\{[{%#]", lambda mark: "{{ '" + mark[0] + "' }}", text)
