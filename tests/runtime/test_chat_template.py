import json

import pytest

from workbench.runtime import chat_template
from workbench.runtime.chat_template import ChatTemplate

SOURCE = "{{ bos_token }}{{ messages }}"


def write(folder, **config):
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return chat_template.read(folder)


@pytest.mark.parametrize(
    "configured",
    [SOURCE, [{"name": "tool_use", "template": "x"}, {"name": "default", "template": SOURCE}]],
)
def test_the_chat_template_is_read_with_its_reserved_tokens(tmp_path, configured):
    bos = {"content": "<s>", "lstrip": False}

    result = write(
        tmp_path, chat_template=configured, bos_token=bos, eos_token="</s>", pad_token=None
    )

    assert result == ChatTemplate(SOURCE, {"bos_token": "<s>", "eos_token": "</s>"})
    assert result.tokens == {"bos_token": "<s>", "eos_token": "</s>"}


def test_a_file_of_its_own_comes_before_the_configuration(tmp_path):
    (tmp_path / "chat_template.jinja").write_text("own")

    assert write(tmp_path, chat_template=SOURCE).source == "own"


@pytest.mark.parametrize("configured", [None, "", 7, [], [{"name": "rag"}], ["x"]])
def test_a_model_without_a_chat_template_has_none(tmp_path, configured):
    assert write(tmp_path, chat_template=configured) is None
    assert chat_template.read(tmp_path / "nowhere") is None
