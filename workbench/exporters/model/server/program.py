"""Serves the model in a folder over HTTP: the program of a server export.

A copy of this module lies in the folder, see `exporters.model.bundle`.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.serving.run import run
from workbench.serving.spec import LOOPBACK, PORT, READY, ServeSpec

TOKEN = "GLOSSBENCH_TOKEN"  # environment variable


def main(folder: str, arguments: Sequence[str] | None = None) -> int:
    """Serve until the process is interrupted or terminated; returns the exit status."""
    options = _options(arguments)
    spec = ServeSpec(
        folder,
        Path(folder).resolve().name,
        options.host,
        options.port,
        os.environ.get(TOKEN, ""),
        exact=True,
    )
    stopped: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _frame: stopped.append(number))
    job = run(spec.to_json(), Path(folder))
    try:
        event = next(job)
        while True:
            if event.get("kind") == READY:
                print(f"http://{event['host']}:{event['port']}", flush=True)
            event = job.send("stop" if stopped else None)
    except StopIteration:
        return 0
    except WorkbenchError as error:
        print(error, file=sys.stderr)
        return 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "serve.py",
        description=_(
            "Answers POST /predict with JSON; the address has a page to try it. Addresses that "
            "other computers can reach need a token in the environment variable {name}.",
            name=TOKEN,
        ),
    )
    parser.add_argument(
        "--host", default=LOOPBACK, help=_("address (default: {host})", host=LOOPBACK)
    )
    parser.add_argument(
        "--port", type=int, default=PORT, help=_("port (default: {port})", port=PORT)
    )
    return parser.parse_args(arguments)
