"""Run the event loop so that an exception in an event handler does not end the process.

In Python 3.11 an exception that C code raises (IndexError, StopIteration, ValueError of int) has
no instance until it is caught, except while another exception is handled. PySide6 6.11 reads the
instance when a virtual method raises, and crashes without one. Drop with Python 3.11.
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.base.errors import InEventLoop


def run_handling(loop: Callable[[], int]) -> int:
    """Run the loop while an exception is handled; returns its exit code."""
    try:
        raise InEventLoop
    except InEventLoop as outer:
        outer.__traceback__ = None
        return loop()
