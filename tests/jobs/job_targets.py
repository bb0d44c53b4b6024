"""Job targets without torch, for the tests of this folder.

Named in a JobSpec as "job_targets:counts".
"""

import ctypes
import json
import os
import sys
import time
from functools import partial
from pathlib import Path

from workbench.base import owned_folder
from workbench.base.errors import WorkbenchError
from workbench.base.process_start import TELEMETRY_OFF


def counts(params, folder):
    """Tells `total` steps; stopped, it saves what it has; closed, it writes nothing."""
    total = params.get("total", 5)
    for step in range(1, total + 1):
        time.sleep(params.get("pause", 0.0))
        message = yield {"kind": "step", "step": step, "total": total}
        if message == "stop":
            break
    (Path(folder) / "best.txt").write_text(str(step))
    yield {"kind": "evaluated", "step": step, "scores": {"accuracy": 0.5}}
    return {"steps": step}


def meets(params, folder):
    """Waits until all its processes have come; then one of them may fail, and the others wait."""
    number, count = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    (folder / f"here-{number}").write_text(str(os.getpid()))
    while len(list(folder.glob("here-*"))) < count:
        yield {}
        time.sleep(0.02)
    if number == params.get("fails"):
        raise WorkbenchError("This one is full.", hint="Make room.")
    if number == params.get("dies"):
        os._exit(7)
    while "fails" in params or "dies" in params or params.get("waits"):
        yield {}
        time.sleep(0.02)
    yield {"kind": "log", "line": f"{number} of {count}"}
    return {"number": number}


def copies(params, folder):
    """Writes what a file contains, several times, and names the process that did. With `resume` it
    continues from the state that it writes after each.
    """
    content, first = Path(params["source"]).read_text(), 1
    if params.get("resume"):
        first = int((folder / "state" / "step.txt").read_text()) + 1
    for step in range(first, params["times"] + 1):
        (folder / "copies").mkdir(exist_ok=True)
        (folder / "copies" / f"{step}.txt").write_text(content)
        owned_folder.replace(folder / "state", partial(write_step, step))
        message = yield {"kind": "step", "step": step, "total": params["times"]}
        if message == "stop":
            break
        time.sleep(params.get("pause", 0.0))
    return {"path": str(folder / "copies"), "steps": step, "first": first}


def write_step(step, folder):
    (folder / "step.txt").write_text(str(step))


def goes_on(params, folder):
    """Reports that it is ready, then nothing, until it is told to stop."""
    message = yield {"kind": "ready", "address": "here"}
    while message != "stop":
        time.sleep(0.02)
        message = yield {}
    return {"stopped": True}


def prints(params, folder):
    print('{"type": "finished", "status": "failed"}')
    sys.stdout.flush()
    yield {"kind": "log", "line": "hello"}
    return {"ok": True}


def fails(params, folder):
    yield {"kind": "log", "line": "so far so good"}
    raise ValueError("row 7 is odd")


def refuses(params, folder):
    raise WorkbenchError("Layer 'x' is empty.", hint="Label something.")
    yield


def runs_out_of_memory(params, folder):
    yield {"kind": "tick"}
    if params.get("torch"):
        raise RuntimeError(
            "[enforce fail at alloc_cpu.cpp:121] . DefaultCPUAllocator: can't allocate "
            "memory: you tried to allocate 9 bytes."
        )
    raise MemoryError


def segfaults(params, folder):
    yield {"kind": "log", "line": "going down"}
    print("last words", file=sys.stderr, flush=True)
    ctypes.string_at(0)


def ignores_stop(params, folder):
    Path(folder, "ready").write_text("")
    while True:
        time.sleep(0.05)
        yield {"kind": "tick"}


def hangs(params, folder):
    from workbench.jobs import channel

    channel.DISCARD_LIMIT = 0.5  # seconds that a worker hangs on without its parent; usually ten
    yield {"kind": "tick"}
    time.sleep(600)


def leaves(params, folder):
    yield {"kind": "tick"}
    raise SystemExit(3)


def has_child(params, folder):
    import subprocess

    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield {"kind": "child", "pid": child.pid}
    time.sleep(600)


def environment(params, folder):
    import os

    nice = os.nice(0) if hasattr(os, "nice") else 10
    names = (
        *TELEMETRY_OFF,
        "HF_HUB_OFFLINE",
        "TOKENIZERS_PARALLELISM",
        "OMP_NUM_THREADS",
        "EXTRA",
    )
    yield {"kind": "log", "line": "environment"}
    return {
        "nice": nice,
        "heavy": sorted({"torch", "PySide6", "numpy"} & set(sys.modules)),
        **{name: os.environ.get(name) for name in names},
    }


def modules(params, folder):
    yield {"kind": "log", "line": "modules"}
    return {"colorsys": "colorsys" in sys.modules}


def report():
    return {"best": "cpu"}


def panic():
    """Raise what tokenizers raises if a regular expression of tokenizer.json does not end."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("(a|aa)+$"), "isolated")
    tokenizer.encode("a" * 100 + "!")


def doubler(params):
    """Host target: doubles a number, and whatever else the tests ask for."""
    if params.get("broken"):
        raise WorkbenchError("config.json is missing.", hint="Choose another folder.")
    time.sleep(params.get("loading", 0.0))

    def answer(request):
        time.sleep(request.get("pause", 0.0))
        if request.get("die"):
            ctypes.string_at(0)
        if request.get("bad"):
            raise WorkbenchError("That text is empty.")
        if request.get("panic"):
            panic()
        if request.get("array"):
            import numpy

            return {"scores": numpy.arange(6, dtype=numpy.float32).reshape(2, 3), "n": 1}
        return {"value": request["value"] * 2}

    return answer


def lines_of(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def consumer(params):
    """Host target: takes the time and memory that a test asks for, and answers in parts."""

    def answer(request):
        if request.get("unlimited"):
            lift_limits()
        if request.get("bad"):
            raise WorkbenchError("That text is empty.")
        if request.get("die"):
            ctypes.string_at(0)
        held = b"x" * request.get("memory", 0)
        while request.get("loop"):
            pass
        if request.get("native"):
            sum([[0] * 10] * 10**6, start=[])  # quadratic, in one call that holds the lock
        for part in range(request.get("parts", 0)):
            end = time.process_time() + request.get("work", 0.0)
            while time.process_time() < end:
                pass
            yield part
        del held
        return {"parts": request.get("parts", 0)}

    return answer


def lift_limits():
    """As on a system that has none."""
    import resource
    import signal

    signal.setitimer(signal.ITIMER_PROF, 0)
    for limit in (resource.RLIMIT_AS, resource.RLIMIT_CPU):
        resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.getrlimit(limit)[1]))


LOADED = []


def load(argument):
    LOADED.append(argument)


def loaded(params, folder):
    yield {"kind": "log", "line": "here"}
    return {"loaded": LOADED}
