"""Continuations against transformers: steps, cuts, surprisal, samples."""

import math

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import flair_models, tiny_models  # noqa: E402
from workbench.base.errors import SpecError, WorkbenchError  # noqa: E402
from workbench.base.paths import resource  # noqa: E402
from workbench.inspection import spec  # noqa: E402
from workbench.inspection.continuing import continuation  # noqa: E402
from workbench.inspection.next_words.info import read_ids  # noqa: E402
from workbench.inspection.next_words.inspector import NextWordsInspector  # noqa: E402
from workbench.inspection.samples.inspector import SamplesInspector  # noqa: E402
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.inspection.surprisal.inspector import SurprisalInspector  # noqa: E402
from workbench.models import pickled  # noqa: E402
from workbench.models.families.char_lm.weights import CLASSES  # noqa: E402
from workbench.models.generate import filtered  # noqa: E402
from workbench.text.document import Document  # noqa: E402

TEXT = "the tram was late"


@pytest.fixture(scope="module")
def gpt(tmp_path_factory):
    return tiny_models.make(tmp_path_factory.mktemp("gpt2") / "model", "gpt2")


@pytest.fixture(scope="module")
def subject(gpt):
    return Subject(gpt, device="cpu")


WORDS = ("starter-ulmfit-forward", "starter-ulmfit-backward")
CHARACTERS = ("starter-flair-forward", "starter-flair-backward")


@pytest.fixture(scope="module", params=[*WORDS, *CHARACTERS])
def starter(request):
    return Subject(resource("models") / request.param, device="cpu")


def run(kind, subject, text=TEXT, **options):
    found = kind()
    defaults = {option.name: option.default for option in found.info.options}
    return found.run(subject, [Document("", (("text", text),))], {**defaults, **options})


def reference(gpt, added=()):
    tokenizer = transformers.AutoTokenizer.from_pretrained(gpt)
    model = transformers.AutoModelForCausalLM.from_pretrained(gpt).eval()
    ids = [*tokenizer(TEXT).input_ids, *added]
    with torch.no_grad():
        return ids, model(torch.tensor([ids])).logits[0]


def test_each_step_gives_the_model_s_next_tokens_and_its_entropy(gpt, subject):
    ids, logits = reference(gpt, (30, 7))
    shares = logits.softmax(-1)
    values, best = shares[-1].topk(5)

    result = run(NextWordsInspector, subject, added="30,7", top=5)

    assert [row.id for row in result.rows] == best.tolist()
    assert [row.model for row in result.rows] == pytest.approx(values.tolist(), abs=1e-6)
    assert result.shares == pytest.approx((float(shares[-3, 30]), float(shares[-2, 7])), abs=1e-6)
    bits = -(shares * shares.log2()).sum(-1)
    assert result.entropies == pytest.approx(bits[-3:].tolist(), abs=1e-4)
    assert (result.kept, result.cut_by) == (result.vocabulary, "")


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"), [(0.5, 0, 1.0), (1.0, 9, 0.4), (2, 5, 1)]
)
def test_cuts_are_those_of_transformers(gpt, temperature, top_k, top_p):
    _ids, logits = reference(gpt)
    wanted = logits[-1:] / temperature
    if top_k:
        wanted = transformers.TopKLogitsWarper(top_k)(None, wanted)
    wanted = transformers.TopPLogitsWarper(top_p)(None, wanted).softmax(-1)

    ours = filtered(logits[-1:], temperature=temperature, top_k=top_k, top_p=top_p)

    assert torch.allclose(ours, wanted, atol=1e-6)


def test_the_cut_that_counts_is_named(subject):
    by_k = run(NextWordsInspector, subject, top_k=4)
    by_p = run(NextWordsInspector, subject, top_k=4, top_p=0.02)

    assert (by_k.cut_by, by_k.kept) == ("top-k", 4)
    assert by_p.cut_by == "top-p" and by_p.kept < 4
    assert sum(row.sampled for row in by_k.rows) == pytest.approx(1)


def test_a_typed_token_is_added(gpt, subject):
    tokenizer = transformers.AutoTokenizer.from_pretrained(gpt)

    result = run(NextWordsInspector, subject, typed=" bus")

    assert list(result.added) == tokenizer(" bus").input_ids
    assert result.text == " bus"


def test_steps_beyond_the_longest_input_are_refused(subject):
    with pytest.raises(WorkbenchError, match="further tokens at most"):
        run(NextWordsInspector, subject, added="7 " * 64)
    with pytest.raises(WorkbenchError, match="no token 99,999"):
        run(NextWordsInspector, subject, added="99999")
    with pytest.raises(SpecError, match="expected ids"):
        read_ids("bus")


