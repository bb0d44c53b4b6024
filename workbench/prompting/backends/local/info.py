"""Language models on this computer: the light part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.models.spec import ModelInfo, read_folder
from workbench.prompting.backends.spec import (
    ABILITIES,
    CHAT,
    SCORE,
    AtHand,
    BackendInfo,
    Measure,
    PromptModel,
    PromptToken,
)

# What a language model gives → its title in lists
LANGUAGE = {
    "masked_lm": N_("{name} (masked)"),
    "next_lm": N_("{name} (causal)"),
    "text_to_text": N_("{name} (text-to-text)"),
}
WEIGHTS, FULL, HALF = "weights", "full", "bf16"
BITS = {FULL: 0, HALF: 0, "8-bit": 8, "4-bit": 4}  # value of `weights` → bits, 0: not quantized
USUAL_LENGTH = 512  # for models that specify no maximum length


class LocalInfo(BackendInfo):
    id = "local"
    title = N_("Models on this computer")
    options = (
        Option(
            WEIGHTS,
            "choice",
            FULL,
            N_(
                "Precision of the weights of decoders such as Llama: float32, or to save memory "
                "bfloat16 (half) or 8 or 4 bits, which need an NVIDIA GPU and the package "
                "bitsandbytes."
            ),
            choices=tuple(BITS),
            choice_titles=(N_("Full"), "bf16", N_("8 bits"), N_("4 bits")),
            title=N_("Weights"),
        ),
    )

    def models(self, at_hand: AtHand) -> Sequence[PromptModel]:
        """Models with a language model head."""
        return [_model(card) for card in at_hand.cards if card.usable and _scores_subwords(card)]

    def find(self, name: str, at_hand: AtHand) -> PromptModel:
        return _model(at_hand.find(name))

    def measure(self, model: PromptModel, options: Mapping[str, Any]) -> Measure:
        """Subwords of the model's tokenizer.

        Raises ModelError for a damaged folder, SpecError for a model that is no language model.
        """
        from workbench.runtime import chat_template
        from workbench.runtime.tokenizer import Tokenizer, mask_token

        info = read_folder(model.path, allow_pickle=model.pickled, name=model.name)
        if not _scores_subwords(info):
            raise SpecError(
                _("{model} is not a language model, so it cannot score prompts.", model=info.name),
                hint=_("Choose a masked or causal language model, such as starter-bert."),
            )
        tokenizer = Tokenizer.load(model.path)
        limit = info.max_length or USUAL_LENGTH
        mask = mask_token(model.path, tokenizer.backend) or ""

        def tokens(text: str, conversation: bool) -> list[PromptToken]:
            return [PromptToken(*token) for token in tokenizer.tokens(text, added=not conversation)]

        chat = chat_template.read(model.path)
        return Measure(lambda texts: tokenizer.lengths(texts, limit), limit, mask, tokens, chat)


def _scores_subwords(card: ModelInfo) -> bool:
    """Whether it is a language model over subwords: others have no tokenizer for answers."""
    return bool(card.tokenizer and LANGUAGE.keys() & {*card.gives})


def _model(card: ModelInfo) -> PromptModel:
    title = next(title for output, title in LANGUAGE.items() if output in card.gives)
    without = frozenset() if "next_lm" in card.gives else frozenset((WEIGHTS,))
    message = _(title, name=card.name)
    return PromptModel(card.name, card.path, message, card.pickled, without, abilities(card))


def abilities(card: ModelInfo) -> frozenset[str]:
    """What a language model can do, a subset of `spec.ABILITIES`."""
    from workbench.runtime import chat_template

    if "masked_lm" in card.gives:
        return frozenset((SCORE,))
    chats = "next_lm" in card.gives and chat_template.read(card.path) is not None
    return frozenset(ABILITIES) if chats else frozenset(ABILITIES) - {CHAT}


INFO = LocalInfo()
