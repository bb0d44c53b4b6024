"""Pretraining on texts of an open project or on files, into a model that is listed when it ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import owned_folder, paths, scratch
from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _
from workbench.base.records import JsonRecord
from workbench.base.watch import QUIET, Watch
from workbench.operations.documents import corpus
from workbench.operations.documents.corpus import Filter
from workbench.operations.models import vectors
from workbench.operations.models.pretrain import TARGET, PretrainingJob
from workbench.operations.transfer import plain_text
from workbench.pretraining.spec import PretrainSpec
from workbench.pretraining.texts import Texts, files_of, links_out
from workbench.storage.documents import documents
from workbench.training.vectors.spec import SUFFIXES
from workbench.training.vectors.spec import TARGET as VECTORS

if TYPE_CHECKING:
    from workbench.base.settings import Settings
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.text.document import Document

PAGE = 500  # documents between two reports
MOST_NAME = 80  # characters
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f]')


@dataclass(frozen=True)
class TextSource(JsonRecord):
    """What a model is trained on.

    files: files and folders, which are streamed. Without them, documents of the project: those of
    `splits` (None: without a split) that contain `words`, "" for all. held_out: splits that are
    evaluated on in the same way; without documents in them, one document in 100 is held out.
    Documents with the same text as one of test are left out.
    """

    files: tuple[str, ...] = ()
    splits: tuple[str | None, ...] = ("train", None)
    words: str = ""
    held_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class TextSize:
    """documents, held_out: of the project. files, size: number of files and their bytes.
    warnings: what was left out of folders.
    """

    documents: int = 0
    held_out: int = 0
    files: int = 0
    size: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Written:
    """Texts as files. folder: temporary files that are deleted after the run, None without any."""

    texts: tuple[str, ...]
    held_out: tuple[str, ...] = ()
    folder: Path | None = None

    def close(self) -> None:
        if self.folder is not None:
            scratch.remove(self.folder)


def measure(project: Project, source: TextSource) -> TextSize:
    """The size of the text. Not for the main thread. Raises WorkbenchError for missing files."""
    if source.files:
        paths = [Path(path) for path in source.files]
        files, size = files_of(paths), 0
        for path in files:
            size += path.stat().st_size
        return TextSize(files=len(files), size=size, warnings=links_out(paths))
    counts = [len(_ids(project, splits, source.words)) for splits in _parts(source)]
    return TextSize(counts[0], counts[1])


def write(project: Project, source: TextSource, watch: Watch = QUIET) -> Written:
    """The texts as files. Not for the main thread.

    Raises WorkbenchError if there is no text, and Cancelled.
    """
    if source.files:
        files_of([Path(path) for path in source.files])
        return Written(tuple(str(Path(path).absolute()) for path in source.files))
    folder = scratch.make("texts")
    try:
        places = (folder / "texts.txt", folder / "held-out.txt")
        split_ids = [_ids(project, splits, source.words) for splits in _parts(source)]
        test = documents.records(project.db, layers=(), splits=("test",))
        held_back = {record.document.text_hash for record in test}
        counts = [
            plain_text.write(path, _others(project, ids, held_back, watch.part(start, start + 0.5)))
            for ids, path, start in zip(split_ids, places, (0.0, 0.5), strict=True)
        ]
        watch.at(1.0)
        if not counts[0]:
            raise WorkbenchError(
                _("No document of the project matches."),
                hint=_("Choose more splits, or other words."),
            )
    except BaseException:
        scratch.remove(folder)
        raise
    return Written((str(places[0]),), (str(places[1]),) if counts[1] else (), folder)


def write_joined(project: Project, source: TextSource, watch: Watch = QUIET) -> Written:
    """As `write`, in one file, for word vectors; one plain file is used as it is."""
    written = write(project, source, watch)
    files = files_of([Path(path) for path in written.texts])
    if len(files) == 1:
        return replace(written, texts=(str(files[0]),))
    folder = scratch.make("texts")
    try:
        with open(folder / "texts.txt", "w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for document in Texts(files) for line in document)
    except BaseException:
        scratch.remove(folder)
        raise
    return Written((str(folder / "texts.txt"),), folder=folder)


def written_again(project: Project, params: Mapping[str, Any], watch: Watch = QUIET) -> Written:
    """The texts of a run: its own copies while it has them, else those of its source as they are
    now. params: of its job. Not for the main thread.

    Raises WorkbenchError if they cannot be read any more, and Cancelled.
    """
    spec, source = params["spec"], params["source"]
    if all(Path(path).exists() for path in (*spec["texts"], *spec["held_out"])):
        return Written(tuple(spec["texts"]), tuple(spec["held_out"]))
    if not source:
        raise WorkbenchError(
            _("The text of this run is missing."), hint=_("Restore its files, or pretrain again.")
        )
    if source["project"] != project.uid:
        raise WorkbenchError(
            _("The text of this run is that of another project."), hint=_("Open that project.")
        )
    return write(project, TextSource.from_json(source), watch)


def _parts(source: TextSource) -> tuple[tuple[str | None, ...], tuple[str | None, ...]]:
    """Splits to train on, and to evaluate on."""
    held_out = tuple(split for split in source.held_out if split not in source.splits)
    return source.splits, held_out


def _ids(project: Project, splits: tuple[str | None, ...], words: str) -> list[int]:
    """Documents of these splits that contain the words, in order of id."""
    return sorted(
        id
        for split in splits
        for id in corpus.filter_ids(project, Filter(text=words, split=split or "none"))
    )


def _others(
    project: Project, ids: list[int], held_back: set[str], watch: Watch
) -> Iterator[Document]:
    """The documents with these ids, without those that have the same text as one of test."""
    for page in watch.over(ids, PAGE):
        for record in documents.records(project.db, layers=(), ids=page):
            if record.document.text_hash not in held_back:
                yield record.document


# ---------------------------------------------------------------- names


def free_name(stem: str) -> str:
    """A name that no model in the folder of models has: stem, stem 2, stem 3, …"""
    base = _FORBIDDEN.sub("-", stem).strip(" .")[:MOST_NAME] or "model"
    taken, number, name = _taken(), 2, base
    while name.casefold() in taken:
        name, number = f"{base}-{number}", number + 1
    return name


def check_name(name: str) -> None:
    """Raises SpecError for a name that cannot be the name of a folder, or is taken."""
    if not name or len(name) > MOST_NAME or _FORBIDDEN.search(name) or name != name.strip(" ."):
        raise SpecError(
            _("{name!r} cannot be the name of a model.", name=name),
            hint=_("Use letters, digits, spaces, “-” and “_”."),
        )
    if name.casefold() in _taken():
        raise SpecError(_("A model named {name!r} already exists.", name=name))


def _taken() -> set[str]:
    folder = paths.models_folder()
    if not folder.is_dir():
        return set()
    known = {suffix for suffixes in SUFFIXES.values() for suffix in suffixes}
    names = (path.stem if path.suffix in known else path.name for path in folder.iterdir())
    return {name.casefold() for name in names}


def place(name: str, method: str = "") -> Path:
    """Where a model is saved; word vectors of a `method` are a file."""
    return paths.models_folder() / (name + (SUFFIXES[method][0] if method else ""))


# ---------------------------------------------------------------- runs


def prepare(
    project: Project, spec: PretrainSpec, source: TextSource, name: str, watch: Watch = QUIET
) -> PretrainingJob:
    """Write the texts of a pretraining, which `start` begins. Not for the main thread.

    Raises WorkbenchError if there is no text, and Cancelled.
    """
    origin = {"project": project.uid, **asdict(source)}
    return _pretraining(spec, write(project, source, watch), name, origin)


def _pretraining(
    spec: PretrainSpec, written: Written, name: str, origin: Mapping[str, Any] | None = None
) -> PretrainingJob:
    """A pretraining on these texts. origin: where they are from, for `written_again`."""
    try:
        spec = replace(spec, texts=written.texts, held_out=written.held_out)
        work = PretrainingJob(spec, place(name), origin)
    except BaseException:
        written.close()
        raise
    if written.folder is not None:
        work.copies.append(written.folder)
    return work


def start(queue: Queue, work: PretrainingJob, project: Project | None = None) -> Job:
    """Start it in a worker, as a run of the project. `ended` lists its model."""
    paths.models_folder().mkdir(parents=True, exist_ok=True)
    try:
        job = work.start(queue, project)
    except WorkbenchError:
        work.close()
        raise
    return job


def ended(job: Job, settings: Settings) -> None:
    """List the model that a job has written, or delete that of a pretraining that was cancelled.

    Called by the application for every job that has ended: a training goes on when its page is
    closed.
    """
    params: Mapping[str, Any] = job.spec.params
    if job.spec.target == TARGET:
        out = Path(params["out"])
        if job.status == "cancelled" and not params.get("resume"):
            owned_folder.remove(out)  # one that was continued keeps what it had
        elif owned_folder.current(out).exists():
            _list(out, settings)
    elif job.spec.target == VECTORS and job.status != "cancelled":
        out = Path(params["output"])
        if out.exists():
            _list(out, settings)


def settings_of_run(job: Job) -> PretrainSpec:
    """The settings that give the batches of a run. A model that the run created has its vocabulary
    in the folder that it wrote.
    """
    spec, out = PretrainSpec.from_json(job.spec.params["spec"]), Path(job.spec.params["out"])
    if spec.created is None or not owned_folder.current(out).exists():
        return spec
    own = {option.name for option in spec.created.creation.options}
    options = {name: value for name, value in spec.options.items() if name not in own}
    return replace(spec, model=str(out), options=options, allow_pickle=True)


def first_batches(
    project: Project,
    queue: Queue,
    spec: PretrainSpec,
    source: TextSource,
    *,
    batches: int,
    watch: Watch = QUIET,
) -> dict[str, Any]:
    """The first batches of a pretraining, see `PretrainingJob.first_batches`."""
    with closing(_pretraining(spec, write(project, source, watch.part(0, 0.5)), "model")) as work:
        return work.first_batches(queue, batches=batches, watch=watch.part(0.5, 1))


def first_batches_of_run(
    project: Project, queue: Queue, job: Job, *, batches: int, watch: Watch = QUIET
) -> dict[str, Any]:
    """The first batches of the run of a job, from its own settings and text."""
    written = written_again(project, job.spec.params, watch.part(0, 0.5))
    with closing(_pretraining(settings_of_run(job), written, "model")) as work:
        return work.first_batches(queue, batches=batches, watch=watch.part(0.5, 1))


def start_vectors(
    queue: Queue,
    written: Written,
    name: str,
    *,
    method: str,
    options: Mapping[str, Any],
    seed: int,
) -> Job:
    """Train word vectors in a worker; `ended` lists them. Not for large texts on the main thread:
    several files are first joined to one, see `write_joined`.
    """
    paths.models_folder().mkdir(parents=True, exist_ok=True)
    out, text = place(name, method), Path(written.texts[0])
    copies = () if written.folder is None else (str(written.folder),)
    try:
        spec = vectors.training_job([text], out, method, options, seed)
        return queue.add(replace(spec, scratch=copies))
    except WorkbenchError:
        written.close()
        raise


def co_occurrences(
    project: Project,
    queue: Queue,
    source: TextSource,
    options: Mapping[str, Any],
    *,
    top: int,
    watch: Watch = QUIET,
) -> dict[str, Any]:
    """Count the co-occurrences of GloVe in a text, see `vectors.co_occurrences`."""
    with closing(write_joined(project, source, watch.part(0, 0.1))) as written:
        text = Path(written.texts[0])
        return vectors.co_occurrences(queue, text, options, top=top, watch=watch.part(0.1, 1))


def _list(path: Path, settings: Settings) -> None:
    """Add a model that was written here to the list; its weights need no confirmation."""
    own = [str(path)]
    settings.model_folders = [
        *(model_folder for model_folder in settings.model_folders if model_folder not in own),
        *own,
    ]
    settings.pickle_allowed = [*(text for text in settings.pickle_allowed if text not in own), *own]
    settings.save()
