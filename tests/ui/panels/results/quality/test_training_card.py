"""The curves of a training, from values given by hand."""

from types import SimpleNamespace

from PySide6.QtWidgets import QLabel

from workbench.operations.runs.training_curves import TrainingCurves
from workbench.ui.panels.results.quality.training_card import TrainingCard


def card(qtbot, others=None, scored=True, **curves):
    found = TrainingCurves(**curves)
    loaded = SimpleNamespace(training=found, others=others or {}, score="accuracy")
    loaded.of_task = object() if scored else None
    selection = SimpleNamespace(run=SimpleNamespace(name="first") if others else None)
    state = SimpleNamespace(loaded=loaded, selection=selection, others=lambda: (), overlaid=())
    made = TrainingCard(state)
    qtbot.addWidget(made)
    made.show_state()
    return made


def legend(made):
    return [label.text() for label in made._legend.findChildren(QLabel)]


def test_each_part_of_a_loss_is_a_curve_besides_their_sum(qtbot):
    steps = (1, 2)
    made = card(
        qtbot,
        loss=(steps, (3.0, 2.0)),
        parts={"task": (steps, (2.0, 1.5)), "lm": (steps, (1.0, 0.5))},
    )

    drawn = {item.name: item for item in made.loss._series}
    assert [*drawn] == ["sum", "task", "lm"]
    assert drawn["sum"].y == (3.0, 2.0) and drawn["lm"].y == (1.0, 0.5)
    assert len({(item.tone, item.dashed) for item in drawn.values()}) == 3
    assert legend(made) == ["sum", "task", "lm"] and not made._legend.isHidden()


def test_a_single_loss_is_one_curve_without_a_legend(qtbot):
    made = card(qtbot, loss=((1, 2), (3.0, 2.0)))

    assert [item.name for item in made.loss._series] == ["loss"] and made._legend.isHidden()


def test_runs_laid_over_each_other_differ_in_colour_and_marker(qtbot):
    scores = {"accuracy": ((10, 20), (0.5, 0.75))}
    others = {f"run {number}": TrainingCurves(scores=scores) for number in range(2, 7)}
    made = card(qtbot, others, scores=scores)
    made._kind.button("score").click()

    drawn = made.score.series
    assert legend(made) == [item.name for item in drawn] == ["first", *others]
    assert len({item.tone for item in drawn[:5]}) == 5
    assert len({item.marker for item in drawn[:5]}) == 5
    assert len({(item.tone, item.marker) for item in drawn}) == 6


def test_the_adaptation_of_a_run_is_shown_only_where_there_was_one(qtbot):
    steps = (1, 2)
    plain = card(qtbot, loss=(steps, (3.0, 2.0)))
    made = card(
        qtbot,
        loss=(steps, (3.0, 2.0)),
        adapting={"masked": (steps, (5.0, 4.5))},
        adapted={"perplexity": ((2,), (60.0,)), "perplexity_per_word": ((2,), (90.0,))},
    )
    made._kind.button("adaptation").click()

    assert plain._kind.button("adaptation").isHidden()
    assert not made._kind.button("adaptation").isHidden()
    assert made.adapting.series[0].y == (5.0, 4.5) and made.perplexity.series[0].y == (60.0,)
    assert made.loss.isHidden() and not made.adapting.isHidden()
    made._state.loaded.training = TrainingCurves(loss=(steps, (3.0, 2.0)))  # another run
    made.show_state()
    assert made.adapting.isHidden() and not made.loss.isHidden()


def test_a_pretraining_shows_its_losses_and_the_perplexity_of_held_out_text(qtbot):
    made = card(
        qtbot,
        scored=False,
        loss=((1, 2), (3.0, 2.0)),
        held_out={"perplexity": ((2,), (60.0,)), "perplexity_per_word": ((2,), (90.0,))},
    )

    assert made._kind.isHidden() and made.score.isHidden()
    assert not made.loss.isHidden() and made.loss.series[0].y == (3.0, 2.0)
    assert not made.held_out.isHidden() and made.held_out.series[0].y == (60.0,)
    assert made.held_out_loss.isHidden()


def test_an_objective_without_perplexity_shows_its_losses_on_held_out_text(qtbot):
    made = card(qtbot, scored=False, loss=((1,), (3.0,)), held_out={"nsp": ((1,), (0.7,))})

    assert made.held_out.isHidden() and made.held_out_loss.series[0].name == "nsp"


def test_rates_of_parts_end_with_the_run_and_the_clipping_is_a_line(qtbot):
    steps, planned = (1, 2, 3), (1, 3, 5)
    made = card(
        qtbot,
        loss=(steps, (3.0, 2.0, 1.0)),
        learning_rate=(steps, (0.3, 0.2, 0.1)),
        gradient_norm=(steps, (2.0, 1.0, 0.5)),
        clip=1.0,
        part_rates={
            "embeddings": (planned, (0.1, 0.05, 0.0)),
            "head": (planned, (0.3, 0.1, 0.0)),
        },
    )

    assert {item.name: item.x for item in made.rate.series} == {
        "Embeddings": (1, 3),
        "Head": (1, 3),
    }
    assert [(item.name, item.y) for item in made.norm.series][1] == ("clipping", (1.0, 1.0))
    assert legend(made) == ["Embeddings", "Head"]
