"""Architecture rules: imports between packages, SQL, Qt, threads, processes, imports at start."""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

from tests.source import CODE, children, files, nodes, trees
from workbench.text.labels import LABEL_TABLES

ROOT = CODE.parent
# The light modules of heavy packages → the light modules that each may import at module level,
# besides base, text and the standard library. Upper layers import the specs, never an info.
LIGHT = {
    "models.results": (),
    "models.formats.*": ("models.formats.*",),
    "models.spec.*": ("models.spec", "models.spec.*", "models.formats.*"),
    "models.families.*.info.*": (
        "models.spec",
        "models.spec.*",
        "models.formats.*",
        "models.families.*.info",
        "models.families.*.info.*",
        "runtime.tokenizer_files",
    ),
    "metrics.evaluation": ("metrics.classes",),
    "metrics.classes": (),
    "tasks.contract": (),
    "tasks.spec": ("metrics.evaluation", "tasks.contract", "tasks.losses.info"),
    "tasks.proofs": ("version",),
    "tasks.*.info": ("tasks.spec", "tasks.*.info"),
    "training.methods.spec": ("models.spec", "models.spec.*"),
    "training.methods.*.info": (
        "models.spec",
        "training.methods.spec",
        "training.methods.*.info",
    ),
    "training.general": ("training.methods.spec",),
    "training.spec": ("tasks.spec", "training.general", "training.methods.spec"),
    "training.plan": ("tasks.spec", "training.methods.spec", "training.spec"),
    "training.rates": ("tasks.spec", "training.methods.spec", "training.spec", "training.plan"),
    "training.results": ("metrics.evaluation", "training.plan"),
    "training.states": (),
    "training.vectors.spec": (),
    "serving.spec": (),
    "pretraining.spec": ("models.spec", "models.spec.*", "training.general"),
    "pretraining.texts": (),
    "pretraining.results": (),
    "pretraining.report": ("pretraining.results",),
    "pretraining.objectives.*.info": (
        "pretraining.spec",
        "pretraining.objectives.*.info",
    ),
    "inspection.spec": (),
    "inspection.corpus.spec": (),
    "inspection.*.info": (
        "inspection.spec",
        "inspection.corpus.spec",
        "inspection.*.info",
        "numpy",
    ),
    "exporters.model.spec": ("tasks.spec",),
    "exporters.model.*.info": (
        "tasks.spec",
        "models.spec",
        "exporters.model.spec",
        "exporters.model.*.info",
    ),
    "exporters.model.results": ("metrics.evaluation", "tasks.spec"),
    "exporters.model.weights": ("metrics.evaluation",),
    "baselines.spec": ("tasks.spec",),
    "baselines.*.info": ("baselines.spec",),
    "prompting.results": ("metrics.evaluation",),
    "prompting.spec": (),
    "prompting.generation": ("prompting.spec", "runtime.chat_template"),
    "prompting.transcript": ("prompting.generation",),
    "prompting.servers": (),
    "prompting.backends.spec": (
        "models.spec",
        "models.spec.*",
        "prompting.servers",
        "prompting.spec",
    ),
    "prompting.backends.*.info": (
        "models.spec",
        "models.spec.*",
        "prompting.keys",
        "prompting.servers",
        "prompting.backends.spec",
        "prompting.backends.*.info",
    ),
}
SPECS = tuple(
    dict.fromkeys(pattern.removesuffix(".*") for pattern in LIGHT if ".info" not in pattern)
)
LATE = ("runtime.*", "metrics.*", "h5py")  # what light modules may import inside functions too
HEAVY = (
    "openai",
    "torch",
    "transformers",
    "captum",
    "peft",
    "accelerate",
    "sklearn",
    "scipy",
    "pandas",
    "pyarrow",
    "onnxruntime",
    "optuna",
    "sqlalchemy",
    "ray",
)


@dataclass(frozen=True)
class Row:
    """What a package may import besides base, itself, numpy and the standard library.

    `late`: only inside functions.
    """

    own: tuple[str, ...] = ()
    third: tuple[str, ...] = ()
    late: tuple[str, ...] = ()


