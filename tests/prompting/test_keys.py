"""Keys of servers are kept by the system or not at all."""

import keyring
import pytest
from keyring.backends import fail

from tests.memory_keys import memory_keys
from workbench.prompting import keys

ADDRESS = "https://api.example.org/v1"


@pytest.fixture
def store():
    with memory_keys() as store:
        yield store


def test_a_key_is_kept_under_its_address_and_removed(store):
    keys.put(ADDRESS, "sk-1")

    assert store.keys == {("glossbench", ADDRESS): "sk-1"} and keys.get(ADDRESS) == "sk-1"

    keys.remove(ADDRESS)
    keys.remove(ADDRESS)
    assert store.keys == {} and keys.get(ADDRESS) == ""


def test_without_a_key_store_keys_are_refused_with_advice(store):
    keyring.set_keyring(fail.Keyring())

    with pytest.raises(keys.NoKeyStore, match="no key store. Keys are kept there and never in a"):
        keys.put(ADDRESS, "sk-1")
    assert keys.get(ADDRESS) == ""
    keys.remove(ADDRESS)


def test_a_store_that_is_a_file_is_none(store, monkeypatch):
    monkeypatch.setattr(type(store), "__module__", "keyrings.alt.file")

    with pytest.raises(keys.NoKeyStore):
        keys.put(ADDRESS, "sk-1")


def test_a_locked_store_is_reported(store):
    store.locked = True

    with pytest.raises(keys.NoKeyStore, match="cannot be used: The key store is locked"):
        keys.put(ADDRESS, "sk-1")
    assert keys.get(ADDRESS) == ""
