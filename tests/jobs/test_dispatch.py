from workbench.jobs.dispatch import Mailbox


def test_posted_calls_run_in_order_when_drained():
    mailbox, got = Mailbox(), []
    mailbox(lambda: got.append(1))
    mailbox(lambda: got.append(2))

    assert got == []
    assert mailbox.drain() == 2
    assert got == [1, 2]


def test_a_wait_ends_at_its_time():
    assert Mailbox().wait(lambda: False, 0.01) is False
