"""Weight files of `torch.save` (names, shapes, settings), read without unpickling them.

Unpickling can execute arbitrary code. Here the instructions are read one by one and interpreted
only as far as they build dictionaries, lists and numbers: nothing is imported, called or looked up.
Objects of other classes become a `Built`, which only holds what the file states of them. Other
instructions make a file unreadable here, but not dangerous.

Source of the layouts: torch/serialization.py (zip archive since 1.6, a chain of pickles before).
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.base.i18n import _

MAX_BYTES = 64_000_000  # maximum size of the instructions; a model with 1,000 layers has 5 MB
MAX_STEPS = 2_000_000
MAX_SIZE = 1 << 48
_LEGACY_MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
_FLOATS = {
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "DoubleStorage": "float64",
}


@dataclass(frozen=True)
class Tensor:
    """`dtype` is "" for integers; tensors that share memory have an equal `storage`."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    storage: tuple[object, ...]


@dataclass(frozen=True)
class _Name:
    """A class or function that the file references; it is never looked up."""

    path: str


@dataclass(frozen=True)
class _Storage:
    """A reference to a memory block of the file."""

    about: Any


@dataclass(frozen=True)
class Stored:
    """A tensor without a name, see Tensor."""

    shape: tuple[int, ...]
    dtype: str
    storage: tuple[object, ...]


@dataclass(eq=False)
class Built:
    """An object that the file describes; its class was not imported and nothing was called.

    path: module and name of the class or function, joined by a dot. state: its attributes.
    """

    path: str
    arguments: Any = ()
    state: Any = None


class _Unreadable(Exception):
    """The file contains more than descriptions of tensors."""


def tensors(path: Path, problems: list[str]) -> tuple[Tensor, ...]:
    """The tensors of a state dictionary; () if they cannot be determined without unpickling.

    A file that is not an archive of torch, or is truncated, is a problem.
    """
    return tuple(named(content(path, problems)))


def content(path: Path, problems: list[str]) -> object:
    """The object in the file: dictionaries, lists, numbers, texts, Stored and Built.

    None if it cannot be determined without unpickling. Problems as for `tensors`.
    """
    import zipfile
    import zlib

    try:
        with open(path, "rb") as file:
            legacy = file.read(len(_LEGACY_MAGIC)) == _LEGACY_MAGIC
            file.seek(0)
            raw = file.read(MAX_BYTES) if legacy else _instructions(file)
        return _result(raw, skip=3 if legacy else 0)
    except OSError as error:
        problems.append(_("{file} cannot be read ({error})", file=path.name, error=error.strerror))
    except (
        zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, RuntimeError,
    ):  # fmt: skip
        problems.append(_("{file} is damaged, truncated or not written by PyTorch", file=path.name))
    except _Unreadable:
        pass  # its content is unknown until it is loaded
    return None


