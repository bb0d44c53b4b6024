"""What a template is filled with, and what the preview shows of the prompt."""

import shutil

import pytest

from workbench.base.errors import SpecError
from workbench.base.paths import resource
from workbench.operations.prompts import prompt_fill, servers
from workbench.prompting.backends import spec as backends
from workbench.prompting.backends.spec import Measure
from workbench.prompting.spec import AnswerSpec, Decoding, PromptSpec
from workbench.storage.documents import documents

pytestmark = pytest.mark.process  # the worker that renders templates

TEMPLATE = (
    "{% for example in examples %}{{ example.text }} => {{ example.label }}\n{% endfor %}"
    "{{ text }} => {{ label }}"
)
STARTER = str(resource("models") / "starter-bert")


def spec(**more):
    return PromptSpec(**{"template": TEMPLATE, "model": STARTER, "shots": 2, **more})


@pytest.fixture
def preview(project):
    """preview(spec, document=None, limit=None) → the preview, by default of the first of dev."""
    with prompt_fill.Fillers(project) as fillers:

        def make(spec, document=None, limit=None):
            filler = fillers.filler(spec)
            filler.budget.limit = limit or filler.budget.limit
            document = document or prompt_fill.first_document(project, filler.layer)
            return prompt_fill.preview(filler, document)

        yield make


WRITTEN = AnswerSpec("first")


def test_a_prompt_whose_answer_is_written_has_one_prompt_and_room_for_the_reply(preview, topics):
    result = preview(spec(answer=WRITTEN, decoding=Decoding(max_tokens=100), shots=1))

    assert list(result.prompts) == [""] and result.label == ""
    assert result.text.endswith("the tram is late again dev 0 =>")
    assert result.limit == 412 and result.without_text == ()
    with pytest.raises(SpecError, match="512 tokens leaves no room"):
        preview(spec(answer=WRITTEN, decoding=Decoding(max_tokens=512)))


def test_a_prompt_has_its_instruction_words_descriptions_and_metadata(preview, topics):
    more = {"instruction": "Topic?", "words": {"praise": ("good", "fine")}}
    source = "{{ instruction }} {{ meta.line }}{{ descriptions.complaint }} {{ label }}"

    result = preview(spec(template=source, descriptions={"complaint": "angry"}, **more))

    assert list(result.prompts) == ["good", "fine", "complaint"]
    assert result.prompts["fine"] == ("Topic? angry ", "fine", "")


def test_the_preview_shows_the_tokens_with_the_reserved_ones(preview, topics):
    result = preview(spec(shots=0))

    assert len(result.pieces) == result.tokens
    assert [token.text for token in result.pieces if token.reserved] == ["[CLS]", "[SEP]"]
    assert result.pieces[1].text == "the" and result.pieces[1].id == 1996


def test_the_preview_names_what_was_left_out_to_fit(project, preview, topics):
    result = preview(spec(shots=8), limit=40)

    assert len(result.left_out) == result.dropped and "train" in result.left_out[0].text
    document = documents.get(project.db, topics[1][9])
    short = preview(spec(shots=2), document, limit=8)
    assert short.cut and document.text[: -short.characters] in short.text


def test_a_conversation_is_shown_in_the_chat_template_of_the_model(preview, topics, tmp_path):
    model = tmp_path / "chatting"
    shutil.copytree(resource("models") / "starter-gpt", model)
    source = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{{ eos_token }}{% endfor %}[go]"
    (model / "chat_template.jinja").write_text(source)

    result = preview(
        spec(
            template="{% system %}Topic?{% user %}{{ text }}{% assistant %}{{ label }}",
            model=str(model),
            chat=True,
            shots=0,
        )
    )

    end = "<|endoftext|>"
    turns = f"[system]Topic?{end}[user]the tram is late again dev 0{end}[go]"
    assert result.text == turns + "praise"
    assert result.messages == (("system", "Topic?"), ("user", "the tram is late again dev 0"))
    assert [token.text for token in result.pieces if token.reserved] == [end, end]


@pytest.mark.parametrize("name", ["weights", "adapter/weights", ""])
def test_an_answer_depends_on_all_files_of_the_model(tmp_path, name):
    model = tmp_path / "model"
    file = model / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("first")
    spec = PromptSpec("{{ text }}", str(model))
    before = prompt_fill.asking(spec)

    file.write_text("trained again")

    assert prompt_fill.asking(spec) != before


def test_texts_are_sent_to_be_counted_only_where_they_may_be(project, monkeypatch):
    measure = Measure(lambda _texts: [1], 100, sends=lambda _texts: [2])
    monkeypatch.setattr(backends, "measure", lambda *_model: measure)
    far, near = "https://api.example.org/v1", "http://127.0.0.1:8080/v1"

    def count(address):
        asked = spec(backend="server", model=f"{address}#m")
        return fillers.measure(asked).count(["text"])

    with prompt_fill.Fillers(project) as fillers:
        assert (count(near), count(far)) == ([2], [1])
        servers.agree(project, far)
        assert count(far) == [2]
