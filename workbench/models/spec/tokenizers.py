"""Whether a tokenizer can belong to a model, by the sizes of their vocabularies. Light."""

from __future__ import annotations

from workbench.base.errors import ModelError
from workbench.base.i18n import _

MIN_VOCABULARY_SHARE = (
    0.5  # of the vocabulary of a model; padded rows are fewer (ByT5: 259 of 384 used)
)


def check(path: str, size: int, rows: int) -> None:
    """size: entries of the tokenizer. rows: of the embeddings. Raises ModelError if these belong to
    different models.
    """
    if size > rows:
        message = _(
            "The vocabulary of the tokenizer of {path} ({size:,}) is larger than that of the "
            "model ({rows:,})."
        )
    elif size < rows * MIN_VOCABULARY_SHARE:
        message = _(
            "The vocabulary of the tokenizer of {path} ({size:,}) is much smaller than that of the "
            "model ({rows:,})."
        )
    else:
        return
    raise ModelError(
        message.format(path=path, size=size, rows=rows),
        hint=_("The tokenizer and the weights belong to different models."),
    )
