"""A prompt run over 5,000 documents that is cancelled or killed goes on and asks nothing twice."""

import os
import signal
import sys
from collections import Counter

import pytest

from tests import a_plugin
from workbench.base import paths, registry
from workbench.jobs.queue import Queue
from workbench.operations.application import plugins
from workbench.operations.prompts import prompt
from workbench.operations.runs import results
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.run_recorder import wire
from workbench.project.project import Project
from workbench.prompting import transcript
from workbench.prompting.spec import AnswerSpec, PromptSpec
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.storage.runs import replies
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document

pytestmark = [pytest.mark.process, pytest.mark.slow]

CODE = '''
"""Answers "praise", and writes down what it is asked in the file that its model names."""

from workbench.prompting.backends.base import Backend
from workbench.prompting.backends.spec import CHAT, GENERATE, SCORE, BackendInfo, PromptModel
from workbench.prompting.generation import CANCELLED, Reply


class CountInfo(BackendInfo):
    id = "count.words"
    title = "Counting"

    def models(self, at_hand):
        return []


INFO = CountInfo()


class Count(Backend):
    info = INFO
    kind = "count"
    can = frozenset((SCORE, GENERATE, CHAT))

    def __init__(self, model, options):
        self.log = open(model.removeprefix("log:"), "a")

    def note(self, text):
        self.log.write(text.splitlines()[-1] + "\\n")
        self.log.flush()

    def score(self, prompts):
        for prompt in prompts:
            if prompt.answer == "praise":
                self.note(prompt.before)
        return [[-1.0 if prompt.answer == "praise" else -2.0] for prompt in prompts]

    def generate(self, requests, on_reply=None):
        replies = [Reply(finish=CANCELLED)] * len(requests)
        for at, request in enumerate(requests):
            self.note(request.text)
            replies[at] = Reply("praise", prompt_tokens=9, reply_tokens=1)
            if on_reply and not on_reply(at, replies[at]):
                break
        return replies
'''
ENTRY = {
    "id": "count.words",
    "title": "Counting",
    "object": "counting.code:Count",
    "info": "counting.code:INFO",
}
COUNT = 5000


@pytest.fixture
def backend(tmp_path):
    """The file in which the plugin's backend writes down what it is asked."""
    registry.registry.cache_clear()
    entries = {"backend": [ENTRY]}
    folder = a_plugin.make(tmp_path, id="count", package="counting", entries=entries, code=CODE)
    plugins.enable(plugins.find(str(folder)))
    yield tmp_path / "asked.txt"
    for name in [module for module in sys.modules if module.partition(".")[0] == "counting"]:
        del sys.modules[name]
    registry.registry.cache_clear()


@pytest.fixture
def project(tmp_path):
    project = Project.create(tmp_path / "many.glossbench")
    with project.edit("fill", bulk=True):
        layer = labels.add_layer(project.db, "topic", "class")
        for name in ("praise", "complaint"):
            labels.add_label(project.db, layer, name)
        rows = [
            Record(
                Document(f"d{n}", ((TEXT, f"message {n}"),), "dev"),
                {"topic": "submitted"},
                {"topic": ("praise",)},
            )
            for n in range(COUNT)
        ]
        documents.add(project.db, rows, source_id=project.source("import", "test"))
    yield project
    project.close()


@pytest.fixture
def queue(project):
    queue = Queue()
    wiring = wire(project, queue)
    yield queue
    queue.close(keep=False)
    wiring.close()


def spec(log, **more):
    settings = {"shots": 0, "calibration": "none", "backend": "count.words", **more}
    # No path of a file: kept answers depend on the content of those.
    return PromptSpec("{{ text }} {{ label }}", f"log:{log}", "counting", "topic", **settings)


def asked(log):
    return Counter(line.split()[1] for line in log.read_text().splitlines())


def wait_for(queue, log, least):
    """Until the backend of the running job was asked so much more."""
    before = log.read_text().count("\n") if log.exists() else 0
    job = queue.jobs[-1]
    while not log.exists() or log.read_text().count("\n") < before + least:
        queue.wait(job, 0.01)
        assert not job.over, job.message
    return job


def resume(project, queue, run):
    run = results.run(project, run.id)
    kinds.start(project, queue, prompt.prepare_resume(project, run))


@pytest.mark.parametrize("answer", [AnswerSpec(), AnswerSpec(form="first")])
def test_a_run_is_cancelled_and_resumed_without_asking_twice(project, queue, backend, answer):
    run = prompt.run(project, queue, spec(backend, answer=answer))
    for _time in range(2):
        job = wait_for(queue, backend, 500)
        job.cancel()
        assert queue.wait(job, 30) and results.run(project, run.id).status == "interrupted"
        resume(project, queue, run)
    assert queue.wait(queue.jobs[-1], 100)

    assert len(asked(backend)) == COUNT and set(asked(backend).values()) == {1}
    done = results.run(project, run.id)
    assert (done.status, done.result["n"]) == ("done", COUNT)
    assert done.scores["dev"]["accuracy"] == 1

    again = prompt.run(project, queue, spec(backend, answer=answer))
    assert queue.wait(queue.jobs[-1], 100)
    assert results.run(project, again.id).result["known"] == COUNT
    assert asked(backend).total() == COUNT


def test_a_worker_that_is_killed_loses_no_answer_that_arrived(project, queue, backend):
    run = prompt.run(project, queue, spec(backend))
    job = wait_for(queue, backend, 1000)
    os.kill(job.pid, signal.SIGKILL)
    assert queue.wait(job, 30)

    arrived = len(transcript.answers(paths.run_folder(project.path, run.id)))
    assert arrived >= 1000 - 8 and replies.count(project.db) == arrived
    resume(project, queue, run)
    assert queue.wait(queue.jobs[-1], 100)

    assert results.run(project, run.id).scores["dev"]["accuracy"] == 1
    assert len(asked(backend)) == COUNT and asked(backend).total() <= COUNT + 8  # one batch


def test_a_program_that_is_killed_loses_no_answer_that_arrived(project, backend):
    """The process of the project is not asked: its queue and connection are left as they are."""
    queue = Queue()
    run = prompt.run(project, queue, spec(backend))  # nothing records the end
    job = wait_for(queue, backend, 1000)
    os.kill(job.pid, signal.SIGKILL)
    queue.wait(job, 30)
    (paths.run_folder(project.path, run.id) / "result.json").unlink()  # its parent wrote it
    path = project.path
    project.close()

    with_project = Project.open(path)
    other = Queue()
    wiring = wire(with_project, other)
    assert results.run(with_project, run.id).status == "interrupted"
    assert replies.count(with_project.db) >= 1000 - 8
    resume(with_project, other, run)
    assert other.wait(other.jobs[-1], 100)

    assert results.run(with_project, run.id).status == "done"
    assert asked(backend).total() <= COUNT + 8
    other.close()
    wiring.close()
    with_project.close()
