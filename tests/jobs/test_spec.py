from workbench.jobs import events
from workbench.jobs.spec import JobSpec, Limits


def test_a_job_goes_to_its_file_and_back(tmp_path):
    limits = Limits(seconds=0.5, memory=10**6)
    spec = JobSpec("a:b", {"text": "grün 🌱"}, "/x", "cuda", "Train", {"A": "1"}, limits=limits)

    spec.write(tmp_path / "deep" / "job.json")

    assert JobSpec.read(tmp_path / "deep" / "job.json") == spec


def test_the_path_of_a_file_may_hold_bytes_that_are_not_utf_8(tmp_path):
    spec = JobSpec("a:b", {"files": ["/x/caf\udce9.txt"]}, "/x/caf\udce9")

    spec.write(tmp_path / "job.json")

    assert JobSpec.read(tmp_path / "job.json") == spec


def test_events_go_to_json_and_back():
    for event in (
        events.Queued(),
        events.Started(4, "2026-01-01"),
        events.Output({"kind": "step"}),
        events.Log("x"),
        events.Finished("done", {"a": 1}),
    ):
        assert events.from_json(events.to_json(event)) == event


def test_what_a_worker_wrote_is_read_back_and_torn_lines_are_passed_over(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text(
        '{"type": "output", "payload": {"kind": "step"}}\n[1]\n{"type": '
        '"later"}\n{"type": "log", "line": "x"}\n{"type": "fin'
    )

    assert list(events.recorded(path)) == [events.Output({"kind": "step"}), events.Log("x")]
    assert list(events.recorded(tmp_path / "none")) == []
