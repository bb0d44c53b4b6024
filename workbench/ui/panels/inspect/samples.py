"""Texts for a first look at a model."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_, _
from workbench.text.document import CHOICES, QUESTIONS

SAMPLES = (
    N_("The 42 tram from Harbour Gate to Northfield was twenty minutes late"),
    N_("I left my bag on the bank of the river, next to the bank where I work."),
    N_("Thank you to the driver who waited while I ran for the last bus!"),
)
WORD_SAMPLES = (  # with a word of several senses
    (SAMPLES[1], N_("bank")),
    (N_("Please tell the driver to stop at the next stop."), N_("stop")),
)
OTHER_SCRIPTS = (  # written from right to left, and without spaces; not to be translated
    "تأخر الترام رقم ٤٢ عشرين دقيقة هذا الصباح",
    "42路电车今天早上晚点了二十分钟。",
)
_PAIRS = (  # the second follows from the first, contradicts it, or is about something else
    (SAMPLES[0], N_("The tram did not arrive on time.")),
    (SAMPLES[2], N_("The driver left without waiting for anyone.")),
    (N_("The lift at North Gate is broken again."), N_("Tickets are sold on board.")),
)
_QUESTIONS = (
    (SAMPLES[0], N_("Where does the tram go?\nHow late was it?\nWho was the driver?")),
    (SAMPLES[1], N_("What was left on the bank of the river?")),
)
_CHOICES = (
    (
        N_("The doors closed, and the tram did not move."),
        N_("The passengers waited.\nThe passengers slept for a year.\nThe tram bought a ticket."),
    ),
    (SAMPLES[2], N_("I caught the bus.\nI missed the bus.\nThe bus missed me.")),
)


@dataclass(frozen=True)
class Sample:
    """A text with what belongs to it: the second text of a pair, questions or choices by line."""

    text: str
    second: str = ""

    @property
    def title(self) -> str:
        """The sample on one line, for its button."""
        second = " · ".join(self.second.splitlines())
        return f"{self.text} — {second}" if second else self.text


def samples(form: int) -> tuple[Sample, ...]:
    """The samples that suit a model.

    form: how many texts it reads, CHOICES or QUESTIONS, as for `text.document.typed`.
    """
    texts = {2: _PAIRS, QUESTIONS: _QUESTIONS, CHOICES: _CHOICES}.get(form)
    if texts is not None:
        return tuple(Sample(_(text), _(second)) for text, second in texts)
    return (*(Sample(_(text)) for text in SAMPLES), *map(Sample, OTHER_SCRIPTS))
