"""Write and read the state of a training: tensors, random generators, counters.

The content of a state is a plain dict of tensors, numbers, texts, lists and dicts, so that it is
read with `weights_only`.
"""

from __future__ import annotations

import json
import pickle
import random
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from workbench.base import owned_folder
from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.records import json_text
from workbench.base.sizes import size
from workbench.training import states
from workbench.training.states import StateHeader

SHARE = 0.02  # of the time, for writing states; a last one at the end of a run comes on top
LEAST = 1.0  # seconds between two states
SPEED = 300e6  # bytes per second, until the first one was measured
SMALL_FILES = 10_000_000  # bytes: header, generators, predictions


class NoRoom(OSError):
    """The disk has no room for a state and, after it, a checkpoint."""


class States:
    """The state of one run, in its folder.

    resume: whether to continue from the present one. second: this training follows another one of
    the run, whose state is kept until there is a state of this one.
    """

    def __init__(self, folder: Path, *, resume: bool = False, second: bool = False):
        self.folder, self.resume, self.second = folder, resume, second
        self.expected = 0  # bytes of a state
        self.cost: float | None = None  # seconds, of the last one
        self.written = time.monotonic()

    @property
    def path(self) -> Path:
        return self.folder / states.FOLDER

    def begin(self, is_first: bool) -> tuple[StateHeader, dict[str, Any]] | None:
        """The state to continue from; without one, the first process deletes that of an earlier
        training.
        """
        if self.resume:
            return self.read()
        if is_first and not self.second:
            states.remove(self.folder)
        return None

    def expect(self, optimizer: torch.optim.Optimizer) -> None:
        """Start the clock; the size of a state is that of each weight and its two moments."""
        parameters = parameters_of(optimizer)
        self.expected = SMALL_FILES + 3 * _bytes(parameters)
        self.written = time.monotonic()

    def is_due(self) -> bool:
        """Whether writing one now takes no more than its share of the time since the last."""
        cost = self.expected / SPEED if self.cost is None else self.cost
        return time.monotonic() - self.written >= max(LEAST, cost / SHARE)

    def write(
        self,
        content: Mapping[str, Any],
        header: StateHeader,
        checkpoint: Path | None,
        modules: Sequence[nn.Module],
    ) -> None:
        """Replace the state by a new one.

        checkpoint: the folder of the best one so far. modules: what the next checkpoint consists
        of, which must have room besides. Raises NoRoom, or another error of the disk; the earlier
        state stays.
        """
        begun = time.monotonic()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            next_checkpoint = SMALL_FILES + sum(_bytes(module.parameters()) for module in modules)
            needed, free = self.expected + next_checkpoint, shutil.disk_usage(self.folder).free
            if free < needed:
                raise NoRoom(
                    _("{free} are free, {needed} needed", free=size(free), needed=size(needed))
                )

            def fill(draft: Path) -> None:
                torch.save(dict(content), draft / states.TENSORS)
                whole = (draft / states.TENSORS).stat().st_size
                text = json_text({**header.to_json(), "bytes": whole}, indent=1)
                (draft / states.HEADER).write_text(text, encoding="utf-8")
                if checkpoint is not None:
                    states.link(checkpoint, draft / states.CHECKPOINT)

            owned_folder.replace(self.path, fill)
        finally:
            self.written = time.monotonic()
            self.cost = self.written - begun

    def read(self) -> tuple[StateHeader, dict[str, Any]]:
        """Raises SpecError if there is none, or it cannot be read."""
        header = states.header(self.folder)
        if header is None:
            raise SpecError(
                _("{folder} has no state to continue from.", folder=self.folder),
                hint=_("States are kept for the last run of a project. Train again."),
            )
        header.check_readable(self.folder)
        try:
            content: dict[str, Any] = torch.load(
                owned_folder.current(self.path) / states.TENSORS,
                map_location="cpu",
                weights_only=True,
            )
        except (OSError, RuntimeError, ValueError, EOFError, pickle.UnpicklingError) as error:
            raise SpecError(
                _("The state in {folder} is damaged: {error}.", folder=self.path, error=error),
                hint=_("Train again."),
            ) from error
        return header, content

    def restore_checkpoint(self, target: Path | None) -> None:
        """Let `target` be the best checkpoint when the state was written."""
        source = owned_folder.current(self.path) / states.CHECKPOINT
        if target is None:
            return
        owned_folder.recover(target)
        if source.is_dir() and not _same(source, target):
            owned_folder.replace(target, lambda draft: states.link(source, draft))


