"""Sample texts suit what a model reads."""

import pytest

from workbench.text.document import CHOICES, QUESTIONS, typed
from workbench.ui.panels.inspect.pane import Pane
from workbench.ui.panels.inspect.samples import OTHER_SCRIPTS, samples
from workbench.ui.widgets.layout import layout_of, widgets


@pytest.mark.parametrize("form", [1, 2, CHOICES, QUESTIONS])
def test_every_sample_is_a_document_that_the_model_can_read(form):
    for sample in samples(form):
        document = typed(sample.text, sample.second if form != 1 else None, form=form)

        if form == QUESTIONS:
            assert len(document.questions) >= 1 and all(document.questions)
        elif form == CHOICES:
            assert len(document.choices) >= 2
        else:
            assert len(document.texts) == form and all(text for _name, text in document.texts)


def buttons(pane):
    return widgets(layout_of(pane._samples))


def test_the_buttons_of_the_empty_view_follow_the_model(qtbot):
    pane = Pane()
    qtbot.addWidget(pane)
    pressed = []
    pane.sampled.connect(lambda *texts: pressed.append(texts))

    assert [button.text() for button in buttons(pane)][-2:] == [*OTHER_SCRIPTS]
    pane._offer_samples(2)
    first = buttons(pane)[0]
    first.click()

    assert pressed == [(samples(2)[0].text, samples(2)[0].second)] and pressed[0][1]
    assert len(first.text()) <= 80 and first.accessibleName() == samples(2)[0].title
