"""The result of an import's worker, as JSON."""

import json

from workbench.importers.results import FileRead, StagingResult


def test_the_files_that_were_read_go_to_json_and_back():
    made = StagingResult(3, (FileRead("a.csv", "csv", "it has columns", "utf-8"),))

    assert StagingResult.from_json(json.loads(json.dumps(made.to_json()))) == made


def test_a_worker_without_a_result_has_read_nothing():
    assert StagingResult.from_json(None) == StagingResult()
