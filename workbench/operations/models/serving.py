"""A server that predicts with the model of a run, or with an exported one, over HTTP."""

from __future__ import annotations

import json
import secrets
import urllib.error
import urllib.request
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import extras, scratch
from workbench.base.errors import ModelError, SpecError, WorkbenchError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.exporters.model import spec as exporters
from workbench.jobs.spec import JobSpec
from workbench.operations.models import export
from workbench.operations.runs import predict
from workbench.operations.runs.kinds import contract as kinds
from workbench.serving.spec import LOOPBACK, PORT, READY, TARGET, ServerStats, ServeSpec
from workbench.tasks import proofs
from workbench.tasks import spec as tasks
from workbench.text.document import CHOICES, SPANS, TEXT, TEXT_B, Document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.base.events import Signal
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

PACKAGES = ("fastapi", "uvicorn")
ADDRESS = f"http://{LOOPBACK}:{PORT}"  # of a server, unless the port is used
TIMEOUT = 60  # seconds for the answer to `ask`
FP32 = "fp32"  # weights; others are the suffix of a format of exports, such as int8
SESSIONS = {FP32: proofs.FOLDER, proofs.INT8: proofs.INT8}  # of a run
# Memory that threads have freed returns to the system. With an environment of its own, the worker
# is also never the spare one, which has torch loaded.
ENVIRONMENT = {"MALLOC_ARENA_MAX": "2"}


class Server:
    """A server that answers requests; it ends with its queue, that is with the window.

    address: such as http://127.0.0.1:8765. changed: emitted on the main thread when the statistics
    have changed, about once a second at most, and when it has ended. Used on the main thread.
    """

    def __init__(self, job: Job, spec: ServeSpec):
        self.job, self.name, self.token = job, spec.name, spec.token
        from workbench.jobs.events import Output

        payloads = (event.payload for event in job.events if isinstance(event, Output))
        ready = next(payload for payload in payloads if payload.get("kind") == READY)
        host = f"[{ready['host']}]" if ":" in ready["host"] else ready["host"]
        self.address = f"http://{host}:{ready['port']}"

    @property
    def changed(self) -> Signal:
        return self.job.changed

    @property
    def running(self) -> bool:
        return not self.job.over

    @property
    def message(self) -> str:
        """Why it ended; "" while it runs and after `stop`."""
        return f"{self.job.message} {self.job.hint}".strip()

    @property
    def stats(self) -> ServerStats:
        """What it has answered, and since when."""
        return ServerStats.from_json(self.job.result or self.job.progress)

    def stop(self) -> None:
        """Answer the requests that have arrived, then end."""
        self.job.stop()


