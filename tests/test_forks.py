"""Forked workers are processes of their own, and end and report as other workers do."""

import os
import signal
import subprocess
import sys

import pytest

from tests import forks
from workbench.jobs.process import Child, last_lines

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks are used on Linux"),
]


def start(*arguments, env=None, log=None):
    """A started child, its messages and its return codes."""
    messages, codes = [], []
    child = Child(arguments, on_message=messages.append, on_end=codes.append, env=env, log=log)
    return child.start(), messages, codes


def test_a_forked_worker_has_its_own_environment_group_and_log(
    forked_workers, monkeypatch, tmp_path
):
    where = tmp_path / "job_of_this_test.py"
    where.write_text(
        "import os, sys\n"
        "def report():\n"
        "    print('last words', file=sys.stderr)\n"
        "    return {'flag': os.environ['FLAG'], 'group': os.getpgid(0), 'pid': os.getpid(),\n"
        "            'ours': 'workbench.operations' in sys.modules}\n"
    )
    log = tmp_path / "log.txt"
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    arguments = ("--spare", "json", "--report", "job_of_this_test:report")
    child, messages, codes = start(*arguments, env={"FLAG": "é"}, log=log)
    while not messages and not child.wait(0.01):
        pass
    child.kill()

    assert child.wait(30)
    (report,) = [message["report"] for message in messages if "report" in message]
    assert report == {"flag": "é", "group": child.pid, "pid": child.pid, "ours": False}
    assert child.pid != os.getpid() and codes == [-signal.SIGKILL]
    assert last_lines(log, 1) == "last words"


def test_a_forked_worker_uses_the_hub_that_its_environment_names(
    forked_workers, monkeypatch, tmp_path
):
    where = tmp_path / "hub_of_this_test.py"
    where.write_text(
        "from huggingface_hub import HfApi, constants\n"
        "def report():\n"
        "    places = HfApi().endpoint, constants.HF_HUB_CACHE\n"
        "    return {'places': places, 'offline': constants.is_offline_mode()}\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    own = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "0"}
    arguments = ("--spare", "json", "--report", "hub_of_this_test:report")
    child, messages, _codes = start(*arguments, env=own)
    while not messages and not child.wait(0.01):
        pass
    child.kill()

    assert child.wait(30)
    places = ["http://127.0.0.1:9", str(tmp_path / "hub")]
    assert messages[0]["report"] == {"places": places, "offline": False}


def test_the_return_code_of_a_forked_worker_is_reported(forked_workers, tmp_path):
    child, messages, codes = start(str(tmp_path / "nothing"), log=tmp_path / "log.txt")

    assert child.wait(30)
    assert codes == [1] and messages[-1]["status"] == "failed"


def test_a_forked_worker_ends_with_its_input(forked_workers):
    child, messages, codes = start("--spare", "json")
    while not messages and not child.wait(0.01):
        pass
    child.stop()

    assert child.wait(30) and codes == [0]


def test_code_runs_in_a_forked_process_with_the_streams_of_its_command(fork_server):
    code = "import sys; print(sys.argv, 'torch' in sys.modules, input()); sys.exit(3)"
    command = [*forks.script(fork_server, code), "one"]

    done = subprocess.run(command, input="two\n", capture_output=True, text=True, cwd=forks.ROOT)

    assert (done.returncode, done.stdout) == (3, "['-c', 'one'] True two\n"), done.stderr
