"""Results of the jobs that query and download models, as JSON."""

import json

from workbench.models.results import Download, Repository, RepositoryFile


def test_a_repository_and_a_download_go_to_json_and_back():
    files = (RepositoryFile("config.json", 12), RepositoryFile("model.safetensors", 3000))
    repository = Repository("some/tiny", "abc", "mit", 3012, files, pickled=False, family="bert")
    download = Download("some/tiny", "/cache/some", card={"name": "some/tiny"})

    for made in (repository, download):
        raw = {**json.loads(json.dumps(made.to_json())), "later": 1}
        assert type(made).from_json(raw) == made


def test_a_stopped_download_has_no_path():
    assert Download.from_json({"id": "some/tiny", "stopped": True}).path == ""
