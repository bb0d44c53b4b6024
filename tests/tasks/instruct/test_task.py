"""Instructions: the loss of a fixed record is that of its answer, in the template of the model."""

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import tiny_models  # noqa: E402
from workbench.base import paths  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.spec import read_folder  # noqa: E402
from workbench.runtime.predictor import last  # noqa: E402
from workbench.tasks import model as networks  # noqa: E402
from workbench.tasks.base import Features, collate  # noqa: E402
from workbench.tasks.instruct.task import Instruct  # noqa: E402
from workbench.tasks.predictor import infer  # noqa: E402
from workbench.tasks.text2text.info import TextGold  # noqa: E402
from workbench.text.document import Document  # noqa: E402

CPU = torch.device("cpu")
GPT = paths.resource("models") / "starter-gpt"
CHATML = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}"
    "{% if m.role == 'assistant' %}\nEND{{ eos_token }}{% endif %}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
RECORD = ("Name the tram.\n\nIt is line 5.", "Line 5, of course.")
SHORT = ("Hi", "Hello")


def network(folder, task, **options):
    setting = networks.Setting.new(task, (), (), options, seed=1)
    return networks.build(read_folder(folder), setting, LoadOptions(seed=1)).eval()


def features_of(task, model, *rows, length=200, answers=True):
    documents = [Document(str(n), (("text", text),)) for n, (text, _answer) in enumerate(rows)]
    prepared = task.info.prepare(model.encoder.preparer, documents, length)
    golds = [TextGold(answer) for _text, answer in rows]
    return Features(prepared, task.targets(prepared, golds, (), {}) if answers else {})


def text_of(model, ids):
    backend = model.encoder.preparer.tokenizer.backend
    return backend.decode(list(map(int, ids)), skip_special_tokens=False)


def test_a_record_is_written_in_the_plain_template_and_only_its_answer_has_a_loss():
    task = Instruct()
    model = network(GPT, task)
    features = features_of(task, model, RECORD, SHORT)

    prompt = features.prepared.inputs[0].ids
    answer = features.targets["answer"][0]
    assert text_of(model, prompt) == f"### Instruction:\n{RECORD[0]}\n\n### Response:\n"
    assert text_of(model, answer) == f"{RECORD[1]}<|endoftext|>"

    batch = collate(features, [0, 1], encoder=model.encoder, device=CPU)
    loss = task.forward(model, batch).losses["task"]

    theirs = transformers.AutoModelForCausalLM.from_pretrained(GPT, dtype=torch.float32).eval()
    total = 0.0
    for encoded, targets in zip(features.prepared.inputs, features.targets["answer"], strict=True):
        ids = torch.tensor([[*encoded.ids.tolist(), *targets.tolist()]])
        labels = ids.clone()
        labels[:, : len(encoded)] = -100  # transformers shifts them by one
        with torch.no_grad():
            total += float(theirs(ids, labels=labels).loss) * len(targets)
    assert float(loss.total.detach()) == pytest.approx(total, rel=1e-4)
    assert int(loss.count) == sum(map(len, features.targets["answer"]))


def test_the_chat_template_of_the_model_is_used_and_an_answer_ends_where_it_says(tmp_path):
    folder = tiny_models.make(tmp_path / "gpt", "gpt2")
    (folder / "chat_template.jinja").write_text(CHATML)
    task = Instruct()
    model = network(folder, task)
    tokenizer = model.encoder.preparer.tokenizer

    features = features_of(task, model, ("System: Be brief.\n\nUser: Hi", "Hello"))

    ids = features.prepared.inputs[0].ids.tolist()
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    text = theirs.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert ids == theirs(text, add_special_tokens=False).input_ids
    answer = features.targets["answer"][0].tolist()
    assert answer[-1] == tokenizer.end and answer.count(tokenizer.end) == 1
    assert "END" in text_of(model, answer)


def test_a_long_instruction_is_truncated_and_leaves_room_for_its_answer():
    task = Instruct()
    model = network(GPT, task)

    features = features_of(task, model, ("word " * 500, "yes"), SHORT, length=100)

    assert features.prepared.cut.tolist() == [True, False]
    long = text_of(model, features.prepared.inputs[0].ids)
    assert len(features.prepared.inputs[0]) <= 75
    assert long.startswith("### Instruction:\nword word") and long.endswith("\n\n### Response:\n")


def test_a_saved_model_has_the_template_that_it_was_tuned_with(tmp_path):
    task = Instruct()
    networks.save(network(GPT, task), tmp_path)
    again = Instruct()

    model = networks.load(tmp_path, networks.Setting(again, (), {})).eval()

    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    asked = [{"role": "user", "content": "Hi"}]
    text = theirs.apply_chat_template(asked, tokenize=False, add_generation_prompt=True)
    assert text == "### Instruction:\nHi\n\n### Response:\n"
    features = features_of(again, model, SHORT)
    assert text_of(model, features.prepared.inputs[0].ids) == text


def test_answers_are_those_that_transformers_generates():
    task = Instruct()
    model = network(GPT, task, answer_length=8)
    features = features_of(task, model, RECORD, SHORT, answers=False)

    written = task.info.decode(last(infer(task, model, features)), features.prepared, (), {})

    theirs = transformers.AutoModelForCausalLM.from_pretrained(GPT, dtype=torch.float32).eval()
    for encoded, prediction in zip(features.prepared.inputs, written, strict=True):
        ids = torch.tensor([encoded.ids.tolist()])
        found = theirs.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=8, do_sample=False
        )
        assert (
            prediction.written
            == text_of(model, found[0, len(encoded) :]).replace("<|endoftext|>", "").strip()
        )
