"""Real servers on loopback, started once: llama.cpp and `transformers serve`, with starter-gpt."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.llama_cpp import llama_server
from workbench.base.paths import resource

STARTER = resource("models") / "starter-gpt"
CHAT = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"
_SERVE = "import sys; from transformers.cli.transformers import main; sys.exit(main())"


@pytest.fixture(scope="session")
def starter_with_chat(tmp_path_factory):
    """starter-gpt with a chat template."""
    folder = tmp_path_factory.mktemp("models") / "starter-chat"
    shutil.copytree(STARTER, folder, copy_function=shutil.copyfile)
    (folder / "chat_template.jinja").write_text(CHAT)
    return folder


@pytest.fixture(scope="session")
def llama_cpp(tmp_path_factory):
    """The address of a server of llama.cpp."""
    pytest.importorskip("xllamacpp", reason="xllamacpp has no wheel for this platform")
    from safetensors.torch import load_file

    from workbench.exporters.model.gguf import file

    path = tmp_path_factory.mktemp("gguf") / "model.gguf"
    config = json.loads((STARTER / "config.json").read_text())
    weights = load_file(STARTER / "model.safetensors")
    file.write(
        path,
        config,
        {name: value.float().numpy() for name, value in weights.items()},
        json.loads((STARTER / "tokenizer.json").read_text()),
        special={"bos": 0, "eos": 0},
        chat_template=CHAT,
        half=False,
        name="starter-gpt",
    )
    with llama_server(path, context=1024) as server:
        yield f"{server.address}/v1"


@pytest.fixture(scope="session")
def transformers_serve(starter_with_chat, tmp_path_factory):
    """The address of `transformers serve`. It lists the models of a cache, which is empty here."""
    for package in ("fastapi", "uvicorn"):
        pytest.importorskip(package, reason="transformers[serving] is not installed")
    folder = tmp_path_factory.mktemp("serve")
    (folder / "hub").mkdir()
    places = {"HOME": str(folder), "HF_HOME": str(folder), "HF_HUB_CACHE": str(folder / "hub")}
    log = folder / "log.txt"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", _SERVE, "serve", str(starter_with_chat)]
            + ["--host", "127.0.0.1", "--port", "0", "--dtype", "float32", "--device", "cpu"],
            stdout=output,
            stderr=output,
            env={**os.environ, **places, "HF_HUB_OFFLINE": "1"},
        )
        try:
            yield f"{_address(process, log)}/v1"
        finally:
            process.kill()
            process.wait()


def _address(process, log):
    for _second in range(600):
        if found := re.search(r"running on (http://\S+)", log.read_text()):
            return found[1]
        try:
            process.wait(0.1)
            break
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError(f"transformers serve does not start: {log.read_text()[-2000:]}")
