"""What a process does first: it imports nothing from the folder that it is started in, and turns
the usage statistics of imported libraries off.

`python -m` puts the current folder first in `sys.path`, and so does an empty entry of PYTHONPATH,
which `PYTHONPATH=$PYTHONPATH:/folder` leaves: among the files of a user, a `json.py` would run in
place of the module of that name.

This module must import only what the interpreter has loaded before it sets that path, so not even
`__future__`.
"""

import os
import sys


def leave_working_folder() -> None:
    """Remove the folder that `python -m` has put first in the path, and that of empty entries of
    PYTHONPATH, unless the program lies there or another entry names it.

    The interpreter itself imports `runpy` and some twenty modules of the standard library before
    the first line of a package runs; only `python -P -m` protects those.
    """
    try:
        current = os.getcwd()  # noqa: PTH109 pathlib is not loaded yet
    except OSError:  # it was deleted; then it is not in the path
        return
    folder_of_package = __file__.rsplit(os.sep, 3)[0]
    added = not sys.flags.safe_path and sys.path[:1] == [current]
    if current == folder_of_package:
        return
    if added:
        del sys.path[0]
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if "" in entries and current not in map(os.path.abspath, filter(None, entries)):
        sys.path[:] = [entry for entry in sys.path if entry not in ("", current)]


TELEMETRY_OFF = {
    # onnxruntime reads it once, when it is imported. `onnxruntime.disable_telemetry_events()` is
    # too late: version 1.31 has written a device id and contacted its server by then.
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
}


def disable_telemetry() -> None:
    """Set `TELEMETRY_OFF` for this process and the ones it starts, whatever the values were before.

    A library that was imported earlier may already have read them.
    """
    os.environ.update(TELEMETRY_OFF)
