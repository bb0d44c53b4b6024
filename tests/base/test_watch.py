import pytest

from workbench.base.errors import Cancelled
from workbench.base.watch import QUIET, Watch, pause


def test_shares_of_parts_are_shares_of_the_whole():
    watch = Watch()

    watch.part(0.5, 1.0).part(0.0, 0.5).at(
        0.8
    )  # 0.8 of a quarter that begins at the half: 0.5 + 0.8 · 0.25

    assert watch.share == pytest.approx(0.7)


def test_items_are_given_in_slices_and_reported_before_each_and_after_the_last():
    shares = []
    watch = Watch(shares.append, clock=iter(range(100)).__next__)

    assert list(watch.over("abcde", 2)) == ["ab", "cd", "e"]
    assert shares == [0.0, 0.4, 0.8, 1.0]


def test_no_more_is_reported_than_a_person_can_read():
    shares, now = [], [0.0]
    watch = Watch(shares.append, clock=lambda: now[0])

    for step in range(100):
        now[0] = step * 0.01
        watch.at(step / 100)

    assert len(shares) == 10 and watch.share == 0.99


def test_called_off_it_ends_at_the_next_word():
    watch = Watch()
    watch.at(0.1)
    watch.cancel()

    with pytest.raises(Cancelled):
        watch.part(0.0, 0.5).at(0.1)
    with pytest.raises(TypeError):
        QUIET.cancel()


@pytest.mark.parametrize("whole", [QUIET, Watch()])
def test_a_step_hears_what_its_job_reports_and_so_does_the_whole(whole):
    events = []
    whole.part(0.0, 0.5, events.append).event({"done": 1})

    assert events == [{"done": 1}]
    assert whole is QUIET or whole.progress == {"done": 1}


def test_a_pause_ends_as_soon_as_nobody_waits_for_it():
    asked = iter((False, True))

    with pytest.raises(Cancelled):
        pause(60, lambda: next(asked))
    pause(0.001, lambda: False)
