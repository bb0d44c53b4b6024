"""The head of the span boundary objective: it predicts the tokens of a span from those beside it.

Source: Joshi et al. 2020, SpanBERT, section 3.2.
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models.base import Encoder
from workbench.models.spec.places import boundary_file

POSITIONS, POSITION_WIDTH = 20, 200  # as in the released code


class SpanBoundary(nn.Module):
    """Logits of the tokens of a span from the states beside it and the place in the span.

    h = LN(GELU(W₂ LN(GELU(W₁ [x_{s-1}; x_{e+1}; p_{i-s+1}])))); the logits are the products with
    the input embeddings, and a bias. Places from POSITIONS on have no logits.
    """

    def __init__(self, width: int, vocabulary: int):
        super().__init__()
        self.positions = nn.Embedding(POSITIONS, POSITION_WIDTH)
        self.linear1 = nn.Linear(2 * width + POSITION_WIDTH, width)
        self.linear2 = nn.Linear(width, width)
        self.norms = nn.ModuleList([nn.LayerNorm(width, eps=1e-12) for _ in range(2)])
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        for module in (self.positions, self.linear1, self.linear2):
            nn.init.normal_(module.weight, std=0.02)
        for linear in (self.linear1, self.linear2):
            nn.init.zeros_(linear.bias)

    def forward(
        self, states: Tensor, left: Tensor, right: Tensor, places: Tensor, embeddings: Tensor
    ) -> Tensor:
        """states (B, T, H); left, right, places int (B, K): of each predicted token, the positions
        beside its span and its place in it. Returns (B, K, V).
        """
        around = [
            states.gather(1, where.unsqueeze(-1).expand(-1, -1, states.shape[-1]))
            for where in (left, right)
        ]  # (B, T, H) → (B, K, H)
        features = torch.cat([*around, self.positions(places)], -1)
        hidden = self.norms[0](F.gelu(self.linear1(features)))
        hidden = self.norms[1](F.gelu(self.linear2(hidden)))
        return F.linear(hidden, embeddings, self.bias)


def loaded(encoder: Encoder) -> SpanBoundary | None:
    """The head that was trained with a model, on the device of the encoder, in eval mode; None if
    it has none. Raises ModelError if it cannot be read.
    """
    path = boundary_file(Path(encoder.info.path))
    weights = {}
    try:
        weights = load_file(path) if path.is_file() else dict(encoder.published_boundary())
        head = SpanBoundary(encoder.width, len(encoder.word_embeddings))
        head.load_state_dict(weights) if weights else None
    except (OSError, RuntimeError, SafetensorError) as error:
        raise damaged(path, error) from error
    return head.to(encoder.device).eval() if weights else None


def damaged(path: Path, error: Exception) -> ModelError:
    message = _(
        "{path} cannot be loaded: {error}.", path=path, error=str(error).splitlines()[0][:200]
    )
    return ModelError(message, hint=_("Delete the file to start with new weights."))