TABLE = {
    "base": Row((), (), ("platformdirs", "psutil")),
    "text": Row((), ("regex",), ("ahocorasick_rs", "icu4py", "pythainlp")),
    "runtime": Row(("text",), ("tokenizers", "jinja2"), ("onnxruntime",)),
    "metrics": Row(("text",), (), ("scipy", "sklearn", "seqeval")),
    "importers": Row(("text",), (), ("python_calamine", "pyarrow", "yaml")),
    "exporters": Row(("text",), (), ("openpyxl", "pyarrow", "cassis", "lxml", "conllu")),
    "exporters.data": Row(("text",), (), ("openpyxl", "pyarrow", "cassis", "lxml", "conllu")),
    "storage": Row(("text",), ("sqlite_utils",)),
    "models": Row(
        ("text", "runtime"),
        ("torch", "transformers", "safetensors", "huggingface_hub"),
        ("h5py", "peft", "yaml"),
    ),
    "tasks": Row(
        ("text", "runtime", "metrics", "models"), ("torch", "transformers", "safetensors")
    ),
    "training": Row(
        ("text", "runtime", "metrics", "models", "tasks"),
        ("torch", "transformers", "safetensors", "tokenizers", "accelerate", "peft", "optuna"),
        ("gensim",),
    ),
    "pretraining": Row(
        ("text", "runtime", "metrics", "models", "tasks", "training"),
        ("torch", "transformers", "safetensors"),
    ),
    "baselines": Row(
        (
            "text",
            "runtime",
            "metrics",
            "tasks.spec",
            "tasks.agreement",
            "tasks.answers",
            "tasks.contract",
            "training.results",
        ),
        (),
        ("sklearn", "scipy", "pycrfsuite"),
    ),
    "inspection": Row(
        ("text", "runtime", "metrics", "models", "tasks", "baselines"),
        ("regex", "torch", "captum", "sklearn"),
        ("umap",),
    ),
    "active": Row(
        ("text", "runtime", "metrics", "tasks.spec", "tasks.answers", "inspection.corpus"),
        (),
        ("sklearn", "scipy"),
    ),
    "prompting": Row(("text", "runtime", "metrics"), ("jinja2", "regex"), ("keyring",)),
    "prompting.backends": Row(
        ("text", "runtime", "models", "prompting"),
        ("httpx2", "llguidance", "openai", "torch", "transformers"),
    ),
    "exporters.model": Row(
        ("text", "runtime", "metrics", "models", "tasks", "serving"),
        (
            "torch",
            "transformers",
            "huggingface_hub",
            "peft",
            "gguf",
            "onnx",
            "onnxscript",
            "onnxruntime",
            "spacy",
        ),
    ),
    "serving": Row(
        ("text", "runtime", "tasks.spec", "exporters.data"),
        ("fastapi", "psutil", "starlette", "uvicorn"),
    ),
    "jobs": Row((), (), ("psutil", "ray")),
    "project": Row(("text", "storage")),
    "operations": Row(
        (
            "project",
            "jobs",
            "storage",
            "text",
            "runtime",
            "metrics",
            "importers",
            "exporters.data",
            "prompting",
            *SPECS,
        ),
        (),
        ("markdown_it", "optuna", "sqlalchemy"),
    ),
    "cli": Row(("operations", "project", "jobs", "text", *SPECS), ("click",), ("tabulate",)),
    "ui": Row(
        ("operations", "project", "jobs", "text", "runtime", "metrics", *SPECS),
        ("PySide6", "shiboken6"),
        ("pyqtgraph",),
    ),
}
# file → (import, why it may)
EXCUSED: dict[str, dict[str, str]] = {}


# ---------------------------------------------------------------- reading the code


@dataclass(frozen=True)
class Import:
    module: str
    line: int
    late: bool


def name(path: Path) -> str:
    return path.relative_to(CODE).as_posix()


def package(path: Path) -> str:
    parts = path.relative_to(CODE).parts
    if len(parts) > 2 and ".".join(parts[:2]) in TABLE:
        return ".".join(parts[:2])
    return parts[0] if len(parts) > 1 else ""


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)  # nodes that may contain imports


@cache
def imports(path: Path) -> tuple[Import, ...]:
    """Every import of a file but those for type checkers alone."""
    found: list[Import] = []

    def visit(node: ast.AST, late: bool) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for child in node.orelse:
                visit(child, late)
            return
        if isinstance(node, ast.Import):
            found.extend(Import(name.name, node.lineno, late) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(path)}:{node.lineno}: imports here are absolute"
            found.extend(_from(node, late))
        late = late or isinstance(node, FUNCTIONS)
        for child in children(node):
            if isinstance(child, STATEMENTS):
                visit(child, late)

    visit(trees()[path], False)
    return tuple(found)


def _from(node: ast.ImportFrom, late: bool) -> list[Import]:
    """`from workbench.models import spec` is the module workbench.models.spec, if there is one."""
    if not node.module.startswith("workbench"):
        return [Import(node.module, node.lineno, late)]
    found = []
    for name in node.names:
        below = f"{node.module}.{name.name}"
        found.append(Import(below if is_module(below) else node.module, node.lineno, late))
    return found


@cache
def is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    return path.with_suffix(".py").is_file() or path.is_dir()


def fault(path: Path, import_: Import) -> str | None:
    row = TABLE[package(path)]
    top, _, rest = import_.module.partition(".")
    if top == "workbench":
        inner = rest or "__init__"
        allowed = ("base", package(path), *row.own)
        fine = inner == "version" or any(
            inner == other or inner.startswith(f"{other}.") for other in allowed
        )
        if package(path) == "exporters.data" or package(path) == "exporters":
            fine = fine and not inner.startswith("exporters.model")
    else:
        own = ("__future__", *sys.stdlib_module_names)
        numpy = ("numpy",) if package(path) != "base" else ()
        fine = top in own or top in (*row.third, *numpy) or (top in row.late and import_.late)
    if fine or import_.module in EXCUSED.get(name(path), {}):
        return None
    return f"{name(path)}:{import_.line} imports {import_.module}"


# ---------------------------------------------------------------- the rules


def test_every_package_stands_in_the_table():
    assert {package(path) for path in files()} - {""} <= set(TABLE)


def test_imports_go_down_as_the_table_says():
    faults = [
        found
        for path in files()
        if package(path)
        for statement in imports(path)
        if (found := fault(path, statement))
    ]

    assert faults == []


def light(module: str) -> str | None:
    """The pattern in LIGHT of a module (without "workbench."), None for any other module."""
    return next((pattern for pattern in LIGHT if fnmatchcase(module, pattern)), None)


def module_of(path: Path) -> str:
    return name(path).removesuffix(".py").replace("/", ".")


LIGHT_FILES = [path for path in files() if light(module_of(path))]


def test_every_pattern_of_light_modules_has_one():
    assert {light(module_of(path)) for path in LIGHT_FILES} == set(LIGHT)


@pytest.mark.parametrize("path", LIGHT_FILES, ids=module_of)
def test_light_modules_import_only_light_ones_at_module_level(path):
    allowed = LIGHT[light(module_of(path))]

    wrong = [
        f"{name(path)}:{statement.line} {statement.module}"
        for statement in imports(path)
        if not statement.late
        and not is_plain(statement.module)
        and not is_one_of(statement.module, allowed)
    ]

    assert wrong == []


