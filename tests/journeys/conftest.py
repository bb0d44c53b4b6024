"""Fixtures of journeys: the application as built by `main`, with the real starter models.

All folders are temporary. The sample has a third of its texts: a journey answers for each of them
several times with a starter model.
"""

from itertools import islice

import pytest

from tests.journeys.hand import window
from workbench.base.settings import Settings


@pytest.fixture
def third_of_the_sample(monkeypatch):
    from workbench.operations.application import sample

    every = sample.records
    monkeypatch.setattr(sample, "records", lambda folder: islice(every(folder), 0, None, 3))


@pytest.fixture
def hand(qapp, qtbot, user_dir, third_of_the_sample):
    """The running application, and a `Hand` that finds controls by accessible name."""
    with window(qtbot, Settings(theme="light", warm_worker=False)) as hand:
        yield hand
