"""Import nothing from the folder that the program is started in.

`python -m` puts the current folder first in `sys.path`, and so does an empty entry of PYTHONPATH,
which `PYTHONPATH=$PYTHONPATH:/folder` leaves: among the files of a user, a `json.py` would run in
place of the module of that name.

This module must import only what the interpreter has loaded before it sets that path, so not even
`__future__`.
"""

import os
import sys


def leave() -> None:
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
