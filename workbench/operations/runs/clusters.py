"""Ray clusters that jobs of a project run on: addresses, consent, and what is sent there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.base.watch import QUIET, Watch
from workbench.jobs.spec import JobSpec
from workbench.operations.models import installed
from workbench.operations.prompts import servers
from workbench.prompting.servers import host, is_local
from workbench.training.spec import Teaching

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.models.spec import ModelInfo
    from workbench.project.project import Project
    from workbench.training.spec import TrainSpec

SCHEME, PORT = "ray://", 10001  # of Ray's client server


def address(text: str | None) -> str:
    """ "ray://HOST:10001" of an address as typed; "" for this computer.

    Raises SpecError for what is no address.
    """
    entered = (text or "").strip()
    if not entered:
        return ""
    whole = entered if "://" in entered else f"{SCHEME}{entered}"
    place = host(whole)
    if not whole.startswith(SCHEME) or not place or " " in whole:
        raise SpecError(
            _("{address!r} is not the address of a Ray cluster.", address=entered),
            hint=_("Enter one such as ray://192.168.1.5:10001."),
        )
    return f"{SCHEME}{place}" if ":" in place.rpartition("]")[2] else f"{SCHEME}{place}:{PORT}"


def needs_consent(project: Project | None, run_on: str | None) -> str:
    """The address that the user has to agree to before data is sent there, "" for none."""
    where = address(run_on)
    if not where or is_local(where):
        return ""
    return servers.unknown_to(project, where) if project is not None else where


@dataclass(frozen=True)
class Consent:
    """What the user is asked before data of a project is sent to a cluster."""

    project: Project
    address: str
    example: str = ""
    is_encrypted: bool = False

    def give(self) -> None:
        servers.agree(self.project, self.address)


def needed_consent(project: Project, run_on: object) -> Consent | None:
    """None for this computer, where the user has agreed before, and for what is no address: that is
    reported when a run is prepared.
    """
    try:
        where = needs_consent(project, str(run_on or ""))
    except SpecError:
        return None
    return Consent(project, where) if where else None


def check_consent(project: Project, run_on: str | None) -> None:
    """Raises ConsentNeeded."""
    if where := needs_consent(project, run_on):
        raise servers.ConsentNeeded(where)


def places(queue: Queue, run_on: str, watch: Watch = QUIET) -> int:
    """How many jobs a cluster has room for. Raises JobFailed if it cannot be used, Cancelled."""
    spec = JobSpec(
        "workbench.jobs.cluster:places",
        {"address": address(run_on)},
        device="",
        title=_("Connect to the Ray cluster"),
        short=True,
        forget=True,
    )
    return int(queue.run(spec, watch)["places"])


def sent(spec: TrainSpec, params: dict[str, Any]) -> tuple[str, ...]:
    """The files and folders that a training reads. params: of its job."""
    texts = params.get("texts") or {}
    teaching = Teaching.from_json(params.get("teaching")) or Teaching()
    paths = [params["data"], spec.model, texts.get("path"), texts.get("held_out"), *teaching.paths]
    return tuple(dict.fromkeys(str(path) for path in (*paths, *_others(spec)) if path))


def _others(spec: TrainSpec) -> list[str]:
    """Folders of the models that settings name."""
    if not spec.family:
        return []
    cards: list[ModelInfo] = []

    def find(name: str) -> ModelInfo:
        cards.append(installed.find(name))
        return cards[-1]

    registry().info("family", spec.family).resolved(spec.options, find)
    return [card.path for card in cards]
