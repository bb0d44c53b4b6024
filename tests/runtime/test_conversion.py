"""Tokenizers in older formats split text as their own libraries do.

The reference for vocab.txt and vocab.json is the transformers library, for SentencePiece models its
own library, whose pieces are stored in tests/data/sentencepiece.json.
"""

import json
import shutil
from pathlib import Path

import pytest

from tests import published, sentencepieces
from workbench.base.errors import ModelError
from workbench.runtime import conversion
from workbench.runtime.tokenizer import Tokenizer, files_of
from workbench.runtime.tokenizer_files import choose

STORED = json.loads((Path(__file__).parents[1] / "data" / "sentencepiece.json").read_text())
TEXTS = STORED["texts"]


@pytest.fixture(scope="session")
def vocabularies(data_folder):
    folder = data_folder / "tokenizers"
    if not folder.is_dir():
        pytest.skip(f"no tokenizers in {data_folder}")
    return folder


def make(folder, family, *sources, config=None, **options):
    """A model folder's tokenizer: copies of files under their own names."""
    folder.mkdir(parents=True, exist_ok=True)
    about = {"model_type": family, **(config or {})}
    (folder / "config.json").write_text(json.dumps(about))
    if options:
        (folder / "tokenizer_config.json").write_text(json.dumps(options))
    for source in sources:
        shutil.copy(source, folder / source.name)
    return folder


WORDPIECE = ("bert-base-uncased/vocab.txt",)
ROBERTA = ("roberta-bart/vocab.json", "roberta-bart/merges.txt")
GPT2 = ("gpt2/vocab.json", "gpt2/merges.txt")


@pytest.mark.parametrize(
    ("family", "names"),
    [
        ("gpt2", GPT2),
        ("llama", ("llama2/tokenizer.model",)),
        ("t5", ("t5/spiece.model",)),
        ("albert", ("albert/spiece.model",)),
    ],
)
def test_the_bytes_of_pieces_join_to_what_the_library_decodes(
    vocabularies, tmp_path, family, names
):
    folder = make(tmp_path / family, family, *(vocabularies / name for name in names))
    tokenizer = Tokenizer.load(folder)
    ids = tokenizer.backend.encode("Hi wörld, it's 😀\n 路面", add_special_tokens=False).ids

    written = b"".join(tokenizer.written_bytes[id] for id in ids).decode()

    assert written.removeprefix(" ") == tokenizer.backend.decode(ids).removeprefix(" ")


@pytest.mark.parametrize(
    ("family", "names"),
    [
        *((family, WORDPIECE) for family in ("bert", "distilbert", "electra", "ernie", "mpnet")),
        *((family, ROBERTA) for family in ("bart", "roberta")),
        *((family, GPT2) for family in ("gpt2", "gpt_neox", "olmo", "qwen2")),
    ],
)
def test_vocabularies_split_as_transformers_does(vocabularies, tmp_path, family, names):
    transformers = pytest.importorskip("transformers")
    folder = make(tmp_path / family, family, *(vocabularies / name for name in names))
    theirs = transformers.AutoTokenizer.from_pretrained(folder).backend_tokenizer

    ours = Tokenizer.load(folder).backend

    for text in TEXTS:
        for given in ((text,), (text, "and a second")):
            item, other = ours.encode(*given), theirs.encode(*given)
            assert (item.ids, item.offsets) == (other.ids, other.offsets)
            assert item.type_ids == other.type_ids


def test_deberta_splits_as_transformers_does_and_joins_pairs_as_pretrained(vocabularies, tmp_path):
    """Pairs are [CLS] A [SEP] B [SEP], as published; transformers 5 repeats the separator."""
    transformers = pytest.importorskip("transformers")
    folder = published.make(tmp_path / "deberta", "deberta", vocabularies)
    theirs = transformers.DebertaTokenizer.from_pretrained(folder).backend_tokenizer

    ours = Tokenizer.load(folder).backend

    for text in TEXTS:
        item, other = ours.encode(text), theirs.encode(text)
        assert (item.ids, item.offsets) == (other.ids, other.offsets)
    pair = ours.encode("a", "b")
    assert pair.tokens == ["[CLS]", "a", "[SEP]", "b", "[SEP]"] and pair.type_ids == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("flags", [{"do_lower_case": False}, {"strip_accents": False}])
