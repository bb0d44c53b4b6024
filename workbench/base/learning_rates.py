"""The default peak learning rates: every number, with its reason, and the rule that picks one.

Tasks, methods, families and objectives name a rate of this module; a plugin may state a number of
its own in the same attribute.
"""

from __future__ import annotations

import math

# ---------------------------------------------------------------- tasks, at width USUAL_WIDTH

USUAL_WIDTH = 384
TEXTS = 1e-4  # classes and numbers of whole texts
WORDS = 3e-4  # tags, spans and answers: a target for every word
# LitBank with starter-bert, 120 updates: dev CoNLL F1 56.0 and 52.7 (seeds 1 and 2) with this rate;
# others were hardly tried.
CHAINS = 1.5e-4
PREFERENCES = 2e-5  # of language models, which are kept near where they start
MAX_RATE, MAX_RATE_WIDE, WIDE_MODEL = (
    3e-4,
    2e-4,
    512,
)  # however many the labels; of models over WIDE
LONG_RUN = 500  # steps from which half the rate is enough

# ---------------------------------------------------------------- methods

# A head alone learns faster than weights that are tuned. On the sample with starter-bert and
# automatic epochs (seed 1, dev): macro F1 of classes 14.0 with the rate of full fine-tuning, 19.8
# with 1e-3, 37.7 with 3e-3; span F1 2.6, 2.9 and 10.8.
HEAD_ALONE = 3e-3
# Factor on the rate of full fine-tuning. Others were not tried. LoRA, classes of the sample, rank
# 8, seeds 1 to 3: mean macro F1 on dev 62.8, full fine-tuning 63.0; by seed -2.4, -2.9 and +4.8
# points, on 60 documents.
INSERTED = 10.0
PAIRS = 1e-4  # of the encoder in contrastive tuning

# ---------------------------------------------------------------- families

WORD_VECTORS = 0.02  # of vectors and a linear head on their mean
AWD_LSTM = 0.004  # learns 32 documents with random weights; not tuned on larger data
ELMO = 1e-3  # of the network on top; Peters et al. 2018 tune with Adam at this rate
BILSTM = 3e-3

# ---------------------------------------------------------------- language models

# Of an objective: for a model that was pretrained already, and for random weights.
MASKED = (5e-5, 5e-4)  # also sentence pairs and masked spans
CAUSAL = (5e-5, 1e-3)
BIDIRECTIONAL = (2e-4, 2e-3)
DENOISING = (1e-4, 1e-3)
AWD_LSTM_ADAPTED = 0.004  # further on other text; Howard and Ruder 2018, section 4.1
SAMPLED_VECTORS, GLOVE = 0.025, 0.05  # initial, as published; GloVe with AdaGrad


def fine_tuning(
    *, task: float, method: float, factor: float, model: float, width: int, steps: int, labels: int
) -> float:
    """The rate of a training for which none was chosen.

    That of the model, else of the method; else that of the task times the `factor` of the method:
    higher for many labels, lower for a wide model and for a long run. model, method: 0 for none.
    labels: of one choice. steps: optimizer updates.
    """
    if model or method:
        return model or method
    highest = MAX_RATE if width <= WIDE_MODEL else MAX_RATE_WIDE
    rate = max(task, min(task * bits(labels) / 2, highest))
    if steps >= LONG_RUN and rate == task:
        rate /= 2
    return float(f"{rate * min(1.0, USUAL_WIDTH / width) * factor:.3g}")


def of_pairs(width: int) -> float:
    """The rate of an encoder of this width that learns from pairs."""
    return float(f"{PAIRS * min(1.0, USUAL_WIDTH / width):.3g}")


def pretraining(objective: tuple[float, float], *, is_random: bool) -> float:
    """The rate of a pretraining for which none was chosen, of those of its objective."""
    pretrained, random = objective
    return random if is_random else pretrained


def bits(labels: int) -> float:
    """Bits of a choice among this many labels, at least 1."""
    return max(1.0, math.log2(max(2, labels)))
