"""Coreference: every candidate span of words is a mention or none, every mention has an antecedent
or none; the mentions that are linked form a chain.

The loss of mentions is that of their labels; that of antecedents the marginal log-likelihood of
those that are in the same chain (Lee et al. 2017, equation 7). All windows of a document are read
in one batch, so that an antecedent may be in another window.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.base.i18n import _
from workbench.models.base import Encoder
from workbench.runtime import chains
from workbench.runtime.inputs import Prepared
from workbench.tasks.base import IGNORED, Loss, Model, Task
from workbench.tasks.coreference.head import ChainHead
from workbench.tasks.coreference.info import INFO, LONGEST, PER_WORD, ChainGold
from workbench.tasks.heads.layers import head_width
from workbench.tasks.spec import TaskInfo
from workbench.text.alignment import token_range

START = "start"  # of a document: 1 at its first window, else 0


class Coreference(Task):
    info: TaskInfo = INFO
    loss_targets = {"task": "firsts", "mentions": "firsts"}

    def head(
        self, encoder: Encoder, labels: Sequence[str], options: Mapping[str, Any]
    ) -> nn.Module:
        per_word = float(options.get(PER_WORD.name, PER_WORD.default))
        width = head_width(encoder, options)
        return ChainHead(width, len(labels), longest=_longest(options), per_word=per_word)

    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[ChainGold],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]:
        """start: int64 () per window. firsts, lasts: int64 (P,), the first and the last subword of
        its words; forms: int64 (P, W), see `runtime.chains.forms`.

        mentions: int64 (K, 4) at the first window of a document: first word of those of all its
        windows, further words, number of the label, number of the chain.
        """
        count, longest = len(prepared.inputs), _longest(options)
        start = [np.asarray(0, np.int64)] * count
        firsts, lasts = ([np.zeros(0, np.int64)] * count for _ in range(2))
        forms = [np.zeros((0, longest), np.int64)] * count
        mentions = [np.zeros((0, 4), np.int64)] * count
        number = {label: at for at, label in enumerate(labels)}
        for document, gold in enumerate(golds):
            begin, where = prepared.first(document), prepared.alignments[document]
            present = np.flatnonzero(where.window >= 0)
            words, text = prepared.words[document], prepared.documents[document].text
            numbers = chains.forms([text[slice(*words[at])] for at in present], longest)
            start[begin] = np.asarray(1, np.int64)
            for window in np.unique(where.window[present]):
                rows = np.flatnonzero(where.window[present] == window)
                here = begin + int(window)
                firsts[here] = where.first[present[rows]]
                lasts[here] = where.end[present[rows]] - 1
                forms[here] = numbers[rows]
            learned = list(_mentions(words, present, gold, longest, number))
            mentions[begin] = np.array(learned, np.int64).reshape(-1, 4)
        return {START: start, "firsts": firsts, "lasts": lasts, "forms": forms,
                "mentions": mentions}  # fmt: skip

    def notes(
        self, targets: Mapping[str, np.ndarray], labels: Sequence[str], pieces: Sequence[str]
    ) -> dict[str, str]:
        """The chains of a document, with their mentions in its first window."""
        if not targets[START]:
            return {}
        firsts, lasts = targets["firsts"], targets["lasts"]
        chains_of: dict[int, list[str]] = {}
        for first, further, _label, chain in targets["mentions"].tolist():
            if first + further < len(firsts):
                words = " ".join(pieces[firsts[first] : lasts[first + further] + 1])
                chains_of.setdefault(chain, []).append(words)
        return {"chains": "; ".join(" = ".join(words) for words in chains_of.values()) or _("none")}

    def losses(
        self, model: Model, logits: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """Sums over the candidates, and over those that are ranked; both count words."""
        head = cast(ChainHead, model.head)
        count = (targets["firsts"] != IGNORED).sum()
        nothing = torch.stack([values.sum() * 0 for values in logits.values()]).sum()
        mentions = links = nothing
        begins = targets[START].nonzero()[:, 0].tolist()
        for begin, end in pairwise((*begins, len(targets[START]))):
            windows = slice(begin, end)
            parts = {name: values[windows] for name, values in targets.items()}
            if (parts["firsts"] != IGNORED).any():
                outputs = {name: values[windows] for name, values in logits.items()}
                of_mentions, of_links = _losses(head, outputs, parts)
                mentions, links = mentions + of_mentions, links + of_links
        return {"task": Loss(links, count), "mentions": Loss(mentions, count)}

    def decoder(self, model: Model, options: Mapping[str, Any]) -> dict[str, Any]:
        return {"scorer": cast(ChainHead, model.head).chain_scorer().to_json()}


def _losses(
    head: ChainHead, outputs: Mapping[str, Tensor], targets: Mapping[str, Tensor]
) -> tuple[Tensor, Tensor]:
    """The losses of one document, whose windows these are: over candidates, and ranked ones."""
    firsts, rows = targets["firsts"], targets["mentions"][0]
    valid = firsts != IGNORED  # (windows, P)
    words = head.words(outputs, firsts, targets["lasts"])
    units = head.spans({name: values[valid][None] for name, values in words.items()})[0]
    by_label = head.output(head.dropout(units))  # (P, W, L)
    count, longest = by_label.shape[:2]
    first = torch.arange(count, device=units.device)[:, None]
    inside = first + torch.arange(longest, device=units.device) < count  # (P, W)
    label, chain = (torch.zeros_like(inside, dtype=torch.long) for _ in range(2))
    at, more, label_number, chain_number = rows[rows[:, 0] != IGNORED].unbind(1)
    label[at, more], chain[at, more] = label_number + 1, chain_number + 1
    with_none = F.pad(by_label, (1, 0))  # no label has the score 0
    mentions = F.cross_entropy(with_none[inside], label[inside], reduction="sum")
    scores = by_label.logsumexp(-1).masked_fill(~inside, -math.inf)  # (P, W)
    ranked = min(chains.count_ranked(count, head.per_word), int(inside.sum()))
    best = scores.detach().flatten().topk(ranked).indices.sort().values  # in text order
    at, more = best // longest, best % longest
    numbers = targets["forms"][valid][at, more]
    links = _links(head, units[at, more], scores[at, more], at, numbers, chain[at, more])
    return mentions, links


def _links(
    head: ChainHead, units: Tensor, scores: Tensor, starts: Tensor, numbers: Tensor, chain: Tensor
) -> Tensor:
    """−log of the probability of all right antecedents together, or of none, summed over K.

    chain (K,): 0 for a candidate that is no mention.
    """
    best, ranks = head.antecedents(units, scores, starts, numbers)  # (K, M)
    right = (chain[best] == chain[:, None]) & (chain[:, None] > 0) & ranks.isfinite()
    none = ranks.new_zeros(len(ranks), 1)
    every = torch.cat([ranks, none], 1).logsumexp(1)
    none = none.masked_fill(right.any(1, keepdim=True), -math.inf)
    ours = torch.cat([ranks.masked_fill(~right, -math.inf), none], 1).logsumexp(1)
    return (every - ours).sum()


def _longest(options: Mapping[str, Any]) -> int:
    return int(options.get(LONGEST.name, LONGEST.default))


def _mentions(
    offsets: Sequence[tuple[int, int]],
    present: np.ndarray,
    gold: ChainGold,
    longest: int,
    number: Mapping[str, int],
) -> Iterator[tuple[int, int, int, int]]:
    """(first word, further words, label, chain) of the mentions that are learned, as positions
    among the words `present` (P,). Left out are mentions of more than `longest` words.
    """
    place = {int(word): at for at, word in enumerate(present)}
    for chain, spans in enumerate(gold.chains):
        for span in spans:
            first, end = token_range(offsets, span.start, span.end) or (0, 0)
            words = [place[word] for word in range(first, end) if word in place]
            if words and words[-1] - words[0] < longest:
                yield words[0], words[-1] - words[0], number[span.label], chain
