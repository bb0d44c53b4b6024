"""Signals and states: who is told what, and when no more."""

from workbench.base.events import ALL, Signal, State, concerns


def test_callbacks_hear_in_the_order_of_connecting_until_they_are_dropped():
    heard, signal = [], Signal()
    drop = signal.connect(lambda value: heard.append(("first", value)))
    signal.connect(lambda value: heard.append(("second", value)))

    signal.emit(1)
    drop()
    signal.emit(2)

    assert heard == [("first", 1), ("second", 1), ("second", 2)]


def test_a_callback_dropped_by_an_earlier_one_is_not_called():
    heard, signal, drops = [], Signal(), []
    signal.connect(lambda: drops[0]())
    drops.append(signal.connect(lambda: heard.append("late")))

    signal.emit()

    assert heard == []


def test_a_state_emits_only_the_fields_that_differ():
    received, state = [], State()
    state.rows, state.chosen = (1,), None
    state.changed.connect(received.append)

    state.update(rows=state.rows, chosen=2)
    state.update(chosen=2)

    assert received == [frozenset({"chosen"})]


def test_changes_made_together_are_announced_once_at_the_end():
    received, state = [], State()
    state.changed.connect(received.append)

    with state.together():
        state.update(rows=(1,))
        with state.together():
            state.update(chosen=2)
        state.announce("counts")
        assert received == []
    state.update(chosen=3)

    assert received == [frozenset({"rows", "chosen", "counts"}), frozenset({"chosen"})]


def test_a_closed_state_listens_to_nothing():
    signal, state = Signal(), State()
    state.listen(signal, lambda: None)

    state.close()

    assert signal.listeners == ()


def test_a_render_of_all_concerns_every_field():
    assert (
        concerns(ALL, "rows")
        and concerns(frozenset({"rows"}), "chosen", "rows")
        and not concerns(frozenset({"rows"}), "chosen")
    )
