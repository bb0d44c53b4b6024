"""Labels of several annotators in files of other tools come in as the labels of people.

Layout of the files: Label Studio, labelstud.io/guide/task_format (`completed_by`, `was_cancelled`,
`ground_truth`); Prodigy, prodi.gy/docs/api-web-app (`_annotator_id`: data set, hyphen, session);
doccano, its `data_export` (one file per member, named after the member) and its exports before
version 1.3 (`user` of an annotation); INCEpTION, its user guide, "Export": annotation/DOCUMENT/NAME
and curation/DOCUMENT/CURATION_USER.
"""

import json
import zipfile

import pytest

from workbench.base.errors import ExportFailed, ImportFailed, SpecError
from workbench.operations.people import adjudication, agreement, people
from workbench.operations.schema import labels
from workbench.operations.transfer import (
    archives,
    data_export,
    data_import,
    import_choice,
    import_preview,
)
from workbench.project.check import check
from workbench.storage.documents import documents


@pytest.fixture
def bring(project, inline_jobs, tmp_path):
    """bring({name: content}, **options) → the outcome of importing these files."""

    def bring(files, **options):
        paths = []
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else lines(*content))
            paths.append(path)
        return data_import.import_files(project, inline_jobs, paths, **options)

    return bring


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


def region(start, end, label):
    value = {"start": start, "end": end, "labels": [label]}
    return {"id": "r", "type": "labels", "from_name": "ner", "to_name": "text", "value": value}


def annotation(who, *results, **more):
    return {"completed_by": who, "was_cancelled": False, "result": list(results), **more}


def task(key, text, *annotations):
    return {"id": key, "data": {"text": text}, "annotations": list(annotations)}


ADA = {"id": 4, "email": "ada@example.org", "first_name": "Ada", "last_name": "King"}
STUDIO = json.dumps(
    [
        task(1, "Ada met Bob", annotation(ADA, region(0, 3, "PER")), annotation(7)),
        task(
            2,
            "in Rome",
            annotation(ADA, region(3, 7, "LOC")),
            annotation(7, region(3, 7, "PER"), was_cancelled=True),
        ),
        task(3, "nobody"),
    ]
)


def of(project, name):
    """Document key → state and spans of a person in the only layer."""
    (layer,) = labels.layers(project)
    with project.db.labels_of(people.named(project, name).id):
        return {
            record.document.key: (
                record.states[layer.name],
                [(span.start, span.end, span.label) for span in record.spans.get(layer.name, ())],
            )
            for record in documents.records(project.db)
            if layer.name in record.states
        }


def gold(project):
    return {row.person.name for row in people.overview(project) if row.gold}


def test_annotations_of_label_studio_are_those_of_their_people_in_one_undo_step(project, bring):
    outcome = bring({"x.json": STUDIO})

    assert (outcome.documents, outcome.people) == (3, {"Ada King": 2, "annotator 7": 2})
    ada = {"1": ("submitted", [(0, 3, "PER")]), "2": ("submitted", [(3, 7, "LOC")])}
    other = {"1": ("submitted", []), "2": ("discarded", [])}
    assert (of(project, "Ada King"), of(project, "annotator 7")) == (ada, other)
    assert gold(project) == {"Ada King"}  # of a new layer: who labelled most
    assert "Gold of spans is by Ada King." in outcome.warnings
    (layer,) = labels.layers(project)
    compared = agreement.compare(project, layer, agreement.annotators(project, layer), rounds=10)
    assert compared.value("span_f1").value == 0.0
    project.undo()
    assert labels.layers(project) == () and check(project.path) == []
    project.redo()
    assert of(project, "Ada King") == ada and check(project.path) == []


def test_only_one_version_of_each_document_is_imported_if_that_is_chosen(project, bring):
    outcome = bring({"x.json": STUDIO}, people="first")

    me = people.current(project).name
    assert of(project, me)["2"] == ("submitted", [(3, 7, "LOC")]) and outcome.people == {}
    assert len(people.every(project)) == 1
    assert "2 documents have labels of several people" in outcome.warnings[-1]


