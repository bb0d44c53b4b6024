"""The commands of Annotate, and its keys without Ctrl or Alt.

The keys are handled by the text and the lists, and shown in the key list. Those with one meaning
can be changed there; `ui.shell.bare_keys` translates the user's keys back.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Protocol

from workbench.base.i18n import _
from workbench.text.sentences import PARAGRAPH, SENTENCE, WHOLE
from workbench.ui.commands import Command
from workbench.ui.panels.annotate.adjudication.key_commands import KEY_COMMANDS

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from workbench.ui.panels.annotate.state import Desk


class _View(Protocol):
    def panes(self) -> list[QWidget]: ...


class _Page(Protocol):
    """What commands know of the panel, which lists them."""

    @property
    def state(self) -> Desk: ...
    @property
    def view(self) -> _View: ...


def _bare(id: str, title: str, *keys: str, with_ctrl: bool = False) -> Command:
    """A key that can be changed; all its keys mean the same."""
    return Command(
        f"annotate.{id}", title, keys=keys, shown_only=True, bare=True, with_ctrl=with_ctrl
    )


def _fixed(id: str, title: str, *keys: str) -> Command:
    """Several keys in one line: those of labels, and those that every text has."""
    return Command(f"annotate.{id}", title, keys=keys, shown_only=True)


BARE_COMMANDS = (
    _fixed("label", _("Label the selected text or relabel the selected span"), "1", "9"),
    _fixed("class", _("Set or clear a class"), "Q", "P"),
    _bare("palette", _("Find a label by typing"), "/"),
    _bare(
        "enter",
        _(
            "Finish the relation, answer with the selected text, go to the next sentence or "
            "paragraph, or submit and open next"
        ),
        "Return",
    ),
    _bare("space", _("Skip document"), "Space"),
    _fixed(
        "span",
        _("Next, previous span; without span layers: next, previous question"),
        *("Tab", "Shift+Tab"),
    ),
    _bare("word-next", _("Next word; with questions: next question"), "."),
    _bare("word-previous", _("Previous word; with questions: previous question"), ","),
    _bare("jump", _("Go to the word that begins with two letters; twice: the next one"), "'"),
    _bare("jump-extend", _("Extend the selection to the word with two letters"), '"'),
    _fixed(
        "token",
        _("Next or previous token, token below or above, in a tag layer"),
        *("Right", "Left", "Down", "Up"),
    ),
    _bare("tag-next", _("Assign the next most probable tag to the token"), "Shift+Down"),
    _bare("tag-previous", _("Assign the previous, more probable tag to the token"), "Shift+Up"),
    _bare(
        "delete",
        _("Delete the selected span or relation, the tag, or the last answer"),
        *("Del", "Backspace"),
    ),
    _bare(
        "start-left",
        _("Move the start of the selected span left (Ctrl: by a character)"),
        "[",
        with_ctrl=True,
    ),
    _bare(
        "start-right",
        _("Move the start of the selected span right"),
        "]",
        with_ctrl=True,
    ),
    _bare(
        "end-left",
        _("Move the end of the selected span left (Ctrl: by a character)"),
        "{",
        with_ctrl=True,
    ),
    _bare(
        "end-right",
        _("Move the end of the selected span right"),
        "}",
        with_ctrl=True,
    ),
    _fixed(
        "stretch",
        _("Move the end of the selected span by a character"),
        *("Shift+Left", "Shift+Right"),
    ),
    _bare(
        "accept",
        _("Accept the selected or first suggestion; in error review, accept the prediction"),
        "A",
    ),
    _fixed("accept-tags", _("Accept the tags suggested for all other tokens"), "Shift+A"),
    _bare(
        "reject",
        _(
            "Reject the selected or first suggestion; in error review, keep gold "
            "and open the next error"
        ),
        "X",
    ),
    _bare("no-answer", _("The text does not answer the question"), "N"),
    _bare("ask", _("Ask a question"), "?"),
    _bare("edit-question", _("Change the question"), "F2"),
    _bare("delete-question", _("Delete the question"), "Shift+Del"),
    _bare("link-key", _("Relation from the selected span, or merge of its chain"), "C"),
    _bare("chain", _("Add the selected text to the current chain"), "="),
    _bare("chain-new", _("Start a chain with the text, or split the span off"), "+"),
    _bare("part", _("Add the selected text to the span selected last"), "&"),
    _bare("example-good", _("Add the selected span or the class to the guideline"), "*"),
    _bare("example-bad", _("Add it to the guideline as a counterexample"), "!"),
    _bare("all", _("Label all occurrences of the selected text, span or token"), "M"),
    _bare("unselect", _("Clear selection"), "Esc", "U"),
)

KEYS: Mapping[str, tuple[str, ...]] = {
    bare_command.id: bare_command.all_keys for bare_command in BARE_COMMANDS
}


def _can_link(panel: _Page) -> bool:
    return panel.state.relations.can_link and panel.state.session.chosen_span() is not None


def _has_relation(panel: _Page) -> bool:
    return panel.state.session.can_edit and panel.state.relations.chosen_relation() is not None


def _has_chains(panel: _Page) -> bool:
    return panel.state.session.can_edit and bool(panel.state.session.chain_layers)


def _can_grow(panel: _Page) -> bool:
    return panel.state.session.can_edit and panel.state.relations.growing is not None


LINK_COMMANDS = (
    Command(
        "annotate.link",
        _("Re&lation from here"),
        lambda p: p.state.relations.start_link(),
        "Labels",
        "Ctrl+J",
        enabled=_can_link,
        group="relations",
    ),
    Command(
        "annotate.reverse",
        _("Re&verse relation"),
        lambda p: p.state.relations.reverse(),
        "Labels",
        "Ctrl+Shift+J",
        enabled=_has_relation,
        group="relations",
    ),
    Command(
        "annotate.join-chain",
        _("Add to current c&hain"),
        lambda p: p.view.links.join_chain(),
        "Labels",
        enabled=_has_chains,
        group="relations",
    ),
    Command(
        "annotate.new-chain",
        _("New chain or split o&ff"),
        lambda p: p.view.links.new_chain(),
        "Labels",
        enabled=_has_chains,
        group="relations",
    ),
    Command(
        "annotate.add-part",
        _("Add selection to the span as a par&t"),
        lambda p: p.view.links.add_part(),
        "Labels",
        enabled=_can_grow,
        group="relations",
    ),
)


def has_queue(panel: _Page) -> bool:
    """Whether there are documents, and no errors are reviewed."""
    session = panel.state.session
    return panel.state.queue.total > 0 and not session.errors and not session.blocked


QUEUE_COMMANDS = (
    Command(
        "annotate.order",
        _("&Order of the queue…"),
        lambda p: p.view.queue.show_order(),
        "Labels",
        "Ctrl+Shift+O",
        enabled=has_queue,
        group="queue",
    ),
    Command(
        "annotate.ahead",
        _("Pre-annotate &with…"),
        lambda p: p.view.choose_ahead(),
        "Labels",
        "Ctrl+Shift+Y",
        enabled=lambda p: has_queue(p) and p.state.prefetch.can_choose,
        group="queue",
    ),
    Command(
        "annotate.instant",
        _("&Instant model"),
        lambda p: p.state.instant.toggle(),
        "Labels",
        "Ctrl+Shift+D",
        enabled=lambda p: has_queue(p) and p.state.instant.can_toggle,
        checked=lambda p: p.state.instant.model is not None,
        group="queue",
    ),
    Command(
        "annotate.goes-on",
        _("A &key also submits and goes on"),
        lambda p: p.state.submission.set_goes_on(not p.state.submission.goes_on),
        "Labels",
        enabled=lambda p: has_queue(p) and p.state.submission.can_go_on,
        checked=lambda p: p.state.submission.goes_on,
        group="queue",
    ),
    Command(
        "annotate.keep-instant",
        _("&Keep suggestions of the instant model"),
        lambda p: p.state.instant.keep(),
        "Labels",
        enabled=lambda p: p.state.instant.can_keep,
        group="queue",
    ),
    Command(
        "annotate.learning",
        _("&Learning curve…"),
        lambda p: p.view.instant.show_learning(),
        "Labels",
        enabled=lambda p: p.state.instant.model is not None or p.state.instant.last_run is not None,
        group="queue",
    ),
    Command(
        "annotate.again",
        _("&Train again on the current labels"),
        lambda p: p.state.instant.train_again(),
        "Labels",
        "Ctrl+Shift+T",
        enabled=lambda p: p.state.instant.last_run is not None,
        group="queue",
    ),
)


def has_document(panel: _Page) -> bool:
    """Whether a document is open, in the usual mode."""
    return panel.state.session.doc is not None and not panel.state.session.blocked


def _has_page(panel: _Page) -> bool:
    return panel.state.session.doc is not None


def _has_units(panel: _Page) -> bool:
    return bool(panel.state.session.units.ranges)


def _choose(kind: str, panel: _Page) -> None:
    panel.state.session.units.choose_kind(kind)


def _is(kind: str, panel: _Page) -> bool:
    return panel.state.session.units.kind == kind


def _kind(kind: str, title: str) -> Command:
    return Command(
        f"annotate.by-{kind}",
        title,
        partial(_choose, kind),
        "Labels",
        enabled=has_document,
        checked=partial(_is, kind),
        group="units",
    )


UNIT_COMMANDS = (
    _kind(WHOLE, _("Label &whole documents")),
    _kind(PARAGRAPH, _("Label by pa&ragraph")),
    _kind(SENTENCE, _("Label by sente&nce")),
    Command(
        "annotate.unit-next",
        _("Next sentence or paragrap&h"),
        lambda p: p.state.session.step_unit(1),
        "Labels",
        "Alt+Down",
        enabled=_has_units,
        group="units",
    ),
    Command(
        "annotate.unit-previous",
        _("Previous sentence or para&graph"),
        lambda p: p.state.session.step_unit(-1),
        "Labels",
        "Alt+Up",
        enabled=_has_units,
        group="units",
    ),
)


def _may_adjudicate(panel: _Page) -> bool:
    adjudication, session = panel.state.adjudication, panel.state.session
    is_free = not adjudication.is_on and not adjudication.starting
    return session.can_write and not session.blind and is_free


ADJUDICATION_COMMANDS = (
    Command(
        "annotate.adjudicate",
        _("Ad&judicate…"),
        lambda p: p.view.ask_adjudication(),
        "Labels",
        "Ctrl+Shift+E",
        enabled=_may_adjudicate,
        group="queue",
    ),
    Command(
        "annotate.leave-adjudication",
        _("Lea&ve adjudication"),
        lambda p: p.state.adjudication.leave(),
        "Labels",
        enabled=lambda p: p.state.adjudication.is_on,
        group="queue",
    ),
)


def _can_edit(panel: _Page) -> bool:
    return panel.state.session.can_edit


def _has_labels(panel: _Page) -> bool:
    return panel.state.session.has_labels


def _can_step(panel: _Page) -> bool:
    return panel.state.can_step


def _has_found(panel: _Page) -> bool:
    return panel.state.session.doc is not None and panel.state.finder.count > 0


def _has_panes(panel: _Page) -> bool:
    return len(panel.view.panes()) > 1


def _has_errors(panel: _Page) -> bool:
    return bool(panel.state.session.errors)


def _narrowed(panel: _Page) -> bool:
    return has_queue(panel) and not panel.state.queue.narrowed.empty


def _can_take(panel: _Page) -> bool:
    return _has_errors(panel) and panel.state.session.can_edit


COMMANDS = (
    Command(
        "annotate.find-next",
        _("Find &next"),
        lambda p: p.view.find_step(1),
        "Edit",
        "F3",
        enabled=_has_found,
        group="find",
    ),
    Command(
        "annotate.find-previous",
        _("Find pre&vious"),
        lambda p: p.view.find_step(-1),
        "Edit",
        "Shift+F3",
        enabled=_has_found,
        group="find",
    ),
    Command(
        "annotate.submit",
        _("&Submit and open next"),
        lambda p: p.state.submit(),
        "Labels",
        ("Ctrl+Return", "Ctrl+Enter"),
        enabled=lambda p: p.state.can_submit,
        group="done",
    ),
    Command(
        "annotate.discard",
        _("&Discard document"),
        lambda p: p.state.submission.discard(),
        "Labels",
        "Ctrl+Backspace",
        enabled=_can_edit,
        group="done",
    ),
    Command(
        "annotate.skip",
        _("S&kip document"),
        lambda p: p.state.queue.skip(),
        "Labels",
        enabled=has_document,
        group="done",
    ),
    Command(
        "annotate.note",
        _("No&te…"),
        lambda p: p.view.remarks.ask_note(),
        "Labels",
        "Ctrl+T",
        enabled=_can_edit,
        group="done",
    ),
    Command(
        "annotate.flag",
        _("Fla&g…"),
        lambda p: p.view.remarks.ask_flag(),
        "Labels",
        "Ctrl+K",
        enabled=_can_edit,
        group="done",
    ),
    Command(
        "annotate.example",
        _("Use as example in the pro&mpt"),
        lambda p: p.state.context.go("prompts", example=p.state.session.document_id),
        "Labels",
        enabled=has_document,
        group="examples",
    ),
    Command(
        "annotate.guideline-example",
        _("Add to the gu&ideline…"),
        lambda p: p.view.ask_example(),
        "Labels",
        "Ctrl+Shift+B",
        enabled=_can_edit,
        group="examples",
    ),
    Command(
        "annotate.next",
        _("&Next document"),
        lambda p: p.state.step(1),
        "Labels",
        "Ctrl+Right",
        enabled=_can_step,
        group="walk",
    ),
    Command(
        "annotate.previous",
        _("&Previous document"),
        lambda p: p.state.step(-1),
        "Labels",
        "Ctrl+Left",
        enabled=_can_step,
        group="walk",
    ),
    Command(
        "annotate.unlabelled",
        _("Next &unlabelled document"),
        lambda p: p.view.go_unlabelled(),
        "Labels",
        "Ctrl+Down",
        enabled=has_document,
        group="walk",
    ),
    Command(
        "annotate.only-unlabelled",
        _("Show &unlabelled documents only"),
        lambda p: p.state.queue.toggle_unlabelled(),
        "Labels",
        "Ctrl+Shift+U",
        enabled=has_queue,
        checked=lambda p: p.state.queue.only_unlabelled,
        group="queue",
    ),
    Command(
        "annotate.only-suggested",
        _("Show &documents with suggestions only"),
        lambda p: p.state.queue.narrow(suggested=not p.state.queue.narrowed.suggested),
        "Labels",
        enabled=has_queue,
        checked=lambda p: p.state.queue.narrowed.suggested,
        group="queue",
    ),
    *UNIT_COMMANDS,
    *QUEUE_COMMANDS,
    Command(
        "annotate.clear-filters",
        _("&Clear queue filters"),
        lambda p: p.state.queue.clear_filters(),
        "Labels",
        "Ctrl+Shift+F",
        enabled=_narrowed,
        group="queue",
    ),
    Command(
        "annotate.error",
        _("Next &error"),
        lambda p: p.state.queue.next_error(1),
        "Labels",
        "F8",
        enabled=_has_errors,
        group="errors",
    ),
    Command(
        "annotate.error-back",
        _("Previous e&rror"),
        lambda p: p.state.queue.next_error(-1),
        "Labels",
        "Shift+F8",
        enabled=_has_errors,
        group="errors",
    ),
    Command(
        "annotate.accept-answer",
        _("&Accept prediction as gold"),
        lambda p: p.state.review.accept_answer(),
        "Labels",
        enabled=_can_take,
        group="errors",
    ),
    Command(
        "annotate.occurrences",
        _("Label all &occurrences…"),
        lambda p: p.view.occurrences.open(),
        "Labels",
        "Ctrl+M",
        enabled=_can_edit,
        group="suggestions",
    ),
    Command(
        "annotate.patterns",
        _("&Patterns…"),
        lambda p: p.view.show_patterns(),
        "Labels",
        "Ctrl+Shift+M",
        enabled=_has_labels,
        group="suggestions",
    ),
    Command(
        "annotate.accept-all",
        _("&Accept all confident suggestions"),
        lambda p: p.state.suggested.accept_all(),
        "Labels",
        "Ctrl+Shift+A",
        enabled=lambda p: p.state.session.can_edit and bool(p.state.suggested.sure_suggestions),
        group="suggestions",
    ),
    Command(
        "annotate.reject-all",
        _("Re&ject all suggestions"),
        lambda p: p.state.suggested.reject_all(),
        "Labels",
        "Ctrl+Shift+X",
        enabled=lambda p: p.state.session.can_edit and bool(p.state.session.suggestions),
        group="suggestions",
    ),
    *LINK_COMMANDS,
    *ADJUDICATION_COMMANDS,
    Command(
        "annotate.guideline",
        _("&Guideline"),
        lambda p: p.view.toggle_guideline(),
        "View",
        "Ctrl+G",
        enabled=_has_page,
        checked=lambda p: p.view.guideline_shown,
        group="annotate",
    ),
    Command(
        "annotate.guideline-find",
        _("Find in the guideline"),
        lambda p: p.view.find_in_guideline(),
        "View",
        "Ctrl+Alt+G",
        enabled=has_document,
        group="annotate",
    ),
    Command(
        "annotate.left",
        _("Collapse &queue"),
        lambda p: p.view.fold("left"),
        "View",
        "F9",
        enabled=_has_page,
        checked=lambda p: p.view.folded("left"),
        group="annotate",
    ),
    Command(
        "annotate.right",
        _("Collapse s&uggestions and spans"),
        lambda p: p.view.fold("right"),
        "View",
        "Shift+F9",
        enabled=_has_page,
        checked=lambda p: p.view.folded("right"),
        group="annotate",
    ),
    Command(
        "annotate.pane",
        _("Next p&ane"),
        lambda p: p.view.next_pane(1),
        "View",
        "F6",
        enabled=_has_panes,
        group="annotate",
    ),
    Command(
        "annotate.pane-back",
        _("Previous pa&ne"),
        lambda p: p.view.next_pane(-1),
        "View",
        "Shift+F6",
        enabled=_has_panes,
        group="annotate",
    ),
    Command(
        "annotate.zoom-in",
        _("Lar&ger reading text"),
        lambda p: p.view.zoom(1),
        "View",
        ("Alt++", "Alt+="),
        enabled=_has_page,
        group="annotate",
    ),
    Command(
        "annotate.zoom-out",
        _("S&maller reading text"),
        lambda p: p.view.zoom(-1),
        "View",
        "Alt+-",
        enabled=_has_page,
        group="annotate",
    ),
    Command(
        "annotate.zoom-usual",
        _("Reset reading text si&ze"),
        lambda p: p.view.zoom(0),
        "View",
        "Alt+0",
        enabled=lambda p: _has_page(p) and p.view.zoomed_by != 100,
        group="annotate",
    ),
    *BARE_COMMANDS,
    *KEY_COMMANDS,
)
