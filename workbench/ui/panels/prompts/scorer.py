"""Scores single prompts with a model in an inference host, and caches the results."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.operations.prompts import prompt
from workbench.operations.prompts.prompt_fill import PromptPreview, PromptTable
from workbench.prompting.spec import PromptSpec
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.jobs.host import Host
    from workbench.ui.panel import PanelContext

MAX_CACHED_TABLES = 2000  # maximum number of cached tables

LogProbs = Mapping[str, Sequence[float]]
Reply = Mapping[str, Any]  # JSON of `prompting.generation.Reply`
Done = Callable[[WorkbenchError | None], None]


class Scorer:
    """One loaded model at a time. Results are cached by model and exact prompts."""

    def __init__(self, context: PanelContext) -> None:
        self._context = context
        self._host: Host | None = None
        self._asked = ""  # the model loaded by the host
        self._known: OrderedDict[str, LogProbs] = OrderedDict()
        self._replies: OrderedDict[str, tuple[Reply, ...]] = OrderedDict()

    def knows(self, spec: PromptSpec, table: PromptTable) -> bool:
        return _digest(spec, table) in self._known

    def logprobs(
        self, spec: PromptSpec, preview: PromptPreview
    ) -> tuple[LogProbs, tuple[LogProbs, ...]] | None:
        """Cached log-probabilities of a prompt, with and without its text, or None."""
        keys = [_digest(spec, table) for table in _tables(preview)]
        if not all(key in self._known for key in keys):
            return None
        first, *rest = (self._known[key] for key in keys)
        return first, tuple(rest)

    def replies(self, spec: PromptSpec, preview: PromptPreview) -> tuple[Reply, ...]:
        """Cached replies to a prompt whose answer the model writes, () if there are none."""
        return self._replies.get(_digest(spec, _plain(preview)), ())

    def _write(self, spec: PromptSpec, preview: PromptPreview, done: Done) -> None:
        requests, key = _plain(preview), _digest(spec, _plain(preview))
        if key in self._replies:
            return done(None)

        def answered(answer: Any, error: WorkbenchError | None) -> None:
            if error is None:
                self._replies[key] = tuple(answer["replies"])
                while len(self._replies) > MAX_CACHED_TABLES:
                    self._replies.popitem(last=False)
            done(error)

        try:
            host = self._loaded(spec)
        except WorkbenchError as error:
            return done(error)
        host.ask("score", {"requests": requests}, answered)

    def ask(self, spec: PromptSpec, preview: PromptPreview, done: Done) -> None:
        """Compute what is not cached, then call `done(error or None)`.

        `done` is not called if a newer request replaces this one.
        """
        if preview.requests:
            return self._write(spec, preview, done)
        keys = {_digest(spec, table): table for table in _tables(preview)}
        missing = {key: table for key, table in keys.items() if key not in self._known}
        if not missing:
            return done(None)

        def answered(answer: Any, error: WorkbenchError | None) -> None:
            if error is None:
                self._keep(dict(zip(missing, answer["logprobs"], strict=True)))
            done(error)

        tables = [
            {name: list(parts) for name, parts in mapping.items()} for mapping in missing.values()
        ]
        try:
            host = self._loaded(spec)
        except WorkbenchError as error:
            return done(error)
        host.ask("score", {"prompts": tables}, answered)

    def forget(self) -> None:
        """The backends have changed: reload the model and clear the cache."""
        self.close()
        self._known.clear()
        self._replies.clear()

    def close(self) -> None:
        if self._host is not None:
            self._host.close()
            self._host = None

    def _loaded(self, spec: PromptSpec) -> Host:
        from workbench.jobs.host import Host

        model = _model(spec)
        if self._host is not None and self._asked == model:
            return self._host
        self.close()
        host = self._host = Host(
            prompt.host(opened(self._context), spec),
            dispatch=self._context.dispatch,
            spare=self._context.queue.spare,
        )
        self._asked = model
        return host

    def _keep(self, tables: Mapping[str, LogProbs]) -> None:
        self._known.update(tables)
        while len(self._known) > MAX_CACHED_TABLES:
            self._known.popitem(last=False)


def _tables(preview: PromptPreview) -> tuple[PromptTable, ...]:
    return (preview.prompts, *preview.without_text)


def _model(spec: PromptSpec) -> str:
    return json.dumps([spec.backend, spec.model, dict(spec.options)], sort_keys=True)


def _plain(preview: PromptPreview) -> list[dict[str, Any]]:
    """The requests as the host reads them."""
    return [request.to_json() for request in preview.requests]


def _digest(spec: PromptSpec, table: object) -> str:
    """Cache key of a model with exact prompts, smaller than the prompts themselves."""
    raw = json.dumps([_model(spec), table]).encode()
    return hashlib.blake2b(raw, digest_size=16).hexdigest()
