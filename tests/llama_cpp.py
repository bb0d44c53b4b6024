"""A real server of llama.cpp on loopback, from the wheel xllamacpp, in a process of its own."""

import json
import subprocess
import sys
import urllib.request
from contextlib import contextmanager

import pytest

_CODE = """
import sys
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path, params.n_ctx, params.n_parallel = sys.argv[1], int(sys.argv[2]), 2
params.warmup = False
kinds = xllamacpp.ggml_type
params.cache_type_k = params.cache_type_v = kinds.GGML_TYPE_F32
params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


class LlamaServer:
    """`address` such as http://127.0.0.1:41234."""

    def __init__(self, address):
        self.address = address

    def post(self, path, **body):
        data = json.dumps(body).encode()
        request = urllib.request.Request(
            self.address + path, data, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def token_ids(self, text):
        return self.post("/tokenize", content=text, add_special=True, parse_special=True)["tokens"]

    def next_logprobs(self, text, count):
        """Token id → log-probability of the `count` most probable tokens after a text."""
        (whole,) = self.post("/tokenize", content="a")["tokens"]  # of complete UTF-8
        sent = {"n_predict": 1, "n_probs": count, "temperature": 0, "logit_bias": [[whole, 100]]}
        answer = self.post("/completion", prompt=text, **sent)
        (place,) = answer["completion_probabilities"]
        return {token["id"]: token["logprob"] for token in place["top_logprobs"]}


@contextmanager
def llama_server(file, context=512):
    """Skips the test where the wheel is missing."""
    pytest.importorskip("xllamacpp", reason="xllamacpp has no wheel for this platform")
    process = subprocess.Popen(
        [sys.executable, "-c", _CODE, str(file), str(context)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        address = process.stdout.readline().strip()
        assert address, f"llama.cpp cannot load {file}"
        yield LlamaServer(address)
    finally:
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
