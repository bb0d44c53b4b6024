"""Training, export, prediction and the window open no network connections.

They also open no files outside their folders.
"""

import contextlib
import json
import socket
import sys
import tempfile
from pathlib import Path

import pytest

from tests import forks, network_watch, tiny_models
from workbench.exporters.model.spec import loading_code

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(600)]
OURS = ("home/config/glossbench/", "home/data/glossbench/", "home/cache/glossbench/")
FOREIGN = ("home/cache/fontconfig/",)  # written by the system's font library for every Qt program
TEXT = "The 42 tram was late."

LIBRARY = """
import sys, workbench
from pathlib import Path
from workbench.text.dataset import read
from workbench.training.spec import TrainSpec

data = read(sys.argv[2])
layer = next(
    layer.name for layer in data.layers if layer.kind == "class" and layer.texts == 1
)
options = {"epochs": 1, "device": "cpu", "train_limit": 16}
spec = TrainSpec("classify", layer, sys.argv[1], options=options)
list(workbench.train(spec, data, "library-run"))
model = workbench.load_model("library-run/model", device="cpu")
from workbench.runtime.onnx_predictor import OnnxPredictor
predictor = OnnxPredictor.load(sys.argv[3])
from workbench.text.document import Document
text = "The tram was late."
print(model.predict_texts([text])[0].label, predictor.predict([Document("1", (("text", text),))]))
"""
WINDOW = """
import os, sys, time, traceback
from tests import forks
from workbench.base import settings
from workbench.jobs import process
from workbench.ui.app import App, make_qt

if sys.argv[2]:
    process.subprocess = forks.use(sys.argv[2])

def broken(*error):
    traceback.print_exception(*error)
    os._exit(3)

qt = make_qt()
app = App(qt, settings.Settings())
app.window.show()
app.window.load_commands()
sys.excepthook = broken
assert app.open_project(sys.argv[1])
app.queue.spare.prepare()
end = time.monotonic() + 90
for page in app.window.pages():
    app.window.go(page.id)
    qt.processEvents()
while not app.settings.devices and time.monotonic() < end:
    qt.processEvents()
    time.sleep(0.01)
assert app.settings.devices
app.closed()
"""


@pytest.fixture(scope="module")
def watch(tmp_path_factory):
    """A watcher of the whole journey. Workers and the use as a library are forked from a process
    that is watched, too, while it imports the libraries.
    """
    watch = network_watch.Watch(tmp_path_factory.mktemp("offline"))
    with contextlib.ExitStack() as stack:
        address = ""
        if sys.platform.startswith("linux"):
            short = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="forks")))
            # The process that forks imports matplotlib, with its fonts where workers keep them.
            fonts = watch.home / "cache" / "glossbench" / "matplotlib"
            env = {**watch.env, "MPLCONFIGDIR": str(fonts)}
            server = forks.Server(short, env=env, prefix=watch.tracing())
            stack.callback(server.close)
            address = server.address
        travel(watch, address)
    return watch


def travel(watch, address):
    """Use the program from the sample to the export."""
    model = tiny_models.make(watch.folder / "tiny-bert", layers=1)

    def glossbench(*arguments):
        return watch.python(*forks.command(address)[1:], *arguments)

    project = glossbench("sample", "sample").strip()
    glossbench(
        "train",
        project,
        "--task",
        "classify",
        "--model",
        model,
        "--name",
        "first",
        "--set",
        "epochs=1",
        "--set",
        "train_limit=16",
    )
    out = json.loads(glossbench("export", project, "--run", "first", "out", "--json"))["folders"]
    glossbench("predict", "first", "--project", project, "--text", TEXT)
    glossbench("suggest", project, "--run", "first")
    glossbench("export-data", project, "data.jsonl", "--format", "glossbench")
    glossbench("doctor", project)
    loading = [loading_code(format, folder, "classify") for format, folder in out.items()]
    library = forks.script(address, "\n".join([LIBRARY, *loading]))[1:]
    watch.python(*library, model, "data.jsonl", out["onnx"])
    watch.python("-c", WINDOW, project, address)


def test_python_code_opens_no_connection(watch):
    assert watch.from_python() == []


@pytest.mark.skipif(bool(network_watch.why_no_trace()), reason=network_watch.why_no_trace())
def test_native_code_opens_no_connection(watch):
    assert watch.from_native_code() == []


def test_files_are_created_in_our_own_folders_only(watch):
    others = [file for file in watch.files() if not file.startswith((*OURS, *FOREIGN))]

    assert others == []


CONTACT = """
import socket
try:
    socket.getaddrinfo("glossbench.invalid", 443)
except OSError:
    pass
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.1", 9))
"""


def test_a_connection_and_a_name_look_up_are_noticed(tmp_path):
    watch = network_watch.Watch(tmp_path / "watch")

    watch.python("-c", CONTACT)

    assert [line.split()[1] for line in watch.from_python()] == ["glossbench.invalid", "192.0.2.1"]
    if not network_watch.why_no_trace():
        assert any("192.0.2.1" in line for line in watch.from_native_code())


def test_loopback_and_local_sockets_are_no_connection(tmp_path):
    watch = network_watch.Watch(tmp_path / "watch")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        watch.python("-c", f"import socket; socket.create_connection(('127.0.0.1', {port}))")

    assert watch.from_python() == watch.from_native_code() == []


@pytest.mark.parametrize(
    ("line", "leaves"),
    [
        (
            "connect(3, {sa_family=AF_INET, sin_port=htons(443), "
            'sin_addr=inet_addr("192.0.2.1")}, 16) = 0',
            True,
        ),
        (
            "connect(3, {sa_family=AF_INET, sin_port=htons(53), "
            'sin_addr=inet_addr("127.0.0.53")}, 16) = 0',
            True,
        ),
        (
            "connect(3, {sa_family=AF_INET, sin_port=htons(80), "
            'sin_addr=inet_addr("127.0.0.1")}, 16) = 0',
            False,
        ),
        (
            "connect(3, {sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), "
            'inet_pton(AF_INET6, "2001:db8::1", &sin6_addr)}, 28) = 0',
            True,
        ),
        (
            "connect(3, {sa_family=AF_UNIX, "
            'sun_path="/run/systemd/resolve/io.systemd.Resolve"}, 42) = 0',
            True,
        ),
        ('connect(3, {sa_family=AF_UNIX, sun_path="/tmp/.X11-unix/X0"}, 20) = 0', False),
    ],
)
def test_system_calls_are_judged_by_their_address(line, leaves):
    assert network_watch.leaves_the_computer(line) == leaves
