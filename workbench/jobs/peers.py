"""The further processes of a job that several compute together: each runs the same target.

The worker that the queue has started is the first of them: it alone reports. The others end with
it, and it ends with a message when one of them does.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from workbench.base import peers, processors
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.jobs import events
from workbench.jobs.process import Child, last_lines

HEARD = 5.0  # seconds in which the reason of an interrupted connection is heard
HANGS = 5.0  # seconds after the end of one in which the first one hears of it by itself
LOOPBACK = {"linux": "lo", "darwin": "lo0"}


class Peers:
    """The processes 1 to `count` - 1 of the job in `folder`, while the block is running.

    abort(finished): called on a thread if this process still runs after another has failed.
    """

    def __init__(self, folder: Path, count: int, abort: Callable[[events.Finished], None]):
        self.folder, self.count, self.abort = folder, count, abort
        self._failed: events.Finished | None = None
        self._changed = threading.Event()
        self._over = False
        self._children: list[Child] = []

    def __enter__(self) -> Peers:
        if self.count == 1 or peers.COUNT in os.environ:  # started by `torchrun`
            return self
        meeting = self.folder / "processes"
        meeting.unlink(missing_ok=True)
        threads = max(1, processors.physical_cores() // self.count)
        together = {
            peers.COUNT: str(self.count),
            peers.RENDEZVOUS: str(meeting.absolute()),
            "LOCAL_WORLD_SIZE": str(self.count),
            "OMP_NUM_THREADS": str(threads),
        }
        if name := LOOPBACK.get(sys.platform):  # nothing listens on the network
            together |= {"GLOO_SOCKET_IFNAME": name, "NCCL_SOCKET_IFNAME": name}
        os.environ.update({**together, peers.NUMBER: "0", "LOCAL_RANK": "0"})
        for number in range(1, self.count):
            own = {peers.NUMBER: str(number), "LOCAL_RANK": str(number)}
            child = Child(
                [str(self.folder.absolute())],
                on_message=partial(self._heard, number),
                on_end=partial(self._ended, number),
                log=self.folder / f"log-{number}.txt",
                env={**together, **own},
            )
            self._children.append(child.start())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over = True
        for child in self._children:
            child.kill()
        for child in self._children:
            child.wait(5)

    def failure(self, error: BaseException) -> events.Finished | None:
        """Why another process failed, if the error of this one is that it is gone."""
        if not self._children or isinstance(error, WorkbenchError | MemoryError):
            return None
        self._changed.wait(HEARD)
        return self._failed

    def _heard(self, number: int, message: dict[str, Any]) -> None:
        if message.get("type") == "finished" and message.get("status") != "done":
            finished = events.from_json(message)
            assert isinstance(finished, events.Finished)
            self._fail(number, finished)

    def _ended(self, number: int, code: int | None) -> None:
        if code != 0:
            log = last_lines(self.folder / f"log-{number}.txt")
            why = _("return code {code}", code=code)
            self._fail(number, events.Finished("crashed", message=why, details=log))

    def _fail(self, number: int, finished: events.Finished) -> None:
        if self._over or self._failed is not None:
            return
        message = _(
            "Process {number} of {count} ended: {reason}",
            number=number + 1,
            count=self.count,
            reason=finished.message or finished.status,
        )
        hint, details = finished.hint, finished.details
        status = finished.status if finished.status == "out_of_memory" else "crashed"
        self._failed = events.Finished(status, message=message, hint=hint, details=details)
        self._changed.set()
        threading.Thread(target=self._abort, name="glossbench-peers", daemon=True).start()

    def _abort(self) -> None:
        """The connection to a process that is gone may wait for ever."""
        ends = time.monotonic() + HANGS
        while not self._over and time.monotonic() < ends:
            time.sleep(0.1)
        if not self._over and self._failed is not None:
            for child in self._children:
                child.kill()
            self.abort(self._failed)
