from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace

import transformers
from transformers.utils import import_utils

from workbench.models.families.transformer import library


def test_files_of_a_package_are_searched_once():
    searched = []

    @lru_cache(maxsize=1)
    def structure(path):
        searched.append(path)
        return {}

    found = library.of_its_folder(structure)
    found(Path("models"))
    found("models/__init__.py")

    assert searched == [Path("models")]


def test_what_is_found_stays_the_same():
    search = import_utils.create_import_structure_from_path
    package = Path(transformers.__file__).parent / "models" / "bert" / "__init__.py"

    assert library.of_its_folder(search)(str(package)) == search(str(package)) != {}


def test_scipy_is_hidden_only_while_the_losses_are_imported():
    def is_package_available(name):
        return name == "scipy", "1.0"

    fake = SimpleNamespace(_is_package_available=is_package_available)
    asked = []

    @lru_cache
    def is_scipy_available():
        asked.append(fake._is_package_available("scipy")[0])
        return asked[-1]

    fake.is_scipy_available = is_scipy_available
    assert is_scipy_available()

    library._import_losses(fake)

    assert is_scipy_available()
    assert asked == [True, False, True]
