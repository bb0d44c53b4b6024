"""A session of a program: jobs that are waited for."""

import pytest

from workbench.operations.application.session import Session


def test_a_session_without_a_project_says_so():
    session = Session(None)
    with pytest.raises(RuntimeError, match="no project"):
        session.project  # noqa: B018
    session.close()
