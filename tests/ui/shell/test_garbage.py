"""Objects in reference cycles are destroyed on the main thread."""

import gc
import threading
import weakref

from workbench.ui.shell import garbage


class Node:
    """An object in a reference cycle; notes the thread that it ends in."""

    def __init__(self, ended):
        self.own = self
        weakref.finalize(self, lambda: ended.append(threading.current_thread()))


def allocate():
    """More objects that stay than any threshold of the collector."""
    return [[] for _number in range(20_000)]


def test_a_thread_that_allocates_collects_nothing(qapp):
    ended, kept = [], []
    gc.enable()  # the suite has it off
    collector = garbage.Collector()
    Node(ended)
    thread = threading.Thread(target=lambda: kept.append(allocate()))
    thread.start()
    thread.join()

    assert not ended
    garbage.collect_if_due()
    assert ended == [threading.main_thread()]
    collector.stop()
    assert gc.isenabled()
    gc.disable()


def test_nothing_is_collected_before_it_is_due(qapp):
    gc.collect()
    ended = []
    Node(ended)
    garbage.collect_if_due()
    assert not ended
