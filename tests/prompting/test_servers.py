"""Addresses of servers, and their settings as they may be after an edit by hand."""

import pytest

from workbench.base.errors import SpecError
from workbench.prompting import servers
from workbench.prompting.servers import Probe, Server


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        ("localhost:11434/", "http://localhost:11434/v1"),
        ("[::1]:80", "http://[::1]:80/v1"),
        ("api.example.org", "https://api.example.org/v1"),
        (" https://API.example.org/v1/ ", "https://api.example.org/v1"),
        ("https://host/openai/v1/chat/completions", "https://host/openai/v1"),
        ("http://host:8000/v1/models", "http://host:8000/v1"),
    ],
)
def test_an_address_is_completed(text, address):
    assert servers.normal_address(text) == address
    assert servers.normal_address(address) == address


@pytest.mark.parametrize(
    "text", ["", "ftp://host", "http://", "http://host:99999", "http://[::1", "file:///etc/passwd"]
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(SpecError, match="is not the address of a server"):
        servers.normal_address(text)


@pytest.mark.parametrize("text", ["https://me:secret@host/v1", "https://host/v1?key=s", "host#m"])
def test_an_address_holds_no_key(text):
    with pytest.raises(SpecError, match="no user name, no query and no fragment"):
        servers.normal_address(text)


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://127.8.8.8/v1", True),
        ("http://[::1]/v1", True),
        ("http://localhost/v1", True),
        ("http://192.168.0.7/v1", False),
        ("http://localhost.example.org/v1", False),
        ("https://127.0.0.1.example.org/v1", False),
    ],
)
def test_only_loopback_is_this_computer(address, local):
    assert servers.is_local(address) is local


def test_settings_that_do_not_fit_are_left_out():
    good = Server("https://a.example/v1", probes={"m": Probe(frozenset(("chat",)))}, price_in=2.5)
    raw = good.to_json()

    read = servers.from_settings(
        {
            good.address: raw,
            "no address": raw,
            "https://b.example/v1": {**raw, "concurrency": 1000},
            "https://c.example/v1": {**raw, "probes": [1]},
            "https://d.example/v1": [],
        }
    )

    assert read == (good,) and read[0].probes == good.probes


def test_a_title_tells_servers_with_the_same_program_apart():
    titled = Server("http://127.0.0.1:1/v1", title="The small one", program="llama.cpp")
    assert titled.where == "The small one on this computer, 127.0.0.1:1"
    assert Server("https://a.example/v1", title="Hosted").where == "Hosted, a.example"