def plain(path: Path, problems: list[str]) -> object:
    """The object in a file of `pickle.dump`, see `content`; None if it has problems."""
    try:
        with open(path, "rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if not raw or len(raw) > MAX_BYTES:
            raise _Unreadable
        return _result(raw, skip=0)
    except OSError as error:
        problems.append(_("{file} cannot be read ({error})", file=path.name, error=error.strerror))
    except _Unreadable:
        problems.append(_("{file} is damaged, or holds more than plain values", file=path.name))
    return None


def _instructions(file: io.BufferedReader) -> bytes:
    import zipfile

    with zipfile.ZipFile(file) as archive:
        name = next((text for text in archive.namelist() if text.endswith("/data.pkl")), "data.pkl")
        if archive.getinfo(name).file_size > MAX_BYTES:
            raise _Unreadable
        with archive.open(name) as member:
            return member.read(MAX_BYTES)


def named(state: object) -> Iterator[Tensor]:
    """The tensors of a state dictionary that `content` has read."""
    if not isinstance(state, dict):
        return
    for name, value in state.items():
        if isinstance(name, str) and isinstance(value, Stored):
            yield Tensor(name, value.shape, value.dtype, value.storage)


# ---------------------------------------------------------------- interpreter


def _result(raw: bytes, skip: int) -> object:
    """The object built by the pickle after `skip` others. Raises _Unreadable."""
    stream = io.BytesIO(raw)
    try:
        for _number in range(skip):
            _Machine().run(stream)
        return _Machine().run(stream)
    except (
        ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, RecursionError,
        MemoryError,
    ) as error:  # fmt: skip
        raise _Unreadable from error


class _Machine:
    """A stack machine for the few instructions that a state dictionary uses."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def run(self, stream: io.BytesIO) -> object:
        import pickletools

        for step, (code, argument, _at) in enumerate(pickletools.genops(stream)):
            if step > MAX_STEPS:
                raise _Unreadable
            if code.name == "STOP":
                return self.stack.pop()
            act = getattr(self, f"on_{code.name.lower()}", None)
            if act is not None:
                act(argument)
            elif code.name in _PLAIN:
                self.stack.append(argument)
            elif code.name not in ("PROTO", "FRAME"):
                raise _Unreadable
        raise _Unreadable

    def popped(self) -> list[Any]:
        """All items above the last mark."""
        at = self.marks.pop()
        values, self.stack[at:] = self.stack[at:], []
        return values

    def on_mark(self, _argument: object) -> None:
        self.marks.append(len(self.stack))

    def on_none(self, _argument: object) -> None:
        self.stack.append(None)

    def on_newtrue(self, _argument: object) -> None:
        self.stack.append(True)

    def on_newfalse(self, _argument: object) -> None:
        self.stack.append(False)

    def on_empty_dict(self, _argument: object) -> None:
        self.stack.append({})

    def on_empty_set(self, _argument: object) -> None:
        self.stack.append(set())

    def on_additems(self, _argument: object) -> None:
        values = self.popped()
        self.stack[-1].update(values)

    def on_empty_list(self, _argument: object) -> None:
        self.stack.append([])

    def on_empty_tuple(self, _argument: object) -> None:
        self.stack.append(())

    def on_tuple(self, _argument: object) -> None:
        self.stack.append(tuple(self.popped()))

    def on_tuple1(self, _argument: object) -> None:
        self.stack[-1:] = [tuple(self.stack[-1:])]

    def on_tuple2(self, _argument: object) -> None:
        self.stack[-2:] = [tuple(self.stack[-2:])]

    def on_tuple3(self, _argument: object) -> None:
        self.stack[-3:] = [tuple(self.stack[-3:])]

    def on_append(self, _argument: object) -> None:
        value = self.stack.pop()
        self.stack[-1].append(value)

    def on_appends(self, _argument: object) -> None:
        values = self.popped()
        self.stack[-1].extend(values)

    def on_setitem(self, _argument: object) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.stack[-1][key] = value

    def on_setitems(self, _argument: object) -> None:
        values = self.popped()
        self.stack[-1].update(zip(values[::2], values[1::2], strict=True))

    def on_global(self, argument: str) -> None:
        self.stack.append(_Name(argument.replace(" ", ".")))

    def on_stack_global(self, _argument: object) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        self.stack.append(_Name(f"{module}.{name}"))

    def on_binpersid(self, _argument: object) -> None:
        self.stack.append(_Storage(self.stack.pop()))

    def on_reduce(self, _argument: object) -> None:
        arguments, called = self.stack.pop(), self.stack.pop()
        self.stack.append(_called(called, arguments))

    on_newobj = on_reduce

    def on_build(self, _argument: object) -> None:
        state = self.stack.pop()
        if isinstance(self.stack[-1], Built):  # a dictionary's are its version and the like
            self.stack[-1].state = state

    def on_binput(self, argument: int) -> None:
        self.memo[argument] = self.stack[-1]

    on_long_binput = on_put = on_binput

    def on_memoize(self, _argument: object) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def on_binget(self, argument: int) -> None:
        self.stack.append(self.memo[argument])

    on_long_binget = on_get = on_binget


_PLAIN = frozenset(
    "BININT BININT1 BININT2 LONG1 LONG4 INT LONG BINFLOAT FLOAT BINUNICODE SHORT_BINUNICODE "
    "BINUNICODE8 UNICODE BINSTRING SHORT_BINSTRING STRING BINBYTES SHORT_BINBYTES".split()
)


def _called(called: object, arguments: tuple[Any, ...]) -> object:
    """The result of a call that a state dictionary contains; the call is not executed."""
    path = called.path if isinstance(called, _Name) else ""
    if path == "collections.defaultdict" or (path == "collections.OrderedDict" and not arguments):
        return {}
    if path == "torch._utils._rebuild_parameter":
        return arguments[0]
    if path == "torch._utils._rebuild_tensor_v2":
        storage, offset, shape = arguments[:3]
        _kind, block, key, *_rest = storage.about
        name = block.path.rpartition(".")[2]
        return Stored(tuple(map(_size, shape)), _FLOATS.get(name, ""), (str(key), offset, shape))
    if path == "_codecs.encode":  # bytes, as written up to protocol 2
        return str(arguments[0]).encode("latin1")
    return Built(path, arguments)


def _size(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_SIZE:
        raise ValueError(value)
    return value