def test_a_text_that_is_longer_than_the_model_reads_is_not_continued(subject):
    """It has 64 positions, one token per character here."""
    for kind in (NextWordsInspector, SamplesInspector):
        with pytest.raises(WorkbenchError, match="too long to be continued: .* at most 64 tokens"):
            run(kind, subject, text="a" * 65)

    assert not run(NextWordsInspector, subject, text="a" * 64).more
    with pytest.raises(WorkbenchError, match="cannot read a further token"):
        run(SamplesInspector, subject, text="a" * 64)


def test_a_text_of_words_is_not_continued_where_it_was_cut():
    words = Subject(resource("models") / "starter-ulmfit-forward", device="cpu")

    with pytest.raises(WorkbenchError, match="too long to be continued"):
        run(NextWordsInspector, words, text="tram bus " * 300)


def test_words_and_characters_are_continued_too(starter):
    first = run(NextWordsInspector, starter)
    second = run(NextWordsInspector, starter, added=str(first.rows[0].id))

    assert len(second.tokens) == 1 and len(second.entropies) == 2
    assert second.shares[0] == pytest.approx(first.rows[0].model, abs=1e-4)
    assert first.backward == bool({"previous_lm", "previous_character"} & {*starter.info.gives})


def test_a_direction_that_the_model_does_not_have_is_refused(starter):
    backward = starter.info.name.endswith("backward")
    wanted, ways = ("next", "next words") if backward else ("previous", "previous words")

    for kind in (NextWordsInspector, SamplesInspector):
        with pytest.raises(SpecError, match=f"does not predict {ways}"):
            run(kind, starter, direction=wanted)


@pytest.mark.parametrize("direction", ["next", "previous"])
def test_a_model_with_both_directions_takes_either(direction):
    elmo = Subject(resource("models") / "starter-elmo", device="cpu")

    assert run(NextWordsInspector, elmo, direction=direction).backward == (direction == "previous")
    assert not run(NextWordsInspector, elmo).backward


@pytest.mark.parametrize("name", ["forward", "backward"])
def test_the_next_character_is_that_of_flair_s_own_generation(name):
    """Its generate_text feeds one character after the other, from the document delimiter on."""
    content = pickled.load(flair_models.DATA / f"{name}.pt", CLASSES)
    weights, table = content["state_dict"], vars(content["dictionary"])["item2idx"]
    lstm = torch.nn.LSTM(weights["encoder.weight"].shape[1], content["hidden_size"])
    own = {key[4:]: value for key, value in weights.items() if key.startswith("rnn.")}
    lstm.load_state_dict(own)
    read = "\n" + (TEXT if name == "forward" else TEXT[::-1])
    ids = torch.tensor([table.get(character.encode(), 0) for character in read])
    states, _memory = lstm(weights["encoder.weight"][ids])
    logits = states[-1] @ weights["decoder.weight"].T + weights["decoder.bias"]
    values, best = logits.softmax(-1).topk(5)

    subject = Subject(flair_models.DATA / f"{name}.pt", device="cpu", allow_pickle=True)
    result = run(NextWordsInspector, subject, top=5)

    assert [row.id for row in result.rows] == best.tolist()
    assert [row.model for row in result.rows] == pytest.approx(values.tolist(), abs=1e-6)


def test_characters_are_sampled_typed_and_an_empty_text_is_continued():
    subject = Subject(flair_models.DATA / "forward.pt", device="cpu", allow_pickle=True)

    samples = run(SamplesInspector, subject, count=2, length=9, top_k=1).samples
    steps = run(NextWordsInspector, subject, typed=samples[0].text[:4], top=1)
    empty = run(NextWordsInspector, subject, "", top=1)

    assert samples[0].text == samples[1].text and len(samples[0].text) == 9
    assert steps.text == samples[0].text[:4]
    assert "".join(row.token for row in steps.rows).replace("␣", " ") == samples[0].text[4]
    assert empty.rows and math.exp(samples[0].logprob) > 1 / subject.info.vocabulary
    with pytest.raises(WorkbenchError, match="'漢' is not in the vocabulary"):
        run(NextWordsInspector, subject, typed="漢")


def test_surprisal_is_the_bits_of_each_word_given_those_before(gpt, subject):
    ids, logits = reference(gpt)
    logs = logits.log_softmax(-1)
    bits = [-float(logs[at - 1, ids[at]]) / math.log(2) for at in range(1, len(ids))]

    result = run(SurprisalInspector, subject)

    assert result.bits[0] is None and result.scored == 3  # nothing stands before the first token
    assert result.total == pytest.approx(sum(bits[-result.tokens :]), rel=1e-4)
    assert result.tokens == len(ids) - len("the")


