"""Which prompt of the project is edited, in which version, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.prompts import prompt, prompt_versions
from workbench.operations.prompts.prompt_versions import VersionRow as VersionRow
from workbench.operations.schema import labels
from workbench.ui.project.unsaved import UnsavedText

if TYPE_CHECKING:
    from workbench.operations.prompts.prompt_versions import PromptDifference
    from workbench.prompting.built_in import BuiltIn
    from workbench.prompting.spec import PromptSpec
    from workbench.storage.runs.prompts import PromptVersion, StoredPrompt
    from workbench.text.labels import Layer
    from workbench.ui.panels.prompts.draft import PromptDraft


WRITTEN = ("template", "instruction", "words", "descriptions")  # settings that are texts
OF_MODEL = {"backend", "model", "model_name", "allow_pickle", "options"}
FindModel = Callable[["PromptSpec"], "PromptSpec"]


class PromptState(State):
    """prompts, rows: of the project; their versions with scores. templates: to begin with, those
    that fit the layer. number: the version that the settings are compared with, 0 for a prompt that
    is not saved, which is called `title`. edited: they differ from it. read_only: an earlier
    version is shown as it was; `unlock` allows to edit it.
    """

    def __init__(self, draft: PromptDraft, find_model: FindModel) -> None:
        """find_model: the settings with the model that they name, or another one."""
        super().__init__()
        self.draft, self.project, self.context = draft, draft.project, draft.context
        self.prompts: tuple[StoredPrompt, ...] = ()
        self.templates: tuple[BuiltIn, ...] = ()
        self.rows: tuple[VersionRow, ...] = ()
        self.number, self.edited, self.read_only = 0, False, False
        self._find_model, self._unlocked = find_model, False
        self.title = ""
        self._deleted: dict[str, Any] = {}  # the name and version of the settings, if it was
        self.listen(draft.changed, self._draft_changed)

    # ---------------------------------------------------------------- what is edited

    @property
    def name(self) -> str:
        return self.draft.spec.prompt_name

    @property
    def prompt(self) -> StoredPrompt | None:
        return next((prompt for prompt in self.prompts if prompt.name == self.name), None)

    @property
    def version(self) -> PromptVersion | None:
        versions = self.prompt.versions if self.prompt else ()
        return next((each for each in versions if each.number == self.number), None)

    @property
    def latest(self) -> int:
        """The number of the latest version, 0 for a prompt that is not saved."""
        return self.prompt.versions[-1].number if self.prompt else 0

    @property
    def versions(self) -> tuple[VersionRow, ...]:
        """Those of the prompt, newest first."""
        return tuple(row for row in self.rows if row.name == self.name)

    def difference(self, before: int, after: int) -> PromptDifference | None:
        """What one version of the prompt has that the other has not; None if one is missing."""
        prompt, spec = self.prompt, self.draft.spec
        known = {each.number: each for each in prompt.versions} if prompt else {}
        if prompt is None or not {before, after} <= known.keys():
            return None
        return prompt_versions.difference(
            prompt_versions.spec_of(prompt, known[before], spec),
            prompt_versions.spec_of(prompt, known[after], spec),
        )

    def load(self, layer: str) -> dict[str, Any]:
        """Read the prompts again. Returns the settings to change: a template if there is none."""
        layers = {each.name: each for each in labels.layers(self.project)}
        self.update(
            prompts=prompt_versions.every(self.project),
            templates=prompt.templates_for(layers.get(layer)),
            rows=prompt_versions.rows(self.project),
        )
        settings: dict[str, Any] = {}
        if not self.draft.spec.template:
            settings = self._latest() or self._beginning(layers.get(layer))
        elif self.name and self.prompt is None:  # it was deleted
            self.update(title=self.name)
            self._deleted = {"prompt_name": self.name, "prompt_version": self.number}
            settings = {"prompt_name": "", "prompt_version": 0}
        elif not self.name and self._is_back(self._deleted):
            settings, self._deleted = self._deleted, {}
        elif self.number > self.latest:  # undone
            settings = {"prompt_version": self.latest}
        self._compare()
        return settings

    def _is_back(self, deleted: dict[str, Any]) -> bool:
        """Whether the prompt that was deleted under the settings of the page was restored."""
        name = deleted.get("prompt_name")
        return name == self.title and name in [prompt.name for prompt in self.prompts]

    def _latest(self) -> dict[str, Any]:
        """The settings of the prompt that was saved last; {} without any."""
        if not self.prompts or not self.draft.layers:
            return {}
        prompt = max(self.prompts, key=lambda prompt: prompt.versions[-1].at)
        spec = self._spec(prompt, prompt.versions[-1])
        if spec is None:
            return {}
        names = set(spec.__dataclass_fields__) - (set() if spec.model else OF_MODEL)
        return {name: getattr(spec, name) for name in names}

    def _beginning(self, layer: Layer | None) -> dict[str, Any]:
        """The settings of the first template that fits a layer."""
        templates = prompt.templates_for(layer) or prompt.templates()
        self.update(title=_(templates[0].title))
        return {**templates[0].settings(self.draft.spec), "prompt_name": "", "prompt_version": 0}

    # ---------------------------------------------------------------- choosing

    def choose(self, name: str) -> None:
        """Edit a prompt of the project, in its latest version."""
        prompt = next((prompt for prompt in self.prompts if prompt.name == name), None)
        if prompt is not None:
            self._show(prompt, prompt.versions[-1])

    def choose_version(self, number: int) -> None:
        prompt = self.prompt
        version = (
            next((it for it in prompt.versions if it.number == number), None) if prompt else None
        )
        if prompt is not None and version is not None:
            self._show(prompt, version)

    def choose_template(self, id: str) -> None:
        """Begin a prompt with a template."""
        template = next((each for each in self.templates if each.id == id), None)
        if template is not None:
            self.update(title=_(template.title))
            about = {"prompt_name": "", "prompt_version": 0}
            self.draft.change(**template.settings(self.draft.spec), **about)

    def choose_layer(self, layer: str) -> None:
        """Answer another layer, with a template that fits unless one was written."""
        layers = {each.name: each for each in labels.layers(self.project)}
        sources = {template.source for template in prompt.templates()}
        untouched = self.draft.spec.template in sources
        settings = self._beginning(layers.get(layer)) if untouched else {}
        self.update(templates=prompt.templates_for(layers.get(layer)))
        self.draft.change(**{**settings, "layer": layer})

    def unlock(self) -> None:
        """Edit an earlier version: a change of it becomes the latest version."""
        self._unlocked = True
        self._compare()

    def _show(self, prompt: StoredPrompt, version: PromptVersion) -> None:
        spec = self._spec(prompt, version)
        if spec is None:
            return
        self._unlocked = False
        if not self.draft.load(spec):
            self._compare()

    def _spec(self, prompt: StoredPrompt, version: PromptVersion) -> PromptSpec | None:
        """The settings of a version, on a layer and with a model that exist here."""
        current = self.draft.spec
        spec = self.context.attempt(prompt_versions.spec_of, prompt, version, current)
        if spec is None:
            return None
        names = [name for name, _count in self.draft.layers]
        if spec.layer not in names:
            spec = replace(spec, layer=current.layer or next(iter(names), ""))
        return self._find_model(spec)

    def read_runs(self) -> None:
        """A run has ended."""
        self.update(rows=prompt_versions.rows(self.project))

    # ---------------------------------------------------------------- changing

    def keep(self) -> None:
        """Save the prompt before it is run, so that the run names its version."""
        if self.edited or not self.number:
            self.save()

    def save(self, name: str = "") -> bool:
        """Save the settings as a version of the prompt, or as a prompt with another name."""
        return self.context.attempt(self._save, name or self._own_name) is not None

    @property
    def _own_name(self) -> str:
        return self.name or prompt_versions.free_name(self.project, self.title)

    def _save(self, name: str) -> PromptSpec:
        saved = prompt_versions.save(self.project, name, self.draft.spec)
        self._unlocked = False
        about = {"prompt_name": saved.prompt_name, "prompt_version": saved.prompt_version}
        self.draft.change(**about)
        self._read()
        return saved

    def store_texts(self) -> WorkbenchError | None:
        """See `ui.project.unsaved`. A prompt that was written is saved as one that is run."""
        self.draft.take()
        try:
            if self._is_written:
                self._save(self._own_name)
        except WorkbenchError as error:
            return error
        return None

    def unsaved_texts(self) -> tuple[UnsavedText, ...]:
        place = _("prompt {name}", name=self.name or self.title)
        return (UnsavedText(place, self.draft.spec.template),) if self._is_written else ()

    @property
    def _is_written(self) -> bool:
        """Whether texts of the prompt differ from the version, or the template it began with."""
        spec, version = self.draft.spec, self.version
        if not self.edited or not spec.template.strip():
            return False
        if self.prompt is not None and version is not None:
            begun = prompt_versions.spec_of(self.prompt, version, spec)
            return any(getattr(spec, name) != getattr(begun, name) for name in WRITTEN)
        words = {template.source: template.words for template in prompt.templates()}
        own = {label: names for label, names in spec.words.items() if names}
        typed = spec.instruction or any(spec.descriptions.values())
        return bool(typed) or own != words.get(spec.template)

    def rename(self, name: str) -> bool:
        before = self.name
        self.context.attempt(prompt_versions.rename, self.project, before, name)
        done = name.strip() in [each.name for each in prompt_versions.every(self.project)]
        if done:
            self.draft.change(prompt_name=name.strip())
            self._read()
        return done

    def duplicate(self) -> None:
        copy = self.context.attempt(prompt_versions.duplicate, self.project, self.name)
        if copy is not None:
            self._read()
            self.choose(copy.name)

    def delete(self) -> None:
        """Delete the prompt with its versions; its settings stay on the page."""
        name = self.name
        self.context.attempt(prompt_versions.delete, self.project, name)
        self.context.note(_("Deleted prompt {name}.", name=name), self.context.undo)

    def restore(self, number: int) -> None:
        """Make an earlier version the latest one."""
        restored = self.context.attempt(prompt_versions.restore, self.project, self.name, number)
        if restored is not None:
            self._read()
            self.choose_version(restored.number)

    def _read(self) -> None:
        self.update(prompts=prompt_versions.every(self.project))
        self.read_runs()
        self._compare()

    # ---------------------------------------------------------------- compared with the version

    def _draft_changed(self, fields: frozenset[str]) -> None:
        if "spec" in fields:
            self._compare()

    def _compare(self) -> None:
        spec = self.draft.spec
        number = spec.prompt_version if self.prompt else 0
        self.update(number=min(number, self.latest))
        prompt, version, edited = self.prompt, self.version, True
        if prompt is not None and version is not None:
            saved = prompt_versions.spec_of(prompt, version, spec)
            edited = prompt_versions.identity(saved) != prompt_versions.identity(spec)
        earlier = self.number < self.latest and not edited
        self.update(edited=edited, read_only=earlier and not self._unlocked)
