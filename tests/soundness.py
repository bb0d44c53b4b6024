"""Every project that a test has edited is checked for damage, as it is, undone and done again."""

from contextlib import closing

from workbench.project.check import check_open
from workbench.storage.integrity import checksums
from workbench.storage.queries import state_keys

STEPS = 20  # of which each is looked at; the check of a whole project takes longer


def problems(project):
    """What `project check` reports of an open project, and which of the last steps leave checksums
    or state keys behind that are not those of the rows, when they are undone or done again.

    Afterwards the project is as before. A project that is closed or read-only is not examined.
    """
    if project.closed or project.read_only:
        return []
    found, undone = check_open(project), 0
    with closing(project.db.checking_reader()) as conn:
        while not found and undone < STEPS and (title := project.undo()) is not None:
            found, undone = _differences(conn, f"Undo of {title}"), undone + 1
        for _step in range(undone):
            title = project.redo()
            found = found or _differences(conn, f"Redo of {title}")
    return found


def _differences(conn, act):
    found = [f"{act}: {name} {owner} differs" for name, owner in checksums.differences(conn)]
    return found if state_keys.is_right(conn) else [*found, f"{act}: the states are others"]
