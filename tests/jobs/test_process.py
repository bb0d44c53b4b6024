"""One child process by itself."""

import errno
import os
import signal
import sys
import time

import pytest

from workbench.jobs import process
from workbench.jobs.process import Child, last_lines

pytestmark = pytest.mark.process


def child(tmp_path, ends, *arguments):
    return Child(
        arguments or (str(tmp_path),),
        on_message=lambda message: None,
        on_end=ends.append,
        log=tmp_path / "log.txt",
    )


def wait_until_it_runs(item):
    ends = time.monotonic() + 20
    while item.pid is None and time.monotonic() < ends:
        time.sleep(0.01)


def test_a_child_that_is_killed_at_once_goes_even_before_it_stands(tmp_path):
    ends = []
    item = child(tmp_path, ends, "--spare", "time").start()

    item.kill()

    assert item.wait(20)
    assert len(ends) == 1


def test_a_program_that_is_not_there_is_a_problem_in_words_and_no_crash(tmp_path, monkeypatch):
    ends = []
    monkeypatch.setattr(process.sys, "executable", str(tmp_path / "nothing"))

    item = child(tmp_path, ends).start()

    assert item.wait(20)
    assert ends == [None]
    assert os.strerror(errno.ENOENT) in item.problem  # the system's words follow the locale


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has neither sessions nor process groups of this kind"
)
def test_a_child_has_a_group_of_its_own_in_our_session_so_that_its_niceness_counts_against_us(
    tmp_path,
):
    item = child(tmp_path, [], "--spare", "time").start()
    try:
        wait_until_it_runs(item)
        assert os.getpgid(item.pid) == item.pid != os.getpgid(0)
        assert os.getsid(item.pid) == os.getsid(0)
    finally:
        item.kill()
        assert item.wait(20)


def test_messages_to_a_child_that_has_gone_are_no_error(tmp_path):
    ends = []
    item = child(tmp_path, ends).start()
    assert item.wait(20)

    item.send({"type": "stop"})
    item.cancel()

    assert item.ended


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGSTOP")
@pytest.mark.timeout(30)
def test_a_child_that_reads_nothing_holds_up_neither_send_nor_kill(tmp_path):
    item = child(tmp_path, [], "--spare", "time").start()
    wait_until_it_runs(item)
    os.kill(item.pid, signal.SIGSTOP)

    item.send({"type": "ask", "request": "x" * 5_000_000})  # more than a pipe holds
    item.kill()

    assert item.wait(20)


def test_the_end_of_a_log_is_found_in_a_large_file(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("\n".join(f"line {number}" for number in range(50_000)), encoding="utf-8")

    assert last_lines(path, 2) == "line 49998\nline 49999"
    assert last_lines(tmp_path / "none.txt") == ""
