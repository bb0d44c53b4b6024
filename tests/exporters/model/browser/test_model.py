"""The script of the page in Chromium: words and subwords as workbench.runtime has them."""

import json

import numpy as np
import pytest
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from tests.exporters.model.browser.conftest import TEXTS
from workbench.base.paths import resource
from workbench.exporters.model.browser import page as pages
from workbench.runtime.decoding import align
from workbench.text.segment import words

LOAD = """(async () => {
  const link = URL.createObjectURL(new Blob([%s], { type: "text/javascript" }));
  window.tokenizers = await import(link);
  const script = document.createElement("script");
  script.textContent = %s;
  document.head.append(script);
})()"""
ASK = """(() => {
  const tokenizer = new tokenizers.Tokenizer(%s, {});
  const points = (text, pairs) =>
    pairs.map((pair) => pair.map((at) => [...text.slice(0, at)].length));
  return %s.map((text) => {
    const { ids, offsets } = subwords(tokenizer, text);
    return { ids, offsets: points(text, offsets), words: points(text, words(text)) };
  });
})()"""
OTHER_SPACE = {"\u0085", "\ufeff"}  # white space in JavaScript or in Rust only


@pytest.fixture
def script(chrome):
    libraries = (resource("web") / pages.LIBRARIES["tokenizers"]).read_text(encoding="utf-8")
    own = (resource("web") / pages.SCRIPTS["model"]).read_text(encoding="utf-8")
    chrome.evaluate(LOAD % (json.dumps(libraries), json.dumps(own)))
    return chrome


def word_pieces():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer, trainers.WordPieceTrainer(vocab_size=300, special_tokens=["[UNK]"])


def byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return tokenizer, trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet)


def metaspace():
    """As in XLM-RoBERTa and T5, without the map of characters of SentencePiece."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    return tokenizer, trainers.UnigramTrainer(vocab_size=200, unk_token="<unk>")


def byte_fallback():
    """As in Llama."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.ByteFallback()
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    special = ["<unk>", *bytes_]
    return tokenizer, trainers.BpeTrainer(
        vocab_size=500, special_tokens=special, initial_alphabet=["▁"], limit_alphabet=60
    )


@pytest.mark.parametrize("make", [word_pieces, byte_level, metaspace, byte_fallback])
def test_words_and_their_first_subwords_are_those_of_the_application(script, make):
    tokenizer, trainer = make()
    trainer.show_progress = False
    tokenizer.train_from_iterator(TEXTS, trainer)
    texts = [text for text in TEXTS if not OTHER_SPACE & set(text)]
    raw = {"post_processor": None, "decoder": None, **json.loads(tokenizer.to_str())}

    answers = script.evaluate(ASK % (json.dumps(raw), json.dumps(texts)))

    for text, answer, encoding in zip(texts, answers, tokenizer.encode_batch(texts), strict=True):
        assert [tuple(word) for word in answer["words"]] == list(words(text)), text
        assert answer["ids"] == encoding.ids, text
        assert firsts(text, answer["offsets"]) == firsts(text, encoding.offsets), text


def firsts(text, offsets):
    window = np.array(offsets, np.int64).reshape(-1, 2), np.ones(len(offsets), bool)
    return align(words(text), [window]).first.tolist()
