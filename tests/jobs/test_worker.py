"""What a worker says of its end when even its own folder cannot be written. /dev/full is a disk
without room.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest

from workbench.jobs import events
from workbench.jobs.channel import Channel
from workbench.jobs.spec import JobSpec

HERE = Path(__file__).parent
FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
def test_the_parent_hears_the_end_though_the_record_cannot_be_written():
    incoming, outgoing = os.pipe()
    channel = Channel(outgoing, FULL)

    channel.send(events.Finished("failed", message="one"))
    channel.send(events.Finished("failed", message="two"))
    channel.close()
    os.close(outgoing)

    with os.fdopen(incoming) as lines:
        assert [json.loads(line)["message"] for line in lines] == ["one", "two"]


def test_a_record_that_cannot_be_made_is_no_fault(tmp_path):
    Channel(os.open(os.devnull, os.O_WRONLY), tmp_path / "gone" / "events.jsonl").send(
        events.Finished("done")
    )


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_ctrl_c_ends_a_host_that_was_started_by_hand(tmp_path):
    JobSpec("job_targets:doubler").write(tmp_path / "host.json")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (HERE.parents[1], HERE)))}
    command = [sys.executable, "-m", "workbench", "worker", str(tmp_path)]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, env=env) as host:
        try:
            assert b"ready" in host.stdout.readline()

            host.send_signal(signal.SIGINT)

            assert host.wait(20) == 0
        finally:
            host.kill()