def test_labels_of_one_person_are_imported_alone(project, bring):
    bring({"x.json": STUDIO}, people="one:annotator 7")

    assert gold(project) == {"annotator 7"}
    assert of(project, "annotator 7") == {"1": ("submitted", []), "2": ("discarded", [])}
    assert [person.name for person in people.every(project)][1:] == ["annotator 7"]
    with pytest.raises(SpecError, match=r"no labels of 'Eve'.*Ada King \(2\), annotator 7 \(2\)"):
        bring({"y.json": STUDIO}, people="one:Eve")


def test_the_ground_truth_among_several_annotations_is_the_curated_version(project, bring):
    truth = annotation(5, region(0, 3, "PER"), ground_truth=True)
    tasks = [task(1, "Ada met Bob", annotation(4), truth)]

    bring({"x.json": json.dumps(tasks)})

    assert (
        of(project, "gold") == of(project, "annotator 5") == {"1": ("submitted", [(0, 3, "PER")])}
    )
    assert gold(project) == {"gold"}
    assert people.named(project, "gold") == adjudication.gold_person(project)


def test_curated_labels_are_not_those_of_a_person_who_is_called_gold(project, bring):
    bring({"x.json": STUDIO})
    people.change(project, people.named(project, "Ada King").id, "gold")
    before = of(project, "gold")
    truth = annotation(5, region(0, 3, "PER"), ground_truth=True)

    bring({"y.json": json.dumps([task(4, "Cleo met Dan", annotation(7), truth)])})

    assert of(project, "gold") == before and adjudication.gold_person(project).name == "gold (2)"
    assert of(project, "gold (2)") == {"4": ("submitted", [(0, 3, "PER")])}


def test_people_of_one_name_are_told_apart_by_their_address(project, bring):
    other = {**ADA, "id": 5, "email": "king@example.org"}

    outcome = bring({"x.json": json.dumps([task(1, "Ada", annotation(ADA), annotation(other))])})

    assert list(outcome.people) == ["Ada King (ada@example.org)", "Ada King (king@example.org)"]


def test_labels_that_one_person_made_alone_are_those_of_whoever_imports(project, bring):
    bring({"x.json": json.dumps([task(1, "Ada met", annotation(4, region(0, 3, "PER")))])})

    assert len(people.every(project)) == 1
    assert of(project, people.current(project).name) == {"1": ("submitted", [(0, 3, "PER")])}


def test_people_are_found_by_name_and_their_labels_never_overwritten(project, bring):
    bring({"x.json": STUDIO})
    before = of(project, "Ada King"), of(project, "annotator 7"), project.undo_step
    again = bring({"x.json": STUDIO})
    assert (again.documents, again.added) == (0, 0)
    assert before == (of(project, "Ada King"), of(project, "annotator 7"), project.undo_step)

    tasks = json.loads(STUDIO)
    tasks[1]["annotations"].append(annotation({"username": "Eve"}, region(0, 2, "LOC")))
    tasks[0]["annotations"][0]["result"] = []
    outcome = bring({"y.json": json.dumps(tasks)})

    assert (outcome.documents, outcome.added) == (0, 1)
    assert of(project, "Eve") == {"2": ("submitted", [(0, 2, "LOC")])}
    assert of(project, "Ada King") == before[0] and gold(project) == {"Ada King"}
    assert "4 versions of documents were left out" in "".join(outcome.warnings)
    project.undo()
    assert of(project, "Eve") == {} and check(project.path) == []
    project.redo()
    assert of(project, "Eve") and check(project.path) == []


def prodigy(who, text, *spans, answer="accept"):
    tokens = [{"text": text, "start": 0, "end": len(text), "id": 0}]
    marked = [{"start": start, "end": end, "label": label} for start, end, label in spans]
    return {
        "text": text,
        "tokens": tokens,
        "spans": marked,
        "answer": answer,
        "_annotator_id": who,
        "_session_id": who,
    }