def test_options_of_the_folder_are_followed(vocabularies, tmp_path, flags):
    transformers = pytest.importorskip("transformers")
    folder = make(tmp_path / "m", "bert", vocabularies / WORDPIECE[0], **flags)
    theirs = transformers.BertTokenizer.from_pretrained(folder).backend_tokenizer

    ours = Tokenizer.load(folder).backend

    assert [ours.encode(text).ids for text in TEXTS] == [theirs.encode(text).ids for text in TEXTS]


# ---------------------------------------------------------------- SentencePiece


def pieces(folder):
    """What the converted tokenizer makes of every text, without special tokens."""
    backend = Tokenizer.load(folder).backend
    found = [backend.encode(text, add_special_tokens=False).ids for text in TEXTS]
    return [[backend.id_to_token(id_) for id_ in ids] for ids in found]


def test_albert_splits_as_sentencepiece_does(vocabularies, tmp_path):
    folder = make(tmp_path / "m", "albert", vocabularies / "albert" / "spiece.model")

    assert pieces(folder) == STORED["albert"]


def test_albert_never_keeps_a_comma_with_a_digit(vocabularies, tmp_path):
    """Its pretraining split "9," even if the vocabulary has it (Lan et al., released code)."""
    folder = make(tmp_path / "m", "albert", vocabularies / "albert" / "spiece.model")

    tokens = Tokenizer.load(folder).backend.encode("May 9, 2011", add_special_tokens=False).tokens

    assert tokens == ["▁may", "▁9", ",", "▁2011"]


def test_llama_splits_as_sentencepiece_does(vocabularies, tmp_path):
    folder = make(tmp_path / "m", "llama", vocabularies / "llama2" / "tokenizer.model")

    assert pieces(folder) == STORED["llama2"]
    assert Tokenizer.load(folder).backend.encode("a", "b").tokens == ["<s>", "▁a", "<s>", "▁b"]


def test_t5_splits_as_sentencepiece_does_and_its_vocabulary_ends_with_sentinels(
    vocabularies, tmp_path
):
    folder = make(tmp_path / "m", "t5", vocabularies / "t5" / "spiece.model")
    backend = Tokenizer.load(folder).backend

    assert pieces(folder) == STORED["t5"]
    assert backend.encode("a", "b").tokens == ["▁", "a", "</s>", "▁", "b", "</s>"]
    gap = backend.encode("a <extra_id_0> b")
    assert gap.ids[gap.tokens.index("<extra_id_0>")] == 32_099
    assert backend.id_to_token(32_000) == "<extra_id_99>" and Tokenizer.load(folder).pad == 0


@pytest.mark.parametrize(
    ("family", "special", "unknown", "first"),
    [
        ("xlm-roberta", sentencepieces.FAIRSEQ, "<unk>", 4),
        ("camembert", sentencepieces.FAIRSEQ, "<unk>", 7),
        ("deberta-v2", sentencepieces.DEBERTA, "[UNK]", 4),
        ("xlnet", sentencepieces.XLNET, "<unk>", 9),
    ],
)
def test_others_split_as_sentencepiece_and_number_as_pretrained(
    vocabularies, tmp_path, family, special, unknown, first
):
    """Fairseq puts its own pieces in front: XLM-R shifts all by one, CamemBERT by four."""
    folder = make(tmp_path / "m", family, **({"keep_accents": True} if first == 9 else {}))
    source = vocabularies / "t5" / "spiece.model"
    sentencepieces.rewrite(source, folder / "spm.model", special)
    backend = Tokenizer.load(folder).backend
    normal = [entry.text for entry in _normal(source)]

    assert pieces(folder) == [
        [unknown if piece == "<unk>" else piece for piece in text] for text in STORED["t5"]
    ]
    assert [backend.token_to_id(entry) for entry in normal[:3]] == [first, first + 1, first + 2]
    assert backend.token_to_id(unknown) == (0 if family == "xlnet" else 3)
    if family == "xlnet":
        assert backend.encode("a", "b").type_ids[-3:] == [1, 1, 2]
        return  # its special pieces are in the vocabulary
    assert backend.id_to_token(first + len(normal)) in ("<mask>", "[MASK]")


