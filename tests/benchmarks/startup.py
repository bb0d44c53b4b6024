"""CPU seconds from process start to the painted Welcome page, and the modules loaded by then.

    .venv/bin/python tests/benchmarks/startup.py [ROUNDS]

Prints the median of ROUNDS (5) new processes on the offscreen platform, and the machine's load.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from meter import arguments, print_machine

TARGET = 0.5  # CPU seconds
HEAVY = (
    "numpy",
    "pandas",
    "pyqtgraph",
    "sqlite_utils",
    "click",
    "torch",
    "transformers",
    "sklearn",
    "scipy",
    "onnxruntime",
    "pyarrow",
)
CHILD = """
import sys, time
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication
from workbench.ui import app as faces

class Watch(QObject):
    painted = False
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            Watch.painted = True
        return False

qt = faces.make_qt()
app = faces.App(qt)
app.window.go("welcome")
view, watch = app.window.stack.currentWidget(), Watch()
view.installEventFilter(watch)
app.window.show()
while not Watch.painted:
    qt.processEvents()
print(time.process_time(), *sorted(name for name in sys.modules if name in {heavy!r}))
sys.stdout.flush()
import os
os._exit(0)
"""


def one_start() -> tuple[float, list[str]]:
    """(CPU seconds, heavy modules loaded) of a fresh process."""
    with tempfile.TemporaryDirectory() as home:
        places = {f"XDG_{name}_HOME": f"{home}/{name}" for name in ("CONFIG", "DATA", "CACHE")}
        env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "HOME": home, **places}
        root = Path(__file__).resolve().parents[2]
        command = [sys.executable, "-c", CHILD.replace("{heavy!r}", repr(set(HEAVY)))]
        done = subprocess.run(
            command, capture_output=True, text=True, env=env, cwd=root, check=True, timeout=60
        )
    seconds, *loaded = done.stdout.split()
    return float(seconds), loaded


def main(rounds: int) -> int:
    one_start()  # byte code and caches of the disk
    result = [one_start() for _ in range(rounds)]
    seconds = statistics.median(item for item, _loaded in result)
    print(
        f"process start to painted Welcome page: {seconds:.3f} s CPU "
        f"(median of {rounds}; target {TARGET})"
    )
    print(f"heavy modules loaded by then: {', '.join(result[0][1]) or 'none'}")
    print_machine()
    return int(seconds > TARGET or bool(result[0][1]))


if __name__ == "__main__":
    sys.exit(main(*arguments(__doc__, {"rounds": 1}, rounds=5)))