@pytest.mark.parametrize("path", LIGHT_FILES, ids=module_of)
def test_light_modules_import_nothing_heavy_inside_functions_either(path):
    """An exported model decodes with them, where torch is not installed."""
    wrong = [
        f"{name(path)}:{statement.line} {statement.module}"
        for statement in imports(path)
        if statement.late
        and not is_plain(statement.module)
        and not is_one_of(statement.module, (*LIGHT, *LATE))
    ]

    assert wrong == []


def is_plain(module: str) -> bool:
    """Of base, text or the standard library."""
    top, _, rest = module.partition(".")
    if top == "workbench":
        return rest.split(".")[0] in ("base", "text")
    return top in ("__future__", *sys.stdlib_module_names)


def is_one_of(module: str, patterns) -> bool:
    inner = module.removeprefix("workbench.")
    return any(fnmatchcase(inner, pattern) for pattern in patterns)


@pytest.mark.parametrize("above", ["operations", "cli", "ui"])
def test_upper_layers_know_no_single_task_or_method(above):
    """They ask the registry through the specs, so that a plugin is treated as what is built in."""
    infos = [pattern for pattern in LIGHT if pattern.endswith(".info")]

    wrong = [
        f"{name(path)}:{statement.line} {statement.module}"
        for path in files()
        if package(path) == above
        for statement in imports(path)
        if is_one_of(statement.module, infos)
    ]

    assert wrong == []


def test_only_ui_imports_qt():
    found = [
        f"{name(path)}:{statement.line}"
        for path in files()
        for statement in imports(path)
        if statement.module.startswith(("PySide6", "shiboken6", "pyqtgraph"))
    ]

    assert [item for item in found if not item.startswith("ui/")] == []


def test_states_of_panels_know_no_qt():
    wrong = [
        f"{name(path)}:{statement.line} {statement.module}"
        for path in files()
        if path.name == "state.py"
        for statement in imports(path)
        if reaches_qt(statement.module)
    ]

    assert wrong == []


QT = ("PySide6", "shiboken6", "pyqtgraph")


@cache
def leading_to_qt() -> frozenset[str]:
    """Modules of ui/ that import Qt, themselves or through others of ui/, inside functions too."""
    imported = {
        module(path): {statement.module for statement in imports(path)}
        for path in files()
        if package(path) == "ui"
    }
    found = {item for item, names in imported.items() if any(map(is_qt, names))}
    while more := {item for item, names in imported.items() if names & found} - found:
        found |= more
    return frozenset(found)


def is_qt(module: str) -> bool:
    return module.startswith(QT)


def reaches_qt(module: str) -> bool:
    return is_qt(module) or module in leading_to_qt()


MADE_OF_WIDGETS = "a view made of other widgets"
# Modules of ui/ without Qt of their own that lead to it: pattern → why
LEAD_TO_QT = {
    "ui/shell/window_commands.py": "opens dialogs",
    "ui/dialogs/__init__.py": "opens dialogs",
    "ui/shell/pages.py": "makes the placeholders of pages",
    "ui/panels/*/__init__.py": "makes the view of its page",
    "ui/panels/data/dialogs.py": "opens dialogs",
    "ui/panels/annotate/adjudication/editing_line.py": MADE_OF_WIDGETS,
    "ui/panels/annotate/review/error_review.py": MADE_OF_WIDGETS,
    "ui/panels/annotate/find_in_text.py": MADE_OF_WIDGETS,
    "ui/panels/annotate/text_shortcuts.py": "opens the palette",
    "ui/panels/annotate/relations/shown_relations.py": MADE_OF_WIDGETS,
    "ui/panels/annotate/document_text.py": "a view of a text",
    "ui/panels/annotate/card_layout.py": "divides the height of widgets",
    "ui/panels/annotate/spans/shown_spans.py": "makes what the texts draw",
    "ui/panels/inspect/views/*": MADE_OF_WIDGETS,
    "ui/panels/prompts/*_box.py": MADE_OF_WIDGETS,
    "ui/panels/prompts/*_tab.py": MADE_OF_WIDGETS,
    "ui/panels/train/view.py": MADE_OF_WIDGETS,
    "ui/panels/results/runs/train_overlap_warning.py": MADE_OF_WIDGETS,
    "ui/widgets/*": "widgets",
}


ANNOTATE = "workbench.ui.panels.annotate"
# What tools of Annotate share; the other modules beside them are the page
SHARED_BY_TOOLS = (
    "session", "tool", "differences", "label_keys", "label_rows", "origins", "row_words", "units",
    "document_text",
)  # fmt: skip


def test_a_tool_of_annotate_sees_the_session_and_neither_the_page_nor_another_tool():
    """A folder of ui/panels/annotate is a tool with its views; types count as well."""
    wrong = []
    for path in files():
        own, *inside = module(path).removeprefix(f"{ANNOTATE}.").split(".")
        if not module(path).startswith(f"{ANNOTATE}.") or not inside:
            continue
        for node in nodes(path, ast.ImportFrom):
            for statement in _from(node, late=False):
                of = statement.module.removeprefix(f"{ANNOTATE}.").split(".")[0]
                if statement.module.startswith(ANNOTATE) and of not in (own, *SHARED_BY_TOOLS):
                    wrong.append((name(path), statement.module))

    assert wrong == []


