"""Which models are there: the Hugging Face cache, with whatever else is in it."""

import shutil

from workbench.models import spec


def test_the_cache_lists_the_main_revision_and_passes_other_repositories_over(folder, tmp_path):
    cache = tmp_path / "hub"
    for revision in ("aaa", "bbb"):
        shutil.copytree(folder, cache / "models--some--model" / "snapshots" / revision)
    (cache / "models--some--model" / "refs").mkdir()
    (cache / "models--some--model" / "refs" / "main").write_text("aaa")
    vision = cache / "models--some--vision" / "snapshots" / "ccc"
    shutil.copytree(folder, vision)
    (vision / "config.json").write_text('{"model_type": "vit"}')

    result = spec.cached(cache)

    assert [(item.name, item.origin, item.path.endswith("aaa")) for item in result] == [
        ("some/model", "cache", True)
    ]
    assert spec.cached(tmp_path / "none") == ()