def test_lines_of_prodigy_with_one_text_are_versions_of_one_document(project, bring):
    rows = (
        prodigy("news-ada", "Ada met", (0, 3, "PER")),
        prodigy("news-ada", "in Rome"),
        prodigy("news-bob", "in Rome", answer="ignore"),
        prodigy("news-bob", "Ada met", (0, 3, "LOC")),
    )

    outcome = bring({"x.jsonl": rows})

    assert (outcome.documents, outcome.people) == (2, {"ada": 2, "bob": 2})
    first, second = "x.jsonl:1", "x.jsonl:2"
    assert of(project, "ada") == {
        first: ("submitted", [(0, 3, "PER")]),
        second: ("submitted", []),
    }
    assert of(project, "bob") == {
        first: ("submitted", [(0, 3, "LOC")]),
        second: ("discarded", []),
    }
    assert check(project.path) == []


def test_sessions_of_prodigy_without_a_name_are_nobody(project, bring):
    rows = [prodigy("news-2026-01-02_10-11-12", text) for text in ("One", "One", "Two")]

    outcome = bring({"x.jsonl": rows})

    assert outcome.documents == 3 and len(people.every(project)) == 1


def doccano(key, text, *spans):
    return {"id": key, "text": text, "label": list(spans), "Comments": []}


def test_files_of_doccano_named_after_members_hold_their_labels(project, bring):
    files = {
        "ada.jsonl": (doccano(1, "Ada met", [0, 3, "PER"]), doccano(2, "in Rome")),
        "bob.jsonl": (doccano(1, "Ada met", [4, 7, "PER"]),),
    }

    outcome = bring(files, people="files")

    assert (outcome.documents, outcome.people) == (2, {"ada": 2, "bob": 1})
    assert of(project, "bob") == {"1": ("submitted", [(4, 7, "PER")])}


