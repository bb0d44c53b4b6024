"""A folder with a server: the ONNX model, and what answers requests in our own source."""

from __future__ import annotations

import shlex
from pathlib import Path

from workbench.base.i18n import N_
from workbench.exporters.model.plain.info import PlainInfo
from workbench.tasks.spec import TaskInfo

PROGRAM = "serve.py"


class ServerInfo(PlainInfo):
    id = "server"
    title = N_("Server")
    group = "server"
    language = "sh"
    purpose = N_(
        "For a server with Python: a folder with serve.py, which answers requests over HTTP with "
        "FastAPI and onnxruntime."
    )

    def loading_code(self, folder: str, task: TaskInfo, *, own_head: bool) -> str:
        return _CODE.format(program=shlex.quote((Path(folder) / PROGRAM).as_posix()))


_CODE = "python {program} --port 8765\n"

INFO = ServerInfo()
