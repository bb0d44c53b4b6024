"""Servers of language models: the list in the settings, tests, keys, consent of projects."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.base import settings as settings_file
from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _
from workbench.base.settings import Settings
from workbench.base.watch import QUIET, Watch
from workbench.jobs.spec import JobSpec
from workbench.operations.prompts import prompt_models
from workbench.prompting import keys, servers
from workbench.prompting.backends import spec as backends
from workbench.prompting.backends.spec import PromptModel
from workbench.prompting.servers import Probe, Server

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project

BACKEND = servers.BACKEND
CONSENTS = "servers"  # entry of the project: addresses that its texts may be sent to, as JSON


class ConsentNeeded(WorkbenchError):
    """The user has not agreed that texts of the project are sent to `address`."""

    def __init__(self, address: str) -> None:
        super().__init__(
            _("Texts of this project would be sent to {address}.", address=address),
            hint=_("Agree to it first, in the window or with --yes-send."),
        )
        self.address = address


# ---------------------------------------------------------------- the list


def listed(settings: Settings | None = None) -> tuple[Server, ...]:
    return servers.from_settings((settings or settings_file.load()).servers)


def find(address: str, settings: Settings | None = None) -> Server:
    """The server with an address or title. Raises SpecError listing those that exist."""
    known = listed(settings)
    for server in known:
        if address in (server.address, server.title):
            return server
    try:
        normal = servers.normal_address(address)
    except SpecError:
        normal = ""
    for server in known:
        if server.address == normal:
            return server
    raise SpecError(
        _("There is no server {address!r}.", address=address),
        hint=_("Known: {names}.", names=", ".join(server.address for server in known) or "–"),
    )


def save(server: Server, settings: Settings | None = None) -> None:
    """Add a server, or replace the one with its address."""
    chosen = settings or settings_file.load()
    raw = {name: value for name, value in server.to_json().items() if name != "address"}
    chosen.servers = {**chosen.servers, server.address: raw}
    chosen.save()


def remove(address: str, settings: Settings | None = None) -> None:
    """Remove a server with its key. Raises SpecError if there is none."""
    chosen = settings or settings_file.load()
    server = find(address, chosen)
    keys.remove(server.address)
    chosen.servers = {
        key: raw for key, raw in chosen.servers.items() if _normal(key) != server.address
    }
    chosen.save()


def _normal(address: str) -> str:
    try:
        return servers.normal_address(address)
    except SpecError:  # edited by hand
        return address


@contextmanager
def adding(address: str, key: str = "", settings: Settings | None = None) -> Iterator[Server]:
    """The server of an address, new or from the settings. Its key is kept, so that a worker can
    test it, and dropped again if the block raises an exception.

    Raises SpecError for what is no address, NoKeyStore.
    """
    normal = servers.normal_address(address)
    server = next((it for it in listed(settings) if it.address == normal), Server(normal))
    before = keys.get(normal) if key else ""
    if key:
        keys.put(normal, key)
    try:
        yield server
    except BaseException:
        if key:
            set_key(normal, before)
        raise


def set_key(address: str, key: str) -> None:
    """Keep the key of a server in the key store of the system; "" removes it. Raises NoKeyStore."""
    if key:
        keys.put(address, key)
    else:
        keys.remove(address)


# ---------------------------------------------------------------- what a server can do


def tested(queue: Queue, server: Server, model: str = "", *, watch: Watch = QUIET) -> Server:
    """The server with its models and what `model` can do, as a worker has found out.

    Without a model the only one is tried that the server lists, none of several. Sends short texts
    of no project. Raises JobFailed if the server does not answer, Cancelled.
    """
    params = {"address": server.address, "time_limit": server.time_limit, "model": model}
    title = _("Test {server}", server=server.name)
    result = queue.run(JobSpec(servers.PROBE, params, device="", title=title, forget=True), watch)
    return _with_result(server, result)


def model(
    queue: Queue,
    address: str,
    name: str = "",
    settings: Settings | None = None,
    *,
    watch: Watch = QUIET,
) -> PromptModel:
    """A model of a server, which need not be in the settings; tested if it was not before.

    Without a name it is the only one that the server has. Raises SpecError listing its models if it
    has several, JobFailed and Cancelled.
    """
    chosen = settings or settings_file.load()
    server = next((it for it in listed(chosen) if address in (it.address, it.title)), None)
    normal = server.address if server else servers.normal_address(address)
    server = server or next((it for it in listed(chosen) if it.address == normal), None)
    known = server or Server(normal)
    name = name or (known.models[0] if len(known.models) == 1 else "")
    if name not in known.probes:
        known = tested(queue, known, name, watch=watch)
        if server is not None:
            save(known, chosen)
        name = name or (known.models[0] if len(known.models) == 1 else "")
    if not name:
        raise SpecError(
            _("The server at {address} has several models.", address=known.address),
            hint=_("Choose one: {names}.", names=", ".join(known.models)),
        )
    merged = replace(chosen, servers={**chosen.servers, known.address: known.to_json()})
    return prompt_models.find(servers.BACKEND, servers.model_path(known.address, name), merged)


def _with_result(server: Server, result: Mapping[str, Any]) -> Server:
    model, probes = result["model"], dict(server.probes)
    if result["probe"] is not None:
        probes[model] = Probe.from_json(result["probe"])
    models = result["models"] or server.models
    return replace(
        server,
        models=tuple(dict.fromkeys([*models, *([model] if model else [])])),
        program=result["program"] or server.program,
        probes=probes,
    )


def abilities(can: Collection[str]) -> str:
    """What a model can do, in words."""
    return ", ".join(_(title) for name, title in backends.ABILITY_TITLES.items() if name in can)


# ---------------------------------------------------------------- consent


def remote_address(backend: str, path: str) -> str:
    """Where a model is that does not run on this computer, "" for others."""
    return backends.info(backend).address(path) if path else ""


def consents(project: Project) -> tuple[str, ...]:
    """The addresses that texts of a project may be sent to."""
    try:
        raw = json.loads(project.db.meta(CONSENTS, "[]"))
    except (ValueError, TypeError):
        return ()
    return tuple(map(str, raw)) if isinstance(raw, list) else ()


def agree(project: Project, address: str) -> None:
    """Let texts of a project be sent to an address."""
    known = dict.fromkeys([*consents(project), address])
    with project.write():
        project.db.set_meta(CONSENTS, json.dumps(list(known)))


def needs_consent(project: Project, backend: str, path: str) -> str:
    """The address that the user has to agree to before a model can be asked, "" for none."""
    return unknown_to(project, remote_address(backend, path))


def unknown_to(project: Project, address: str) -> str:
    """The address unless texts of a project may be sent there; "" if they may."""
    return "" if address in consents(project) else address


def is_encrypted(address: str) -> bool:
    return address.startswith("https:")


def check_consent(project: Project, backend: str, path: str) -> None:
    """Raises ConsentNeeded."""
    if address := needs_consent(project, backend, path):
        raise ConsentNeeded(address)
