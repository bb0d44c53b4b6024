"""Files of torch that try more than to describe tensors."""

import collections
import io
import pickle

import pytest
import torch

from workbench.base.errors import ModelError
from workbench.models import pickled


class Allowed:
    """Stands for a class that a family names."""

    dump_patches = False


CLASSES = {"flair.data.Dictionary": Allowed}


def legacy(path, *instructions):
    """A file of torch before 1.6 whose object is what these instructions of pickle build."""
    out = io.BytesIO()
    for head in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}):
        pickle.dump(head, out, protocol=2)
    out.write(pickle.PROTO + b"\x02" + b"".join(instructions) + pickle.STOP)
    pickle.dump([], out, protocol=2)
    path.write_bytes(out.getvalue())
    return path


def named(name):
    module, _dot, own = name.rpartition(".")
    return pickle.GLOBAL + f"{module}\n{own}\n".encode()


def plain(value):
    return pickle.dumps(value, protocol=2)[2:-1]


CLASS = named("flair.data.Dictionary")


def test_attributes_of_a_class_are_not_set(tmp_path):
    file = legacy(tmp_path / "x.pt", CLASS, plain({"dump_patches": True}), pickle.BUILD)

    with pytest.raises(ModelError, match="attributes of type"):
        pickled.load(file, CLASSES)
    assert Allowed.dump_patches is False


def test_attributes_of_an_instance_are_set_without_calling_it(tmp_path):
    new = CLASS + pickle.EMPTY_TUPLE + pickle.NEWOBJ
    file = legacy(tmp_path / "x.pt", new, plain({"add_unk": True}), pickle.BUILD)

    assert vars(pickled.load(file, CLASSES)) == {"add_unk": True}


@pytest.mark.parametrize("state", [{"items": 1}, {"_metadata": {}, "__class__": 1}])
def test_a_state_dictionary_gets_nothing_but_its_metadata(state, tmp_path):
    new = named("collections.OrderedDict") + pickle.EMPTY_TUPLE + pickle.REDUCE
    file = legacy(tmp_path / "x.pt", new, plain(state), pickle.BUILD)

    with pytest.raises(ModelError, match="attributes of OrderedDict"):
        pickled.load(file, CLASSES)


def test_no_source_of_a_module_is_compared_or_written(tmp_path, monkeypatch):
    """The legacy reader of torch appends to a file of a name that the pickle can choose."""
    monkeypatch.chdir(tmp_path)
    about = pickle.MARK + plain("module") + CLASS + plain("a.py") + plain("source\n") + pickle.TUPLE
    file = legacy(tmp_path / "x.pt", about, pickle.BINPERSID)

    with pytest.raises(ModelError, match="persistent id module"):
        pickled.load(file, CLASSES)
    assert [path.name for path in tmp_path.glob("*.patch")] == []


@pytest.mark.parametrize("archive", [True, False])
def test_state_dictionaries_of_torch_are_read(archive, tmp_path):
    state = torch.nn.Linear(2, 3).state_dict()
    torch.save(state, tmp_path / "x.pt", _use_new_zipfile_serialization=archive)

    found = pickled.load(tmp_path / "x.pt", {})

    assert isinstance(found, collections.OrderedDict) and found.keys() == state.keys()
    assert all(torch.equal(found[name], state[name]) for name in state)
