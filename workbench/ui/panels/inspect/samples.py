"""Texts for a first look at a model."""

from workbench.base.i18n import N_

SAMPLES = (
    N_("The 42 tram from Harbour Gate to Northfield was twenty minutes late"),
    N_("I left my bag on the bank of the river, next to the bank where I work."),
    N_("Thank you to the driver who waited while I ran for the last bus!"),
)
WORD_SAMPLES = (  # with a word of several senses
    (SAMPLES[1], N_("bank")),
    (N_("Please tell the driver to stop at the next stop."), N_("stop")),
)
