"""A key store in memory, in place of that of the system."""

import json
import os
from contextlib import contextmanager

import keyring
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError


class MemoryKeys(KeyringBackend):
    """`locked`: the user has closed it."""

    priority = 1

    def __init__(self):
        super().__init__()
        self.keys, self.locked = {}, False

    def _open(self):
        if self.locked:
            raise KeyringLocked("The key store is locked.")

    def get_password(self, service, username):
        self._open()
        return self.keys.get((service, username))

    def set_password(self, service, username, password):
        self._open()
        self.keys[service, username] = password

    def delete_password(self, service, username):
        self._open()
        if self.keys.pop((service, username), None) is None:
            raise PasswordDeleteError("not found")


@contextmanager
def memory_keys():
    before, store = keyring.get_keyring(), MemoryKeys()
    keyring.set_keyring(store)
    try:
        yield store
    finally:
        keyring.set_keyring(before)


class InheritedKeys(MemoryKeys):
    """In a worker, whose memory is its own: {address: key} as JSON in the variable TEST_KEYS."""

    def __init__(self):
        super().__init__()
        known = json.loads(os.environ.get("TEST_KEYS", "{}"))
        self.keys = {("glossbench", address): key for address, key in known.items()}