def _normal(path):
    from workbench.runtime import sentencepiece

    every = sentencepiece.parse(path.read_bytes()).pieces
    return [entry for entry in every if entry.kind == sentencepiece.NORMAL]


def test_the_fields_of_a_piece_may_come_in_any_order():
    from workbench.runtime import sentencepiece

    text, score, kind = b"\x0a\x02am", b"\x15\x00\x00\xc0\xbf", b"\x18\x02"  # -1.5, unknown
    orders = (text + score + kind, kind + text + score, score + kind + text)
    raw = b"".join(sentencepieces._field(1, piece) for piece in (*orders, text + score))

    *unknown, normal = sentencepiece.parse(raw).pieces

    assert unknown == [sentencepiece.VocabPiece("am", -1.5, sentencepiece.UNKNOWN)] * 3
    assert normal == sentencepiece.VocabPiece("am", -1.5, sentencepiece.NORMAL)


def test_offsets_are_code_points_of_the_text(vocabularies, tmp_path):
    folder = make(tmp_path / "m", "llama", vocabularies / "llama2" / "tokenizer.model")
    text = "Zoë 😀 東京"

    encoding = Tokenizer.load(folder).backend.encode(text)

    assert encoding.tokens[0] == "<s>" and encoding.offsets[0] == (0, 0)
    parts = [text[start:end].strip() for start, end in encoding.offsets[1:]]
    assert [fromkey for fromkey in dict.fromkeys(parts) if fromkey] == ["Zo", "ë", "😀", "東", "京"]


# ---------------------------------------------------------------- what the folder does not say