def _same(folder: Path, other: Path) -> bool:
    """Whether two folders share their files, but for the marker."""
    names = [_files(folder), _files(other)]
    return names[0] == names[1] and all((folder / n).samefile(other / n) for n in names[0])


def _files(folder: Path) -> set[Path]:
    files = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return files - {Path(owned_folder.MARKER)}


# ---------------------------------------------------------------- weights


def changing(module: nn.Module, trained: Iterable[Tensor]) -> dict[str, Tensor]:
    """What training changes of a module, by name: trained parameters, and buffers."""
    own = {id(tensor) for tensor in trained}
    parameters = {
        name: value.detach() for name, value in module.named_parameters() if id(value) in own
    }
    return {**parameters, **dict(module.named_buffers())}


def load_changing(module: nn.Module, saved: Mapping[str, Tensor]) -> None:
    """Raises SpecError if the module has other parameters."""
    present = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    with torch.no_grad():
        for name, value in saved.items():
            if name not in present or present[name].shape != value.shape:
                raise SpecError(
                    _("The state does not fit the model: {name} differs.", name=name),
                    hint=_("Train again."),
                )
            present[name].copy_(value)


def parameters_of(optimizer: torch.optim.Optimizer) -> list[Tensor]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def _bytes(tensors: Iterable[Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


# ---------------------------------------------------------------- random generators


def generators(modules: Sequence[nn.Module], device: torch.device) -> dict[str, Any]:
    """The state of every random generator that a training uses."""
    return {
        "torch": torch.get_rng_state(),
        "device": _device_generator(device),
        "numpy": plain(np.random.get_state()),
        "python": plain(random.getstate()),
        "modules": [_generator_state(generator) for generator in _own_generators(modules)],
    }


def restore_generators(
    saved: Mapping[str, Any], modules: Sequence[nn.Module], device: torch.device
) -> None:
    torch.set_rng_state(saved["torch"])
    if saved["device"] is not None and _device_generator(device) is not None:
        library: Any = torch.cuda if device.type == "cuda" else torch.mps
        library.set_rng_state(saved["device"])
    name, keys, *rest = saved["numpy"]
    np.random.set_state((name, np.array(keys, np.uint32), *rest))
    version, numbers, following = saved["python"]
    random.setstate((version, tuple(numbers), following))
    for generator, state in zip(_own_generators(modules), saved["modules"], strict=False):
        if isinstance(generator, torch.Generator):
            generator.set_state(state)
        else:
            generator.bit_generator.state = json.loads(state, object_hook=_arrays)


def _device_generator(device: torch.device) -> Tensor | None:
    if device.type == "cuda":
        return torch.cuda.get_rng_state(device)
    return torch.mps.get_rng_state() if device.type == "mps" else None


def _own_generators(
    modules: Sequence[nn.Module],
) -> Iterator[np.random.Generator | torch.Generator]:
    """Those that modules hold, such as that of `batches.CheapDropout`, each once."""
    known = set()
    for root in modules:
        for module in root.modules():
            for value in vars(module).values():
                is_generator = isinstance(value, np.random.Generator | torch.Generator)
                if is_generator and id(value) not in known:
                    known.add(id(value))
                    yield value


def _generator_state(generator: np.random.Generator | torch.Generator) -> Tensor | str:
    """Of numpy as JSON: its numbers have up to 128 bits."""
    if isinstance(generator, torch.Generator):
        return generator.get_state()
    state = generator.bit_generator.state
    return json.dumps(state, default=lambda array: {"array": array.tolist()})


def _arrays(item: dict[str, Any]) -> Any:
    return np.array(item["array"], np.uint64) if [*item] == ["array"] else item


def plain(value: Any) -> Any:
    """Numbers, texts, lists and dicts, as JSON has them."""
    return json.loads(json.dumps(value, default=lambda item: item.tolist()))