def test_equal_seeds_give_equal_samples(subject):
    asked = {"count": 3, "length": 6, "temperature": 1.5}
    item, same = (run(SamplesInspector, subject, seed=4, **asked) for _turn in range(2))
    other = run(SamplesInspector, subject, seed=5, **asked)

    assert item == same and item != other
    assert [sample.tokens for sample in item.samples] == [6, 6, 6]


def test_samples_in_parts_are_those_drawn_at_once(subject):
    asked = {"count": 3, "length": 7, "seed": 4}
    whole = run(SamplesInspector, subject, **asked)
    inspector = SamplesInspector()

    parts = [run(lambda: inspector, subject, part=3, **asked)]
    while parts[-1].further(False) is not None:
        parts.append(run(lambda: inspector, subject, part=3, **asked))

    assert [part.rest for part in parts] == [4, 1, 0]
    assert parts[-1] == whole
    assert whole.samples[0].text.startswith(parts[0].samples[0].text)
    assert run(lambda: inspector, subject, part=3, **asked) == parts[0]  # from the beginning


def test_what_was_read_is_kept_with_equal_scores(subject, writer):
    for model in (subject, Subject(writer[0], device="cpu")):
        text = continuation(model, Document("", (("text", TEXT),)), "next")
        steps = ([[], []], [[30], [7]], [[30, 9], [7, 8]], [[5, 6], [7, 8]], [[5, 6, 1], [7, 8, 1]])

        for added in steps:
            found = text.logits(added)[:, 0]
            whole = text.logits([row or [0] for row in added], last=2)  # read anew

            assert torch.allclose(found, whole[:, 1 if added[0] else 0], atol=1e-5)


def test_only_one_token_left_gives_the_greedy_continuation(gpt, subject):
    tokenizer = transformers.AutoTokenizer.from_pretrained(gpt)
    model = transformers.AutoModelForCausalLM.from_pretrained(gpt).eval()
    ids = tokenizer(TEXT, return_tensors="pt").input_ids
    written = model.generate(ids, max_new_tokens=5, do_sample=False, eos_token_id=None)

    (sample,) = run(SamplesInspector, subject, count=1, length=5, top_k=1).samples

    assert sample.text == tokenizer.decode(written[0, ids.shape[1] :])


def test_masked_models_do_not_continue():
    assert spec.CONTINUES not in spec.provided_outputs(("states", "masked_lm"), None)
    assert spec.CONTINUES in spec.provided_outputs(("states", "previous_lm"), None)
    assert spec.CONTINUES in spec.provided_outputs(("states", "text_to_text"), None)


@pytest.fixture(scope="module", params=["t5", "bart"])
def writer(request, tmp_path_factory):
    """An encoder–decoder whose weights are far enough from 0 that its choices vary."""
    folder = tiny_models.make(tmp_path_factory.mktemp(request.param) / "model", request.param)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(4.0)
    model.save_pretrained(folder)
    return folder, model


def written(folder, model, most):
    """Greedy, without what config.json forces at the last step."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(TEXT, return_tensors="pt", return_token_type_ids=False)
    ids = model.generate(
        **inputs, max_new_tokens=most, do_sample=False, num_beams=1, forced_eos_token_id=None
    )
    return ids[0, 1:].tolist(), tokenizer.decode(ids[0], skip_special_tokens=True)


def test_an_encoder_decoder_writes_the_greedy_text_of_transformers(writer):
    ids, text = written(*writer, 9)

    subject = Subject(writer[0], device="cpu")
    (sample,) = run(SamplesInspector, subject, count=1, length=9, top_k=1).samples
    steps = run(NextWordsInspector, subject, added=" ".join(map(str, ids[:3])), top=1)

    assert (sample.text, sample.tokens) == (text, len(ids))
    assert steps.apart and steps.rows[0].id == ids[3]


def test_a_text_ends_with_its_end_token(writer):
    subject = Subject(writer[0], device="cpu")
    end = 2

    steps = run(NextWordsInspector, subject, added=f"70 {end}")
    many = run(SamplesInspector, subject, count=40, length=30, temperature=10.0)

    assert not steps.more and steps.text.strip() == subject.language_model.tokenizer.backend.decode(
        [70]
    )
    assert len({sample.tokens for sample in many.samples}) > 1
    assert all(1 <= sample.tokens <= 30 and sample.logprob < 0 for sample in many.samples)
