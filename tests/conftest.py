"""Fixtures shared by all tests. They start no worker and use neither network nor user folders."""

import functools
import gc
import itertools
import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import contextlib
import re
import shutil
import socket
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

import workbench  # noqa: F401  turns telemetry off before a test imports onnxruntime
from tests import compiled, forks, leaks, operators
from tests.deadline import Deadlines
from workbench.ui.shell import plain_imports

plain_imports.install()  # before pytest-qt imports PySide6

MEMORY = Path("/dev/shm")  # a file system in memory, on Linux
LARGE_BYTES = 100_000
ROOM_BYTES = 8 << 30  # a run of all tests has 1.6 GB there at most, and torch is loaded twice


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    gc.disable()  # until the tests are collected, which imports nearly everything
    _write_to_memory(config)
    config.pluginmanager.register(Deadlines())


def _write_to_memory(config):
    """Keep the folders of the tests in memory where there is room: a run makes 26,000 of them."""
    with contextlib.suppress(OSError):
        room = min(shutil.disk_usage(MEMORY).free, psutil.virtual_memory().available)
        if os.access(MEMORY, os.W_OK) and room > ROOM_BYTES:
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
            config.pluginmanager.register(_DeletedAtTheEnd())


class _DeletedAtTheEnd:
    """Deletes the folders of the tests if all have passed; on a disk that would take a minute."""

    def pytest_sessionfinish(self, session, exitstatus):
        folders = session.config._tmp_path_factory
        if exitstatus == 0 and folders._given_basetemp is None:  # not that of a worker
            shutil.rmtree(folders.getbasetemp(), ignore_errors=True)


def pytest_sessionstart(session):
    """Compile test modules once for all workers."""
    compiled.share(session.config)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish():
    """Collect what the last tests left; pytest searches every module twice more when it ends."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish():
    """Collect garbage here, and never in a thread that a test has started: a Qt object in a
    reference cycle must be destroyed on the main thread. The application does it in
    `ui.shell.garbage`.
    """
    youngest, middle, oldest = gc.get_count()
    if youngest > 2_000:
        gc.collect(2 if oldest > 30 else 1 if middle > 5 else 0)


def pytest_collection_modifyitems(items):
    """Run files with slow tests first, so that no process is left alone with one at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


_modules_exempted = 0


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """Exempt what was imported from later collections, and share torch's table of operators.

    With torch and transformers imported, a full collection takes a quarter of a second, and every
    training asks for one.
    """
    global _modules_exempted
    if len(sys.modules) > _modules_exempted + 200:
        gc.collect()
        gc.freeze()
        _modules_exempted = len(sys.modules)
    operators.share()


@pytest.fixture(autouse=True)
def no_leaks(request):
    """Fails if a test leaves widgets, threads, child processes or open project files behind."""
    before = leaks.snapshot()
    yield
    if left := leaks.left_since(before):
        pytest.fail("Left behind: " + "; ".join(left), pytrace=False)


_folders = itertools.count()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    item.stash[_has_failed] = item.stash.get(_has_failed, False) or report.failed
    return report


_has_failed = pytest.StashKey[bool]()


@pytest.fixture
def tmp_path(request, tmp_path_factory):
    """An empty folder of the test. Large files are deleted at its end, unless it has failed.

    As pytest's own, which lists the folders of all earlier tests and updates a link each time, and
    keeps all files until the end of the run: here they lie in memory. Small ones stay, since the
    window uses its written icons as long as the process lives.
    """
    name = re.sub(r"\W", "_", request.node.name)[:30]
    path = tmp_path_factory.getbasetemp() / f"{name}{next(_folders)}"
    path.mkdir(mode=0o700)
    yield path
    if not request.node.stash.get(_has_failed, False):
        _delete_large_files(path)


def _delete_large_files(folder):
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                if os.lstat(path := os.path.join(place, name)).st_size > LARGE_BYTES:
                    os.remove(path)


@pytest.fixture(autouse=True)
def user_dir(tmp_path, monkeypatch):
    """Settings, logs, caches, documents and models of the user in a folder of the test."""
    home = tmp_path / "home"
    _use_home(home, monkeypatch)
    return home


