"""The list of servers, their tests and keys, and the consent of a project."""

import pytest

from tests.faulty_server import completion, faulty_server
from tests.inline import InlineQueue
from tests.memory_keys import memory_keys
from workbench.base.errors import JobFailed, SpecError
from workbench.operations.prompts import prompt, prompt_models, servers
from workbench.operations.runs.kinds import contract as kinds
from workbench.prompting import servers as spec
from workbench.prompting.backends.spec import CHAT, GENERATE, SCORE
from workbench.prompting.servers import ECHO, Probe, Server
from workbench.prompting.spec import PromptSpec

KEY = "sk-3141592653589793-secret"
FAR = "https://api.example.org/v1"
TEMPLATE = "{{ text }} => {{ label }}"


@pytest.fixture
def store():
    with memory_keys() as store:
        yield store


@pytest.fixture
def queue():
    queue = InlineQueue()
    yield queue
    queue.close()


def scoring(number, path, body):
    """A server with `echo`: each character is a token with the log-probability −1."""
    if path.endswith("/models"):
        return {"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 900}]}
    if not path.endswith("/v1/completions"):
        return (404, {}, b"")
    text = body["prompt"] if body.get("echo") else ""
    tokens = [*text, "!"]
    values = [None, *[-1.0] * (len(tokens) - 1)] if text else [-1.0]
    return completion(f"{text}!", logprobs={"tokens": tokens, "token_logprobs": values})


def test_a_server_is_tested_and_listed_with_what_it_can_do(store, queue):
    with faulty_server(scoring) as server:
        servers.save(servers.tested(queue, Server(server.address)))

    (listed,) = servers.listed()
    assert (listed.models, listed.program) == (("m",), "vLLM")
    assert listed.probes["m"].scoring == ECHO and listed.probes["m"].context == 900
    (model,) = (it for it in prompt_models.offer().choices if it.backend == servers.BACKEND)
    assert model.model.path == f"{server.address}#m" and {SCORE, GENERATE} <= model.model.can
    assert CHAT not in model.model.can and "/v1/chat/completions" in model.model.cannot[CHAT]
    assert model.model.where.startswith("vLLM on this computer, 127.0.0.1:")
    assert servers.find(server.address) == listed
    servers.remove(server.address)
    assert servers.listed() == ()


def test_a_server_that_does_not_answer_is_not_tested(queue):
    with faulty_server(scoring) as server:
        pass

    with pytest.raises(JobFailed, match="cannot be reached"):
        servers.tested(queue, Server(server.address))


def test_a_server_with_several_models_asks_for_one(queue):
    def several(number, path, body):
        listed = {"data": [{"id": name} for name in ("a", "b")]}
        return listed if path.endswith("/models") else scoring(number, path, body)

    with faulty_server(several) as server:
        with pytest.raises(SpecError, match="has several models. Choose one: a, b"):
            servers.model(queue, server.address)
        model = servers.model(queue, server.address, "b")

    assert SCORE in model.can and servers.listed() == ()


def test_a_key_is_dropped_if_the_server_is_not_added(store):
    with pytest.raises(RuntimeError), servers.adding(FAR, KEY) as server:
        assert server.address == FAR and list(store.keys.values()) == [KEY]
        raise RuntimeError

    assert store.keys == {}


# ---------------------------------------------------------------- consent


def test_texts_leave_this_computer_only_after_the_user_agreed_once(project, queue, topics):
    far = PromptSpec(TEMPLATE, f"{FAR}#m", backend=servers.BACKEND, shots=0, calibration="none")
    probe = Probe(frozenset((SCORE,)), ECHO)
    servers.save(Server(FAR, models=("m",), probes={"m": probe}))
    prepared = prompt.prepare(project, far)

    with pytest.raises(servers.ConsentNeeded, match=f"sent to {FAR}. Agree to it first"):
        kinds.start(project, queue, prepared)
    with pytest.raises(servers.ConsentNeeded):
        prompt.host(project, far)
    assert not queue.jobs and "=> " in prompt.example(project, prepared)

    servers.agree(project, FAR)
    assert servers.needs_consent(project, far.backend, far.model) == ""
    assert servers.needs_consent(project, far.backend, "https://other.example/v1#m")
    assert prompt.host(project, far).params["model"] == f"{FAR}#m"


def test_a_server_on_this_computer_needs_no_consent(project):
    for address in ("http://127.0.0.1:8080/v1", "http://localhost/v1", "http://[::1]:1/v1"):
        assert servers.needs_consent(project, servers.BACKEND, f"{address}#m") == ""
    assert servers.needs_consent(project, prompt_models.DEFAULT, "/models/starter-bert") == ""


def test_a_damaged_list_of_consents_is_none(project):
    with project.write():
        project.db.set_meta(servers.CONSENTS, "{")

    assert servers.consents(project) == ()


def test_equal_names_of_models_are_told_apart_by_their_server():
    for title, host in (("one", "a"), ("two", "b")):
        servers.save(Server(f"https://{host}.example/v1", title, models=("m", host)))

    names = [it.key for it in prompt_models.offer().choices if it.backend == servers.BACKEND]

    assert names == ["m @ one", "a", "m @ two", "b"]
    assert prompt_models.find(servers.BACKEND, "m @ two").path == "https://b.example/v1#m"
    assert prompt_models.find(servers.BACKEND, "https://b.example/v1#m").name == "m @ two"
    assert spec.split_path("https://c.example/v1#x/y") == ("https://c.example/v1", "x/y")
