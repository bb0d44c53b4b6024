import pytest

from workbench.base.latest import Latest


@pytest.fixture
def told():
    return []


def test_an_earlier_answer_changes_nothing_whenever_it_comes(told):
    latest = Latest()
    first, _failed = latest.newest(told.append, told.append)
    second, _failed = latest.newest(told.append, told.append)

    second("new")
    first("old")

    assert told == ["new"]


def test_an_earlier_error_is_not_shown(told):
    latest = Latest()
    _done, first = latest.newest(told.append, told.append)
    _done, second = latest.newest(told.append, told.append)

    first(ValueError("old"))
    assert latest.waiting and told == []
    second(error := ValueError("new"))

    assert told == [error] and not latest.waiting


def test_a_request_that_is_dropped_has_no_answer(told):
    latest = Latest()
    done, failed = latest.newest(told.append, told.append)

    latest.drop()
    done("late")
    failed(ValueError("late"))

    assert told == [] and not latest.waiting


def test_a_ticket_ends_once():
    latest = Latest()
    old, new = latest.begin(), latest.begin()

    assert [latest.ends(old), latest.waiting, latest.ends(new)] == [False, True, True]
    assert not latest.ends(new)