def _use_home(home, monkeypatch):
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    monkeypatch.setenv("XDG_DOCUMENTS_DIR", str(home / "Documents"))
    for name in ("HF_HOME", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session", autouse=True)
def loopback_only():
    """Connections leave this computer in no test."""
    connect = socket.socket.connect

    def guarded(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6) and str(address[0]) not in (
            "127.0.0.1",
            "::1",
            "localhost",
        ):
            raise ConnectionRefusedError(f"tests connect to loopback only, not to {address[0]}")
        return connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        yield


@pytest.fixture(scope="session")
def qapp(qapp):
    """pytest-qt's application with one pinned font: the default depends on what is installed."""
    from PySide6.QtGui import QFont

    qapp.setFont(QFont("DejaVu Sans", 10))
    return qapp


@pytest.fixture
def qtbot(qtbot):
    """Waits for up to 30 s, not 5: tests share busy machines."""
    qtbot.waitUntil = functools.partial(qtbot.waitUntil, timeout=30_000)
    return qtbot


@pytest.fixture(scope="session")
def built_once(tmp_path_factory):
    """`built_once(build)` → the path that `build(folder)` returns; built once per process.

    `build` is a function of a module; it runs with the settings of a new user. Tests use a copy.
    """
    built = {}

    def get(build):
        if build not in built:
            folder = tmp_path_factory.mktemp(build.__name__)
            with pytest.MonkeyPatch.context() as patch:
                _use_home(folder / "home", patch)
                built[build] = build(folder)
        return built[build]

    return get


@pytest.fixture(scope="session")
def copy_of(built_once):
    """`copy_of(build, path)` copies the file that `build` returns to `path`; returns `path`."""

    def copy(build, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copyfile(built_once(build), path))

    return copy


def empty_project(folder):
    """Create an empty project; returns its path."""
    from workbench.project.project import Project

    path = folder / "empty.glossbench"
    Project.create(path).close()
    return path


def sample_project(folder):
    """Create the sample project; returns its path."""
    from workbench.operations.application import sample

    return sample.create_sample(folder)


@pytest.fixture
def copy_sample(copy_of, built_once):
    """`copy_sample(folder)` → the path of a copy of the sample project, closed."""
    return lambda folder: copy_of(sample_project, folder / built_once(sample_project).name)


@pytest.fixture
def project(request, tmp_path, copy_of):
    """An empty project, open for writing.

    Checks that no listener or transaction is left, and that the file is sound after the edits of
    the test, their undo and their redo (`soundness`), unless the test is marked `unsound`.
    """
    from tests import soundness
    from workbench.project.project import Project

    project = Project.open(copy_of(empty_project, tmp_path / "p.glossbench"))
    yield project
    assert not project.changed.listeners
    is_sound = request.node.get_closest_marker("unsound") is None
    damage = soundness.problems(project) if is_sound else []
    project.close()
    assert damage == []


@pytest.fixture
def registry():
    """Built-ins only."""
    from workbench.base.registry import builtins

    return builtins()


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """Folder of a seeded BERT of two layers, 16 wide, made here; nothing is downloaded."""
    from tests import tiny_models

    return tiny_models.make(tmp_path_factory.mktemp("models") / "tiny-bert")


@pytest.fixture(scope="session")
def flat_model(tmp_path_factory):
    """As `tiny_model`, with one layer: converting its graph takes half the time."""
    from tests import tiny_models

    return tiny_models.make(tmp_path_factory.mktemp("models") / "flat-bert", layers=1)


@pytest.fixture
def inline_jobs():
    """A queue whose jobs run in this process, once the mailbox is drained (`queue.wait`)."""
    from tests.inline import InlineQueue

    queue = InlineQueue()
    yield queue
    queue.close()


@pytest.fixture
def jobs_in_process(monkeypatch):
    """Commands run their jobs in this process, where torch is imported once, not in workers."""
    from tests.inline import InlineQueue

    monkeypatch.setattr("workbench.jobs.queue.Queue", InlineQueue)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Let the processes of a run of the whole suite have one process that forks workers."""
    config = node.config
    is_whole = config.args_source is config.ArgsSource.TESTPATHS
    if not is_whole or not sys.platform.startswith("linux"):
        return
    if _forks not in config.stash:
        folder = tempfile.TemporaryDirectory(prefix="forks")  # short, as the address of a socket
        config.stash[_forks] = folder, forks.Server(Path(folder.name), wait=False)
    node.workerinput["fork_server"] = config.stash[_forks][1].address


def pytest_unconfigure(config):
    if _forks in config.stash:
        folder, server = config.stash[_forks]
        server.close()
        folder.cleanup()


_forks = pytest.StashKey()


@pytest.fixture(scope="session")
def fork_server(request):
    """The address of a process that forks workers with torch already imported (Linux), else ""."""
    if not sys.platform.startswith("linux"):
        yield ""
        return
    if shared := getattr(request.config, "workerinput", {}).get("fork_server"):
        forks.wait_for(shared)
        yield shared
        return
    with tempfile.TemporaryDirectory(prefix="forks") as folder:  # short, as the address of a socket
        server = forks.Server(Path(folder))
        yield server.address
        server.close()


@pytest.fixture
def forked_workers(fork_server, monkeypatch):
    """Workers that this process starts are forked: processes of their own, without the start-up."""
    if fork_server:
        monkeypatch.setattr("workbench.jobs.process.subprocess", forks.use(fork_server))


@pytest.fixture
def make_panel(request):
    """`make_panel(page, project_file, **args)` → the panel, shown in the window."""
    app = request.getfixturevalue("app")

    def make(page: str, project_file: Path, **args):
        assert app.open_project(project_file, page=page, **args)
        return app.window.panel(page)

    return make


@pytest.fixture(scope="session")
def data_folder():
    """Real data sets and sample texts in GLOSSBENCH_DATA (default ../shared); skips if missing."""
    folder = Path(os.environ.get("GLOSSBENCH_DATA", Path(__file__).resolve().parents[2] / "shared"))
    if not (folder / "datasets").is_dir():
        pytest.skip(f"no data sets in {folder}; set GLOSSBENCH_DATA")
    return folder