def small_vocabulary(folder, words, **config):
    make(folder, "bert", config=config)
    entries = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    (folder / "vocab.txt").write_text("\n".join(entries) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(("words", "found"), [(["ada", "Ada"], 6), (["ada", "lovelace"], 5)])
def test_capitals_are_kept_where_the_vocabulary_has_them(tmp_path, words, found):
    """SpanBERT is cased and was published without tokenizer_config.json."""
    folder = small_vocabulary(tmp_path / "m", words)

    assert Tokenizer.load(folder).backend.encode("Ada", add_special_tokens=False).ids == [found]


def test_no_token_is_added_that_the_model_has_no_row_for(vocabularies, tmp_path):
    """GPT-NeoX pads with a token that GPT-2's vocabulary lacks."""
    sources = [vocabularies / name for name in GPT2]
    folder = make(tmp_path / "m", "olmo", *sources, config={"vocab_size": 50257})

    tokenizer = Tokenizer.load(folder)

    assert tokenizer.size == 50257 and tokenizer.piece(tokenizer.pad) == "<|endoftext|>"


def test_tokens_added_later_keep_their_numbers(tmp_path):
    folder = small_vocabulary(tmp_path / "m", ["ada"])
    (folder / "added_tokens.json").write_text(json.dumps({"<new>": 6, "<far>": 99}))

    backend = Tokenizer.load(folder).backend

    assert backend.token_to_id("<new>") == 6 and backend.token_to_id("<far>") is None
    assert backend.encode("ada<new>", add_special_tokens=False).ids == [5, 6]


# ---------------------------------------------------------------- the cache


def test_the_result_is_kept_in_our_cache_and_never_in_the_folder(tmp_path, user_dir):
    folder = small_vocabulary(tmp_path / "m", ["ada"])
    before = sorted(path.name for path in folder.iterdir())

    place = files_of(folder)

    assert place.is_relative_to(user_dir / "cache" / "glossbench")
    assert sorted(path.name for path in folder.iterdir()) == before
    assert json.loads((place / "tokenizer_config.json").read_text())["mask_token"] == "[MASK]"


def test_it_is_converted_once_for_each_content(tmp_path, monkeypatch):
    folder = small_vocabulary(tmp_path / "m", ["ada"])
    calls = []
    convert = conversion.convert
    monkeypatch.setattr(conversion, "convert", lambda item: calls.append(1) or convert(item))

    first, again = files_of(folder), files_of(folder)
    copied = files_of(shutil.copytree(folder, tmp_path / "copy"))
    small_vocabulary(folder, ["ada", "bob"])
    other = files_of(folder)

    assert first == again == copied != other and len(calls) == 2


def test_models_with_one_vocabulary_get_their_own_inputs_in_any_order(tmp_path):
    """DistilBERT has the words of BERT, but no token types."""
    first = small_vocabulary(tmp_path / "a", ["ada"], model_type="distilbert")
    second = small_vocabulary(tmp_path / "b", ["ada"], model_type="electra")

    without, with_types = (
        json.loads((files_of(folder) / "tokenizer_config.json").read_text())["model_input_names"]
        for folder in (first, second)
    )

    assert without == ["input_ids", "attention_mask"]
    assert with_types == ["input_ids", "token_type_ids", "attention_mask"]


def test_a_cache_that_cannot_be_written_is_told(tmp_path, user_dir):
    folder = small_vocabulary(tmp_path / "m", ["ada"])
    (user_dir / "cache" / "glossbench").mkdir(parents=True)
    (user_dir / "cache" / "glossbench" / "tokenizers").write_text("in the way")

    with pytest.raises(ModelError, match="cannot be saved"):
        Tokenizer.load(folder)


# ---------------------------------------------------------------- damage


@pytest.mark.parametrize(
    ("family", "files"),
    [
        ("bert", {"vocab.txt": b"[UNK]\n[CLS]\n[SEP]\na\n"}),  # of 100 entries
        ("bert", {"vocab.txt": b"\xff\xfe\xff"}),
        ("bert", {"vocab.txt": b"a\nb\n"}),
        ("bert", {"vocab.txt": b""}),
        ("gpt2", {"vocab.json": b"[]", "merges.txt": b"#version\na b\n"}),
        ("gpt2", {"vocab.json": b'{"a": 0}', "merges.txt": b"#version\na b\n"}),
        ("gpt2", {"vocab.json": b'{"a": "x"}', "merges.txt": b""}),
        ("roberta", {"vocab.json": b'{"a": 0}', "merges.txt": b""}),
        ("albert", {"spiece.model": b""}),
        ("albert", {"spiece.model": b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"}),
        ("llama", {"tokenizer.model": b"version https://git-lfs.github.com/spec/v1\n"}),
        ("llama", {"tokenizer.model": bytes(range(256)) * 40}),
    ],
)
def test_damaged_files_are_named_with_their_folder(tmp_path, family, files):
    rows = {"vocab_size": 1 if family == "roberta" else 100}
    folder = make(tmp_path / "m", family, config=rows)
    for name, content in files.items():
        (folder / name).write_bytes(content)

    with pytest.raises(ModelError, match=f"cannot be converted from {next(iter(files))}") as error:
        Tokenizer.load(folder)
    assert str(folder) in error.value.message and "\n" not in error.value.message


@pytest.mark.parametrize(
    ("family", "declared", "words"),
    [
        ("bert", "", "tokenizer.json is missing; alternatively, vocab.txt can be used"),
        ("llama", "LlamaTokenizerFast", "missing; alternatively, spiece.model, spm.model, "),
        ("bert", "BertJapaneseTokenizer", "a BertJapaneseTokenizer cannot be converted"),
        ("modernbert", "", "tokenizer.json is missing"),
        ("bert", 5, "tokenizer.json is missing; alternatively, vocab.txt can be used"),
    ],
)
def test_a_folder_without_a_tokenizer_says_what_is_missing(tmp_path, family, declared, words):
    folder = make(tmp_path / "m", family, tokenizer_class=declared)

    with pytest.raises(ModelError, match=words):
        Tokenizer.load(folder)


@pytest.mark.parametrize(
    ("there", "missing"), [("vocab.json", "merges.txt"), ("merges.txt", "vocab.json")]
)
def test_the_missing_one_of_two_files_is_named(there, missing, tmp_path):
    (tmp_path / there).write_text("{}")
    problems = []

    assert choose(tmp_path, {"model_type": "roberta"}, problems) == ""

    assert problems == [f"{missing} is missing, which the tokenizer needs beside {there}"]
