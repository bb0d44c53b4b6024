"""Display names of stored values: splits, states, kinds of runs, values of settings.

The stored or JSON value does not change; `term` returns its display name in the user's language.
"""

from workbench.base.i18n import N_, _

_WORDS = {
    "train": N_("train"),
    "dev": N_("dev"),
    "test": N_("test"),
    "pending": N_("pending"),
    "draft": N_("draft"),
    "submitted": N_("submitted"),
    "discarded": N_("discarded"),
    "waiting": N_("waiting"),
    "running": N_("running"),
    "done": N_("done"),
    "stopped": N_("stopped"),
    "cancelled": N_("cancelled"),
    "failed": N_("failed"),
    "out_of_memory": N_("out of memory"),
    "crashed": N_("crashed"),
    "interrupted": N_("interrupted"),
    "prompt": N_("prompt"),
    "baseline": N_("baseline"),
    "ensemble": N_("ensemble"),
    "published": N_("published model"),
    "auto": N_("auto"),
    "macro_f1": N_("macro_f1"),
    "span_f1": N_("span_f1"),
    "accuracy": N_("accuracy"),
    "token_accuracy": N_("token_accuracy"),
    "loss": N_("loss"),
    "last": N_("last"),
    "none": N_("none"),
    "ok": N_("ok"),
    "warning": N_("warning"),
    "problem": N_("problem"),
    "embeddings": N_("embeddings"),
    "encoder": N_("encoder"),
    "linear": N_("linear"),
    "constant": N_("constant"),
    "slanted": N_("slanted"),
    "first": N_("first"),
    "all": N_("all"),
    "balanced": N_("balanced"),
    "random": N_("at random"),
    "content-free": N_("content-free"),
    "pmi": N_("PMI"),
    "strict": N_("strict"),
    "exact": N_("exact"),
    "partial": N_("partial"),
    "type": N_("type"),
    "correct": N_("correct"),
    "incorrect": N_("incorrect"),
    "missed": N_("missed"),
    "spurious": N_("spurious"),
    "named": N_("saved by you"),
    "before-upgrade": N_("before an upgrade"),
    "before-delete": N_("before a deletion"),
    "before-restore": N_("before a restoration"),
    "before-relabel": N_("before a change of labels"),
    "before-revert": N_("before a revert by source"),
    "damaged": N_("damaged file"),
    "bootstrap": N_("paired bootstrap"),
    "randomisation": N_("approximate randomisation"),
    "mcnemar": N_("McNemar, exact"),
}


def term(word: str) -> str:
    """The display name of a value; unknown values are returned unchanged."""
    return _(_WORDS[word]) if word in _WORDS else word