def test_an_archive_of_doccano_has_a_person_for_each_file(project, inline_jobs, tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("ada.jsonl", lines(doccano(1, "Ada met", [0, 3, "PER"])))
        archive.writestr("bob.jsonl", lines(doccano(1, "Ada met", [0, 3, "LOC"])))

    files = import_choice.chosen([tmp_path / "x.zip"])
    outcome = data_import.import_files(project, inline_jobs, files)
    archives.remove(files)

    assert outcome.people == {"ada": 1, "bob": 1}
    assert of(project, "bob") == {"1": ("submitted", [(0, 3, "LOC")])}


def test_labels_of_doccano_with_users_are_apart(project, bring):
    labelled = [
        {"label": "PER", "start_offset": 0, "end_offset": 3, "user": 1},
        {"label": "PER", "start_offset": 4, "end_offset": 7, "user": 2},
    ]

    bring({"x.jsonl": [{"id": 1, "text": "Ada met", "annotations": labelled}]})

    assert of(project, "annotator 2") == {"1": ("submitted", [(4, 7, "PER")])}


def test_a_column_of_a_table_says_who_labelled_a_text(project, bring):
    rows = "id,text,label,annotator\n1,fine,yes,Ada\n1,fine,no,Bob\n2,bad,no,Ada\n"

    outcome = bring({"x.csv": rows})

    assert (outcome.documents, outcome.people) == (2, {"Ada": 2, "Bob": 1})
    (layer,) = labels.layers(project)
    compared = agreement.compare(project, layer, agreement.annotators(project, layer), rounds=10)
    assert len(compared.documents) == 1 and len(compared.differences) == 1


TSV = (
    "#FORMAT=WebAnno TSV 3.3\n#T_SP=custom.Ner|value\n\n\n#Text=Ada met\n"
    "1-1\t0-3\tAda\t{}\t\n1-2\t4-7\tmet\t_\t\n"
)


def test_annotators_and_curator_of_a_project_of_inception_are_people(project, bring):
    files = {
        "annotation/a.txt/ada.tsv": TSV.format("PER"),
        "annotation/a.txt/bob.tsv": TSV.format("LOC"),
        "annotation/b/ada.tsv": TSV.replace("Ada", "Eve").format("PER"),
        "curation/a.txt/CURATION_USER.tsv": TSV.format("PER"),
    }

    outcome = bring(files)

    assert (outcome.documents, outcome.people) == (2, {"ada": 2, "bob": 1, "gold": 1})
    assert of(project, "bob") == {"a.txt": ("submitted", [(0, 3, "LOC")])}
    assert of(project, "gold") == {"a.txt": ("submitted", [(0, 3, "PER")])}


def test_annotators_of_inception_have_seen_the_layers_of_all_others(project, bring):
    files = {f"annotation/a.txt/{name}.tsv": TSV.format(name) for name in ("_", "PER")}

    bring(files)

    assert of(project, "_") == {"a.txt": ("submitted", [])}


@pytest.mark.parametrize(
    ("who", "reason"),
    [
        ([1], "the annotator is a list"),
        (True, "the annotator is True"),
        ({"id": {}}, "the annotator is an object"),
        ("x" * 101, "expected a name of up to 100 printable characters"),
        ("a\u202eb", "printable characters"),
        (1.5, "the annotator is 1.5"),
    ],
)
def test_a_task_with_a_wrong_annotator_is_refused_whole(bring, who, reason):
    tasks = [task(1, "Ada", annotation(4), annotation(who)), task(2, "Bob", annotation(4))]

    outcome = bring({"x.json": json.dumps(tasks)})

    assert outcome.documents == 1
    ((line, message),) = [(skipped.line, skipped.reason) for skipped in outcome.skipped]
    assert line == 1 and reason in message


def test_too_many_people_are_refused_and_nothing_is_imported(project, bring):
    rows = [prodigy(f"news-p{n}", "One") for n in range(1_001)]

    with pytest.raises(ImportFailed, match=r"name 1,001 annotators, more than 1,000.*first"):
        bring({"x.jsonl": rows})

    assert len(people.every(project)) == 1 and labels.layers(project) == ()


@pytest.mark.parametrize("choice", ["everyone", "one:", "one: "])
def test_an_unknown_choice_of_people_is_refused(bring, choice):
    with pytest.raises(SpecError):
        bring({"x.json": STUDIO}, people=choice)


def test_the_preview_counts_the_documents_of_each_person(tmp_path):
    (tmp_path / "x.json").write_text(STUDIO)

    preview = import_preview.preview(tmp_path / "x.json")

    assert preview.people == {"Ada King": 2, "annotator 7": 2}


@pytest.mark.parametrize("format", ["label-studio", "prodigy"])
def test_labels_of_several_people_are_the_same_after_an_export(
    project, bring, format, tmp_path, inline_jobs
):
    truth = annotation({"username": "Eve"}, region(0, 2, "LOC"), ground_truth=True)
    tasks = json.loads(STUDIO)
    tasks[0]["annotations"].append(truth)
    bring({"x.json": json.dumps(tasks)})
    names = ("Ada King", "annotator 7", "Eve", "gold")
    before = {name: of(project, name) for name in names}
    path = tmp_path / ("y.json" if format == "label-studio" else "y.jsonl")

    data_export.export_data(project, path, format=format, source="people")
    project.undo()
    outcome = data_import.import_files(project, inline_jobs, [path], people="all")

    assert outcome.documents == 3 and set(outcome.people) == {*names}
    assert {name: of(project, name) for name in names} == before


def test_a_format_of_one_person_is_refused_for_several(project, bring, tmp_path):
    bring({"x.json": STUDIO})

    with pytest.raises(ExportFailed, match=r"conll cannot hold.*label-studio, prodigy"):
        data_export.export_data(project, tmp_path / "y.conll", format="conll", source="people")

    assert not (tmp_path / "y.conll").exists()
