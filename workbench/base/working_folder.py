"""Import nothing from the folder that the program is started in.

`python -m` puts the current folder first in `sys.path`: among the files of a user, a `json.py`
would run in place of the module of that name.

This module must import only what the interpreter has loaded before it sets that path, so not even
`__future__`.
"""

import os
import sys


def leave() -> None:
    """Remove the folder that `python -m` has put first in the path, unless the program lies there.

    The interpreter itself imports `runpy` and some twenty modules of the standard library before
    the first line of a package runs; only `python -P -m` protects those.
    """
    try:
        current = os.getcwd()  # noqa: PTH109 pathlib is not loaded yet
    except OSError:  # it was deleted; then it is not in the path
        return
    folder_of_package = __file__.rsplit(os.sep, 3)[0]
    added = not sys.flags.safe_path and sys.path[:1] == [current]
    if added and current != folder_of_package:
        del sys.path[0]