def test_no_chain_of_own_classes_in_annotate_is_longer_than_four():
    """Counted from State or a base of Qt: state that many need is a session, not a base class."""
    bases = {
        node.name: [ast.unparse(base) for base in node.bases]
        for path in files()
        if module(path).startswith((ANNOTATE, "workbench.base.events", "workbench.ui.panel"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    }

    def depth(name: str) -> int:
        return 1 + max((depth(base) for base in bases[name] if base in bases), default=0)

    assert {name: depth(name) for name in bases if depth(name) > 4} == {}


def test_modules_of_the_window_that_draw_nothing_are_free_of_qt():
    """Everything but views, widgets and what opens them can be tested without a window."""
    wrong = [
        name(path)
        for path in files()
        if package(path) == "ui"
        and not any(statement.module.startswith(QT) for statement in imports(path))
        and reaches_qt(module(path))
        and not any(fnmatchcase(name(path), pattern) for pattern in LEAD_TO_QT)
    ]

    assert wrong == []


# Dialogs and modules of a page that draw but have no state: what else they may import, and why.
WITHOUT_STATE = {
    "ui/dialogs/about.py": "a report for bugs that counts what the project holds",
    "ui/dialogs/files.py": "names of files for the dialogs of the system",
    "ui/dialogs/key_sheet.py": "a list of keys, among them those of labels",
    "ui/dialogs/new_project.py": "a dialog that creates a project",
    "ui/panels/data/export_dialog.py": "a dialog that asks which runs and formats there are",
    "ui/panels/data/import_dialog.py": "a dialog that starts an import",
    "ui/panels/results/dialogs.py": "dialogs that delete runs and predict files",
}


def draws(path: Path) -> bool:
    """A dialog, or a view of a page or a part of one: it makes widgets or paints."""
    if path.relative_to(CODE).parts[:2] not in (("ui", "panels"), ("ui", "dialogs")):
        return False
    widgets = ("PySide6.QtWidgets", "PySide6.QtGui")
    return (
        path.name == "view.py"
        or any(
            fnmatchcase(name(path), pattern)
            for pattern, why in LEAD_TO_QT.items()
            if why == MADE_OF_WIDGETS
        )
        or any(statement.module.startswith(widgets) for statement in imports(path))
    )


def view_faults(path: Path, found: Iterable[Import]) -> list[str]:
    """Imports of a view besides its page, widgets and helpers of the window, values and texts."""
    allowed = ("base", "text", "ui")
    return [
        f"{name(path)}:{item.line} {item.module}"
        for item in found
        if item.module.startswith("workbench.") and item.module.split(".")[1] not in allowed
    ]


def test_a_view_imports_only_its_state_and_widgets():
    """Everything else reaches it through its state, so that the state alone tells what it shows."""
    wrong = [
        fault
        for path in files()
        if draws(path) and name(path) not in WITHOUT_STATE
        for fault in view_faults(path, imports(path))
    ]

    assert wrong == []


@pytest.mark.parametrize(
    ("module", "fine"),
    [
        ("workbench.ui.panels.train.state", True),
        ("workbench.ui.widgets.tables.table", True),
        ("workbench.base.i18n", True),
        ("workbench.operations.runs.train", False),
        ("workbench.storage.runs.runs", False),
        ("workbench.tasks.spec", False),
    ],
)
def test_an_import_that_a_view_may_not_have_is_found(module, fine):
    found = view_faults(CODE / "ui/panels/train/view.py", (Import(module, 1, False),))

    assert (found == []) is fine


def test_every_view_without_a_state_is_there_and_needs_its_excuse():
    for place in WITHOUT_STATE:
        assert view_faults(CODE / place, imports(CODE / place))


def test_panels_import_no_other_panel():
    wrong = []
    for path in files():
        parts = path.relative_to(CODE).parts
        if parts[:2] == ("ui", "panels") and len(parts) > 3:
            here = f"workbench.ui.panels.{parts[2]}"
            wrong += [
                f"{name(path)}: {statement.module}"
                for statement in imports(path)
                if statement.module.startswith("workbench.ui.panels.")
                and not statement.module.startswith(here)
            ]

    assert wrong == []


def test_sql_stands_in_storage_alone():
    wrong = []
    for path in files():
        if package(path) != "storage":
            wrong += [
                f"{name(path)}:{statement.line}"
                for statement in imports(path)
                if statement.module.startswith(("sqlite3", "sqlite_utils", "PySide6.QtSql"))
            ]
            wrong += [
                f"{name(path)}:{node.lineno}"
                for node in nodes(path, ast.Attribute)
                if node.attr in ("execute", "executemany", "executescript")
            ]

    assert wrong == []


# file → why a folder that it deletes is its own
DELETES_FOLDERS = {
    "base/owned_folder.py": "only folders with our marker",
    "base/scratch.py": "only folders that it named itself, whose lock nobody holds",
}


def test_folders_are_deleted_only_where_they_are_known_to_be_ours():
    found = {
        name(path)
        for path in files()
        for node in nodes(path, ast.Attribute)
        if node.attr in ("rmtree", "removedirs")
    }

    assert found == set(DELETES_FOLDERS)


STARTERS = {
    "Thread",
    "Timer",
    "Popen",
    "ThreadPoolExecutor",
    "ProcessPoolExecutor",
    "QThread",
    "QThreadPool",
    "QProcess",
    "QRunnable",
}
STARTING = (
    "subprocess",
    "multiprocessing",
    "concurrent",
    "asyncio",
    "_thread",
    "torch.multiprocessing",
)  # not even imported
# For several requests at once, in the main thread of a worker. A server calls its model in the
# thread of the event loop (`asyncio.to_thread`), one call at a time.
WAITING = ("prompting/backends/server/", "serving/")
OF_OS = re.compile(r"os\.(system|popen|fork|forkpty|spawn|posix_spawn|exec)\w*")


def test_only_jobs_starts_threads_and_processes():
    """Locks and thread ids are free; whatever starts something is not even named."""
    wrong = []
    for path in files():
        if package(path) != "jobs":
            wrong += [
                f"{name(path)}:{statement.line} {statement.module}"
                for statement in imports(path)
                if statement.module.startswith(STARTING)
                and not (statement.module == "asyncio" and name(path).startswith(WAITING))
            ]
            wrong += [
                f"{name(path)}:{node.lineno} {found}"
                for node in nodes(path, ast.ImportFrom, ast.Attribute)
                if (found := _starter(node))
            ]

    assert wrong == []


# Modules that use the thread pool itself. `app` makes `ui.tasks.Tasks` of it, the way into work for
# everything else; the others are to follow: the list may only become shorter.
POOL_USERS = {"app.py", "module_preloader.py", "panel.py"}


def test_work_goes_to_threads_by_tasks():
    users = {
        path.name
        for path in files()
        if package(path) != "jobs"
        for node in nodes(path, ast.Attribute)
        if node.attr == "run" and isinstance(node.value, ast.Name) and node.value.id == "threads"
    }

    assert users <= POOL_USERS, users - POOL_USERS


def _starter(node: ast.AST) -> str:
    """What in this node could start a thread or process, "" for nothing."""
    if isinstance(node, ast.ImportFrom):
        return ", ".join(sorted(STARTERS & {name.name for name in node.names}))
    if isinstance(node, ast.Attribute):
        is_of_os = isinstance(node.value, ast.Name) and OF_OS.fullmatch(
            f"{node.value.id}.{node.attr}"
        )
        return ast.unparse(node) if node.attr in STARTERS or is_of_os else ""
    return ""


def test_core_signals_reach_widgets_through_a_state():
    """Views and widgets do not connect to project, queue or registry; only states listen to them,
    and disconnect when closed.
    """
    wrong = []
    for path in files():
        if path.name == "view.py" or path.parent.name == "widgets":
            for node in nodes(path, ast.Call):
                if isinstance(node.func, ast.Attribute) and node.func.attr == "connect":
                    source = ast.unparse(node.func.value)
                    if any(
                        f".{item}." in f".{source}." for item in ("project", "queue", "registry")
                    ):
                        wrong.append(f"{name(path)}:{node.lineno} {source}")

    assert wrong == []


# ---------------------------------------------------------------- what is there has a use

# Public names that only tests and programs of users call: module → names with the reason.
NOT_CALLED_HERE = {
    "cli/documents/notes.py": {"list_notes": "a command"},
    "cli/documents/filters.py": {"list_keys": "a command", "list_filters": "a command"},
    "cli/annotation/adjudicate.py": {"list_documents": "a command"},
    "cli/annotation/people.py": dict.fromkeys(
        ("list_people", "add_person", "rename_person"), "a command"
    ),
    "cli/annotation/patterns.py": {"list_patterns": "a command", "import_patterns": "a command"},
    "cli/application/plugins.py": {"list_plugins": "a command"},
    "cli/models/servers.py": {"list_servers": "a command"},
    "cli/annotation/relabel.py": {"reorder": "a command"},
    "cli/annotation/sources.py": {"list_sources": "a command"},
    "project/check.py": {"check_open": "the check of an open project, for programs"},
    "ui/panels/inspect/base.py": {"ExaminedView": "a base class of views of plugins"},
}
# Tables that projects have from the start, so that the features to come change no schema.
TABLES_TO_COME: dict[str, str] = {}


def module(path: Path) -> str:
    return "workbench." + module_of(path).removesuffix(".__init__")


def test_modules_do_not_import_each_other_in_a_circle():
    """As far as imports at module level go: those inside functions come later."""
    paths = {module(path): path for path in files()}
    below = {
        file: {at.module for at in imports(path) if not at.late and at.module in paths} - {file}
        for file, path in paths.items()
    }
    while free := [item for item, needs in below.items() if not needs]:
        for item in free:
            del below[item]
        for needs in below.values():
            needs.difference_update(free)

    assert {item: sorted(needs) for item, needs in below.items()} == {}


# Circles that imports for types alone close: the modules, and why they know each other. At most
# three small ones; an import for a type is no dependency at run time, but says that two modules are
# read together.
TYPE_CIRCLES = {
    ("ui.app", "ui.shell.window", "ui.shell.window_commands"): (
        "the application creates its window, whose commands call any of its methods; everything "
        "else knows the small protocol in ui/application.py"
    ),
    ("ui.widgets.text.accessibility", "ui.widgets.text.keys", "ui.widgets.text.mouse",
     "ui.widgets.text.view"): (
        "one widget: keys, mouse and accessibility move its caret and read its layout"
    ),
    ("ui.panels.annotate.context_menus", "ui.panels.annotate.keys",
     "ui.panels.annotate.selection_bar", "ui.panels.annotate.text_shortcuts",
     "ui.panels.annotate.view"): (
        "keys, menus and the bar at a selection belong to the view of the page, which places the "
        "tools and forwards keys to them"
    ),
}  # fmt: skip


@cache
def every_import(path: Path) -> frozenset[str]:
    """The modules that a file imports, for types and inside functions too."""
    named = {item.name for node in nodes(path, ast.Import) for item in node.names}
    named |= {item.module for node in nodes(path, ast.ImportFrom) for item in _from(node, False)}
    return frozenset(named)


def circles(edges: dict[str, set[str]]) -> set[tuple[str, ...]]:
    """The strongly connected components of two or more modules."""
    reached: dict[str, set[str]] = {}
    for start in edges:
        reached[start], left = set(), [start]
        while left:
            new = edges[left.pop()] - reached[start]
            reached[start] |= new
            left.extend(new)
    return {
        tuple(sorted(other for other in ends if start in reached[other]))
        for start, ends in reached.items()
        if start in ends
    }


def trimmed(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """Without the modules that are in no circle, as they import, or are imported by, none."""
    while True:
        imported = set().union(*edges.values())
        kept = {
            item: needs & edges.keys()
            for item, needs in edges.items()
            if needs & edges.keys() and item in imported
        }
        if kept == edges:
            return edges
        edges = kept


def test_imports_for_types_close_only_circles_with_a_reason():
    paths = {module(path): path for path in files()}
    edges = {
        file: {item for item in every_import(path) if item in paths} - {file}
        for file, path in paths.items()
    }
    present = circles(trimmed(edges))
    short = {tuple(item.removeprefix("workbench.") for item in circle) for circle in present}

    assert short == set(TYPE_CIRCLES)
    assert len(TYPE_CIRCLES) <= 3


def test_only_the_page_itself_knows_the_state_of_results_and_of_data():
    """Their parts see a selection of runs or documents."""
    states = {f"workbench.ui.panels.{page}.state" for page in ("results", "data")}
    know = {
        module(path).removeprefix("workbench.ui.panels.")
        for path in files()
        if states & every_import(path)
    }

    assert know == {"results", "results.view", "data", "data.view"}


def test_a_circle_is_found():
    edges = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a"}}

    assert circles(trimmed(edges)) == {("b", "c")}


def test_public_functions_and_classes_are_used():
    places = [*files(), CODE / "builtins.toml", *(ROOT / "plugins").rglob("*.py")]
    words = Counter(
        word for path in places for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))
    )
    unused: dict[str, set[str]] = {}
    for path in files():
        for node in trees()[path].body:
            is_public = isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_"
            if is_public and words[node.name] == 1:
                unused.setdefault(name(path), set()).add(node.name)

    assert unused == {path: set(names) for path, names in NOT_CALLED_HERE.items()}


def test_every_table_is_read_somewhere():
    from workbench.storage.schema.tables import TABLES

    code = "\n".join(
        path.read_text(encoding="utf-8")
        for path in files()
        if package(path) == "storage" and path.name not in ("tables.py", "migrations.py")
    )
    unread = {table for table in TABLES if not re.search(rf"\b(from|join) {table}\b", code)}

    assert unread == set(TABLES_TO_COME)


# ---------------------------------------------------------------- imports, in separate processes


def loaded(code: str, modules: tuple[str, ...], **env) -> list[str]:
    import os

    program = f"import sys\n{code}\nprint([one for one in {modules!r} if one in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=ROOT,
        env={**os.environ, **env},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return ast.literal_eval(done.stdout.strip().splitlines()[-1])


IMPORT_ALL = (
    "import importlib, pkgutil, workbench.{0} as p\n"
    "for one in pkgutil.walk_packages(p.__path__, p.__name__ + '.'): "
    "importlib.import_module(one.name)"
)


@pytest.mark.process
def test_operations_load_neither_torch_nor_qt():
    assert loaded(IMPORT_ALL.format("operations"), (*HEAVY, "PySide6")) == []


@pytest.mark.process
def test_importing_operations_takes_no_numpy():
    assert (
        loaded(
            "import workbench.operations.documents.corpus, workbench.operations.schema.labels\n"
            "import workbench.operations.annotation.annotate",
            ("numpy", "pandas", "sqlite_utils", "click"),
        )
        == []
    )


TASKS = """
from workbench.tasks import spec as tasks
from workbench.training import spec as training
from workbench.exporters.model import spec as exporting
for info in tasks.all_tasks():
    assert info.title and training.options(info.id) and exporting.loading_code("onnx", "x", info.id)
"""


@pytest.mark.process
def test_describing_tasks_and_settings_loads_nothing_heavy():
    assert loaded(TASKS, ("numpy", "tokenizers", *HEAVY)) == []


DECODE = """
import numpy as np
from workbench.tasks import spec as tasks
from workbench.runtime.inputs import Prepared
for info in tasks.all_tasks():
    assert info.decode([], Prepared([], [], np.zeros(0, int), np.zeros(0, bool)), ("x",), {}) == []
    assert info.score([], []).keys() == {score.name for score in info.scores}
"""


@pytest.mark.process
def test_decoding_and_scoring_load_no_torch():
    assert loaded(DECODE, ("torch", "transformers", "tokenizers", "pandas")) == []


FIRST_PICTURE = """
from workbench.ui.app import App, make_qt
qt = make_qt()
app = App(qt)
app.window.go("welcome")
app.window.show()
app.window.grab()
"""


@pytest.mark.process
def test_the_first_picture_needs_only_qt():
    others = ("numpy", "pandas", "pyqtgraph", "sqlite_utils", "click", "jinja2", "psutil", *HEAVY)
    own = tuple(f"workbench.{folder}" for folder in ("operations", "training", "models", "tasks"))

    assert loaded(FIRST_PICTURE, (*others, *own), QT_QPA_PLATFORM="offscreen") == []


EVERY_PAGE = """
import os, time, traceback
from pathlib import Path
from workbench.base import settings
from workbench.operations.documents import corpus
from workbench.ui.app import App, make_qt
qt = make_qt()
app = App(qt, settings.Settings(warm_worker=False))
app.window.show()
app.window.load_commands()

def broken(*error):  # the application's own hook would ask a person
    traceback.print_exception(*error)
    os._exit(3)

sys.excepthook = broken
assert app.open_project(corpus.create_sample(Path("{folder}")))
for page in app.window.pages():
    app.window.go(page.id)
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        qt.processEvents()
for dock in ("jobs", "history"):
    app.window.toggle_dock(dock, True)
    qt.processEvents()
app.window.grab()
app.closed()
"""


@pytest.mark.process
def test_opening_every_page_loads_nothing_heavy_and_no_templates(tmp_path):
    """Templates are rendered in a worker: native code that one calls cannot be ended here."""
    wanted = (*HEAVY, "jinja2")

    assert loaded(EVERY_PAGE.format(folder=tmp_path), wanted, QT_QPA_PLATFORM="offscreen") == []


# ---------------------------------------------------------------- ids of contributions

# file or pattern → the modules that may compare these ids, by what they are ids of
OWNERS = {
    "tasks": lambda id: (f"tasks/{id}/*",),
    "families": lambda id: (f"models/families/{id}/*",),
    "backends": lambda id: (f"prompting/backends/{id}/*",),
    "architectures": lambda _id: (
        "models/families/*",
        "exporters/model/gguf/*",
        "exporters/model/onnx/*",
        "runtime/conversion.py",
        "runtime/tokenizer_files.py",
    ),
    # in storage/ these are names of tables
    "kinds of layers": lambda id: ("text/labels.py", *["storage/*"] * (id in LABEL_TABLES)),
    "inspectors": lambda id: (f"inspection/{id}/*",),
    "baselines": lambda id: (f"baselines/{id}/*",),
    "methods": lambda id: (f"training/methods/{id}/*",),
    # the folder of a format has its variants, such as onnx_int8
    "formats of exports": lambda id: (
        f"exporters/model/{id.partition('_')[0]}*/*",
        *["exporters/model/spec.py"] * (id in ("browser", "server")),  # also names of groups
    ),
}
# an inspector and kinds of layers, but also parts of records, messages, texts and columns of files
EVERYDAY = {"spans", "answer", "text", "score", "relations"}
# (file, literal) → why it may stand there
EXCUSED_IDS = {
    ("base/options.py", "choice"): "a kind of setting",
    ("models/families/transformer/family.py", "choice"): "a head of transformers, not the task",
    ("models/families/transformer/family.py", "token"): "a head of transformers, not the task",
    ("storage/schema/tables.py", "class"): "a value of the column suggestion.kind",
    ("storage/schema/tables.py", "span"): "a value of the column suggestion.kind",
}


@cache
def contribution_ids() -> dict[str, str]:
    """Id → what it is an id of. Kinds of layers that nothing edits yet have everyday names."""
    from workbench.base.registry import builtins
    from workbench.models.families.transformer.info.architectures import ARCHITECTURES
    from workbench.text.labels import LAYER_KINDS

    return {
        **dict.fromkeys(set(builtins().ids("inspector")) - EVERYDAY, "inspectors"),
        **dict.fromkeys(builtins().ids("method"), "methods"),
        **{
            kind.id: "kinds of layers"
            for kind in LAYER_KINDS.values()
            if kind.editor and kind.id not in EVERYDAY
        },
        **dict.fromkeys(ARCHITECTURES, "architectures"),
        **dict.fromkeys(builtins().ids("family"), "families"),
        **dict.fromkeys(builtins().ids("backend"), "backends"),
        **dict.fromkeys(builtins().ids("baseline"), "baselines"),
        **dict.fromkeys(set(builtins().ids("task")) - EVERYDAY, "tasks"),
        **dict.fromkeys(builtins().ids("model_exporter"), "formats of exports"),
    }


DISPLAYS = (ast.Tuple, ast.List, ast.Set)


def literals(node: ast.AST | None) -> list[str]:
    """Strings of a literal or of a display of literals."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, DISPLAYS):
        return [text for element in node.elts for text in literals(element)]
    return []


COMPARING = (ast.Compare, ast.MatchValue, ast.BoolOp, ast.Call, *DISPLAYS, ast.Dict)
COMPARING += (ast.Subscript, ast.Attribute)


@cache
def compared(node: ast.AST) -> tuple[str, ...]:
    """Strings that a value is compared with by a node of the kinds in COMPARING, or chosen by."""
    return tuple(_compared(node))


def _compared(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Compare):
        return [text for side in (node.left, *node.comparators) for text in literals(side)]
    if isinstance(node, ast.MatchValue):
        return literals(node.value)
    if isinstance(node, ast.BoolOp):  # a default, as in `task or "classify"`
        return [text for value in node.values[1:] for text in literals(value)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        words = literals(node.func.value) if node.func.attr == "split" else []
        found = [word for text in words for word in text.split()]  # a list of ids
        return found if len(found) > 1 and all(word in contribution_ids() for word in found) else []
    if isinstance(node, DISPLAYS):  # a list of ids, to be compared with
        found = literals(node)
        known = len(found) > 1 and all(text in contribution_ids() for text in found)
        return found if known and len(found) == len(node.elts) else []
    if isinstance(node, ast.Dict):  # a table by id
        found = [text for key in node.keys for text in literals(key)]
        kinds = [contribution_ids().get(text) for text in found]
        pairs = zip(found, kinds, strict=True)
        return [text for text, kind in pairs if kind and kinds.count(kind) > 1]
    chosen = node.value if isinstance(node, (ast.Subscript, ast.Attribute)) else None
    if isinstance(chosen, ast.Dict):  # {…}[x] and {…}.get(x)
        return [text for key in chosen.keys for text in literals(key)]
    return []


@cache
def kind_constants() -> dict[str, str]:
    """Constants of text/labels.py → the id of their kind of layer."""
    from workbench.text import labels

    found = {key: value for key, value in vars(labels).items() if not key.startswith("_")}
    return {key: kind.id for key, kind in found.items() if isinstance(kind, labels.LayerKind)}


def kinds_compared(path: Path, node: ast.AST) -> list[str]:
    """Ids of the kinds of layers whose records a value is compared with: `traits == TAG`."""
    if not isinstance(node, ast.Compare):
        return []
    sides = [side.id for side in (node.left, *node.comparators) if isinstance(side, ast.Name)]
    known = [side for side in sides if side in kind_constants()]
    return [kind_constants()[side] for side in known if imports_kind(path, side)]


def imports_kind(path: Path, constant: str) -> bool:
    """Whether a file imports a constant from text/labels.py; one that is made up does."""
    return not path.is_file() or any(
        constant in [alias.name for alias in node.names]
        for node in nodes(path, ast.ImportFrom)
        if node.module == "workbench.text.labels"
    )


def id_faults(path: Path, nodes: Iterable[ast.AST]) -> list[str]:
    found = []
    for node in nodes:
        for text in (*compared(node), *kinds_compared(path, node)):
            what = contribution_ids().get(text)
            if what is None or (name(path), text) in EXCUSED_IDS:
                continue
            if not any(fnmatchcase(name(path), owner) for owner in OWNERS[what](text)):
                found.append(f"{name(path)}:{node.lineno} compares {text!r}, one of the {what}")
    return found


def test_no_module_compares_the_id_of_a_contribution_that_is_not_its_own():
    """Ask the record instead: `layer.traits`, `info.windows`, `info.pipeline` …"""
    faults = sorted(
        {fault for path in files() for fault in id_faults(path, nodes(path, *COMPARING))}
    )

    assert faults == []


@pytest.mark.parametrize(
    "line",
    [
        'if layer.kind == "span": pass',
        'if "tag" != task: pass',
        'if kind in ("class", "multi"): pass',
        'KINDS = ("span", "tag")',
        'words = {"classify": 1}[task]',
        'words = {"classify": 1}.get(task)',
        'WORDS = {"class": 1, "span": 2}',
        'match architecture:\n    case "bert": pass',
        'if info.family == "transformer": pass',
        'if view in {"attention", "transitions"}: pass',
        'if spec.backend != "local": pass',
        'if options["method"] == "lora": pass',
        'task = given or "classify"',
        'TASKS = "classify pairs".split()',
        "if layer.traits == TAG: pass",
    ],
)
def test_a_comparison_with_an_id_is_found(line):
    assert id_faults(CODE / "ui" / "made_up.py", ast.walk(ast.parse(line)))


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("tasks/classify/task.py", 'if task == "classify": pass'),
        ("models/families/transformer/family.py", 'if family == "transformer": pass'),
        ("inspection/attention/inspector.py", 'if view == "attention": pass'),
        ("prompting/backends/local/backend.py", 'if backend == "local": pass'),
    ],
)
def test_a_contribution_may_compare_its_own_id(place, line):
    assert id_faults(CODE / place, ast.walk(ast.parse(line))) == []


@pytest.mark.parametrize(
    "line", ['changes.touches("span")', 'row = {"span": 1}', 'tables = ("mark", "span")']
)
def test_a_name_of_a_table_is_no_comparison_with_an_id(line):
    assert id_faults(CODE / "ui" / "made_up.py", ast.walk(ast.parse(line))) == []


def test_every_excuse_for_an_id_is_needed():
    needed = {
        (name(path), text)
        for path in files()
        for node in nodes(path, *COMPARING)
        for text in compared(node)
    }

    assert set(EXCUSED_IDS) <= needed


# ---------------------------------------------------------------- kinds of runs

KINDS_OF_RUNS = "operations/runs/kinds/"
RUN_NAMES = ("run", "this", "other", "member", "before", "after", "old")  # variables with a run


def compares_kind_of_run(node: ast.AST) -> bool:
    """Whether a comparison or a subscript tells one kind of run from another."""
    if not isinstance(node, ast.Compare):
        return False
    sides = [part for side in (node.left, *node.comparators) for part in elements(side)]
    kinds = [side for side in sides if is_kind_of_run(side)]
    return bool(kinds) and len(kinds) < len(sides) and any(map(is_named_kind, sides))


def elements(node: ast.AST) -> list[ast.AST]:
    return list(node.elts) if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]


def is_kind_of_run(node: ast.AST) -> bool:
    """`run.kind`, `entry.run.kind`, or the purpose of a job."""
    if isinstance(node, ast.Attribute) and node.attr == "kind":
        owner = node.value
        name = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")
        return name in RUN_NAMES
    text = ast.unparse(node)
    return "get('purpose'" in text or "['purpose']" in text


def is_named_kind(node: ast.AST) -> bool:
    """A literal, a constant, or the id of a kind."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.Attribute):
        return node.attr == "id" or node.attr.isupper()
    return isinstance(node, ast.Name) and node.id.isupper()


def test_kinds_of_runs_are_told_apart_by_themselves_only():
    """What a kind can do is a fact in its `info`, how it does it is in its folder."""
    wrong = [
        f"{name(path)}:{node.lineno}"
        for path in files()
        if not name(path).startswith(KINDS_OF_RUNS)
        for node in nodes(path)
        if compares_kind_of_run(node)
    ]

    assert wrong == []


def test_a_comparison_with_a_kind_of_run_is_found():
    found = [
        text
        for text in (
            "run.kind == 'train'",
            "entry.run.kind in (PROMPT, BASELINE)",
            "(run.kind, run.name) == ('train', name)",
            "about.get('purpose') != 'train'",
            "run.kind == other.kind",
            "layer.kind == 'span'",
        )
        if compares_kind_of_run(ast.parse(text, mode="eval").body)
    ]

    assert len(found) == 4
