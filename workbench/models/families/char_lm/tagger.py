"""The layers of a SequenceTagger of flair above its embeddings, with our form of a CRF."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from workbench.models.families.char_lm.info.taggers import START, STOP, StaticVectors, TaggerFile


class Tagger(nn.Module):
    """Embeddings of words → emissions of tags.

    tables: the static vectors, in the order in which they occur in `sizes.parts`.
    """

    def __init__(self, sizes: TaggerFile, weights: Mapping[str, Tensor]):
        super().__init__()
        self.sizes = sizes
        statics = [one for one in sizes.parts if isinstance(one, StaticVectors)]
        self.tables = nn.ModuleList(
            nn.Embedding.from_pretrained(weights[one.place].float()) for one in statics
        )
        self.reprojection = nn.Linear(sizes.width, sizes.width) if sizes.reprojects else None
        self.rnn: nn.LSTM | nn.GRU | None = None
        if sizes.layers:
            kind = nn.LSTM if sizes.recurrent == "LSTM" else nn.GRU
            self.rnn = kind(
                sizes.width, sizes.hidden, sizes.layers, batch_first=True, bidirectional=True
            )
        self.linear = nn.Linear(2 * sizes.hidden or sizes.width, len(sizes.tags))
        self._fill(weights)
        self._transitions = weights["crf.transitions"].float() if sizes.crf else None

    def _fill(self, weights: Mapping[str, Tensor]) -> None:
        places = {"embedding2nn": self.reprojection, "rnn": self.rnn, "linear": self.linear}
        for place, module in places.items():
            if module is not None:
                module.load_state_dict(
                    {name: weights[f"{place}.{name}"].float() for name in module.state_dict()}
                )

    def vectors(self, table: int, words: list[str]) -> Tensor:
        """Static vectors (T, width) of words from table number `table`; zeros if unknown."""
        statics = [one for one in self.sizes.parts if isinstance(one, StaticVectors)]
        known = statics[table].words
        rows = torch.tensor([_row(word, known) for word in words])
        found: Tensor = self.tables[table](rows)
        return found

    def forward(self, embeddings: Tensor, lengths: Tensor) -> Tensor:
        """(B, T, width) in the order of `sizes.parts`, lengths (B,) → emissions (B, T, tags)."""
        hidden = self.reprojection(embeddings) if self.reprojection is not None else embeddings
        if self.rnn is not None:
            packed = pack_padded_sequence(
                hidden, lengths.cpu(), batch_first=True, enforce_sorted=False
            )
            hidden, _lengths = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        found: Tensor = self.linear(hidden)
        return found

    def crf(self) -> dict[str, Any]:
        """Transition scores as `runtime.crf.Transitions.from_json` reads them.

        flair has transitions[to, from] with START and STOP among the tags; ours has step[from, to]
        and own scores of the first and last tag. START and STOP remain as tags, as in flair's
        search. Raises ValueError for a tagger without a CRF.
        """
        if self._transitions is None:
            raise ValueError("this tagger has no CRF")
        tags = self.sizes.tags
        start, stop = tags.index(START), tags.index(STOP)
        return {
            "start": self._transitions[:, start].tolist(),
            "step": self._transitions.T.tolist(),
            "end": self._transitions[stop].tolist(),
        }


def _row(word: str, known: Mapping[str, int]) -> int:
    """As flair looks words up: as written, in lower case, with digits as # or 0."""
    lower = word.lower()
    for one in (word, lower, re.sub(r"\d", "#", lower), re.sub(r"\d", "0", lower)):
        if one in known:
            return known[one]
    return len(known)