def missing_packages() -> str:
    """What has to be installed before a server can start, "" if nothing."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    return extras.advice(missing[0]) if missing else ""


def start(
    project: Project,
    queue: Queue,
    run: Run,
    *,
    weights: str = FP32,
    host: str = LOOPBACK,
    port: int = PORT,
    exact: bool = False,
    token: str = "",
    watch: Watch = QUIET,
) -> Server:
    """Serve the model of a run, with its session if it has one. Returns once it answers: else the
    model is first exported, which takes as long as an export. Call it from a task, or without an
    event loop.

    weights: "fp32", or the precision of another ONNX format ("int8", "fp16"). port: the next free
    one is taken if it is used, unless `exact`. token: for other addresses than the loopback.

    Raises WorkbenchError if the extra `serve` is not installed or the run cannot be exported,
    Cancelled, JobFailed.
    """
    check_packages()
    spec, temporary = spec_of(project, queue, run, weights=weights, watch=watch)
    spec = replace(spec, host=host, port=port, token=token, exact=exact)
    return begin(queue, spec, temporary=tuple(map(str, temporary)), watch=watch)


def spec_of(
    project: Project, queue: Queue, run: Run, *, weights: str = FP32, watch: Watch = QUIET
) -> tuple[ServeSpec, tuple[Path, ...]]:
    """What a server of the run is started with, and the temporary folders of an export, which the
    caller deletes; () where a session of the run has these weights.
    """
    format = format_of(weights)
    model = kinds.of(run).weights(project, run)
    session = proofs.usable(model, SESSIONS[weights]) if model and weights in SESSIONS else None
    if model is not None and session is not None:
        spec = ServeSpec(
            str(session), run.name, model=str(model), decoder=predict.decoder_of(model)
        )
        return spec, ()
    folder = scratch.make("serve")
    try:
        result = export.export_run(project, queue, run, folder / "model", (format,), watch=watch)
        return ServeSpec(result.folders[format], run.name), (folder,)
    except BaseException:
        scratch.remove(folder)
        raise


def check_packages() -> None:
    """Raises WorkbenchError if the packages of the extra `serve` are missing."""
    if hint := missing_packages():
        raise WorkbenchError(
            _("Serving needs the packages {names}.", names=", ".join(PACKAGES)), hint=hint
        )


def begin(
    queue: Queue,
    spec: ServeSpec,
    *,
    temporary: tuple[str, ...] = (),
    foreground: bool = False,
    watch: Watch = QUIET,
) -> Server:
    """Serve an exported folder. Returns once it answers. temporary: folders to delete at its end.
    foreground: at the priority of this process, not below it.

    Raises as `start`.
    """
    check_packages()
    job = queue.begin(
        JobSpec(
            TARGET,
            spec.to_json(),
            device="",
            title=_("Server of {name}", name=spec.name),
            env=ENVIRONMENT,
            stoppable=True,
            background=True,
            foreground=foreground,
            scratch=temporary,
        ),
        READY,
        watch,
    )
    return Server(job, spec)


def format_of(weights: str) -> str:
    """The format of exports with these weights. Raises SpecError if there is none."""
    known = [info.id for info in exporters.infos() if info.id.split("_")[0] == _format_id(FP32)]
    if _format_id(weights) not in known:
        names = (id.partition("_")[2] or FP32 for id in known)
        raise SpecError(
            _("There are no weights {weights!r}.", weights=weights),
            hint=_("Choose from: {names}.", names=", ".join(names)),
        )
    return _format_id(weights)


def _format_id(weights: str) -> str:
    return "onnx" if weights == FP32 else f"onnx_{weights}"


def export_folder(path: Path, weights: str = FP32) -> Path:
    """The ONNX folder at a path: itself, or that of an export with several formats.

    Raises ModelError if there is none.
    """
    for folder in (path, path / format_of(weights)):
        if folder.is_dir() and any(folder.glob("*.onnx")):
            return folder
    raise ModelError(
        _("{path} holds no exported ONNX model.", path=path),
        hint=_("Specify the folder of an export, or a run and its project with --project FILE."),
    )


def name_of(folder: Path) -> str:
    """What an exported folder is called; within an export with several formats, as the export."""
    folder = folder.resolve()
    formats = [info.id for info in exporters.infos()]
    return folder.parent.name if folder.name in formats else folder.name


def new_token() -> str:
    return secrets.token_urlsafe(24)


def weights_of(formats: Sequence[str]) -> tuple[str, ...]:
    """The weights that a run can be served with which can be exported in these formats."""
    served = {_format_id(weights): weights for weights in (FP32, "fp16", "int8")}
    return tuple(served[id] for id in formats if id in served)


def title_of(weights: str) -> str:
    return _(exporters.exporter_info(format_of(weights)).title)


def example(project: Project, run: Run) -> dict[str, Any]:
    """A request about a document of the project: an object of the fields that the model reads."""
    info = tasks.info(str(run.spec["task"]))
    records = export.check_records(project, info.texts, run.layer)
    if records:
        document = records[0].document
    else:
        document = Document("", ((TEXT, ""), (TEXT_B, ""))[: max(1, info.texts)])
    request: dict[str, Any] = {TEXT: document.text}
    if info.asks:
        request["questions"] = list(document.questions) or [_("Who?")]
    elif info.texts == CHOICES:
        request["choices"] = list(document.choices)
    elif info.texts == 2:
        request[TEXT_B] = document.content(TEXT_B)
    elif info.connects:
        request[SPANS] = [
            {"start": span.start, "end": span.end, "label": span.label}
            for span in document.input_spans
        ]
    return request


def ask(server: Server, request: Mapping[str, Any]) -> Any:
    """The answer of a server without a token to a request, as JSON. Not for the main thread.

    Raises WorkbenchError with what the server says.
    """
    headers, body = {"Content-Type": "application/json"}, json.dumps(request).encode()
    asking = urllib.request.Request(f"{server.address}/predict", body, headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(asking, timeout=TIMEOUT) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise WorkbenchError(error.read().decode("utf-8", "replace")) from None
    except (OSError, ValueError) as error:
        raise WorkbenchError(
            _(
                "The server at {address} does not answer: {error}",
                address=server.address,
                error=error,
            )
        ) from error
