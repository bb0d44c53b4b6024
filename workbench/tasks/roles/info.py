"""Semantic roles: description, settings, decoding and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Self

from workbench.base import learning_rates
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.tasks.heads.info import LAYER_OPTIONS
from workbench.tasks.losses.info import FOCAL_GAMMA, LABEL_SMOOTHING, SAMPLING
from workbench.tasks.relations.info import CONTEXT, RelationGold, RelationTask
from workbench.tasks.spec import ScoreInfo
from workbench.text.document import Document

if TYPE_CHECKING:
    import numpy as np

    from workbench.runtime.inputs import Prepared, Preparer
    from workbench.text.fields import Prediction

PREDICATES = Option(
    "predicates",
    "text",
    "",
    N_(
        "Labels of the spans that are predicates, separated by commas. Empty: every span of the "
        "layer that the relations connect; those without arguments are learned as such."
    ),
    group="main",
    title=N_("Labels of predicates"),
)
READ_BY = (PREDICATES.name, CONTEXT.name)  # settings that change the inputs


class RolesInfo(RelationTask):
    """predicates, context: values of the settings that change the inputs."""

    id = "roles"
    title = N_("Semantic roles")
    short = N_("Roles")
    predicts = N_("the arguments of marked predicates, with their roles")
    definition = N_(
        "An argument counts as correct if its predicate, its boundaries and its role are "
        "(micro-averaged), as in the CoNLL-2005 shared task. The spans of arguments are predicted; "
        "those of one predicate do not overlap."
    )
    scores = (
        ScoreInfo("argument_precision", N_("Precision"), selects=False),
        ScoreInfo("argument_recall", N_("Recall"), selects=False),
        ScoreInfo("argument_f1", N_("Argument F1"), hub="f1"),
        ScoreInfo("argument_macro_f1", N_("Macro F1 of roles")),
        ScoreInfo("argument_unlabelled_f1", N_("Unlabelled F1")),
    )
    main = "argument_f1"
    second = "argument_unlabelled_f1"
    beside = ("argument_precision", "argument_recall")
    prefix = "argument"
    typed = False
    windows = True
    learning_rate = learning_rates.WORDS
    logits = {"logits": "token"}
    options = (PREDICATES, CONTEXT, SAMPLING, FOCAL_GAMMA, LABEL_SMOOTHING, *LAYER_OPTIONS)
    predicates: tuple[str, ...] = ()
    context = 30

    def output_names(self, labels: Sequence[str]) -> tuple[str, ...]:
        from workbench.runtime.decoding import bio_tags

        return bio_tags(labels)

    def problem(self, counts: Mapping[str, int], layer: str) -> str:
        if counts:
            return ""
        return _("No training document of layer {layer!r} has an argument.", layer=layer)

    def reading(self, options: Mapping[str, Any]) -> Self:
        info = copy(self)
        names = str(options.get(PREDICATES.name) or "").split(",")
        info.predicates = tuple(name.strip() for name in names if name.strip())
        info.context = int(options.get(CONTEXT.name, CONTEXT.default))
        return info

    def prepare(
        self, preparer: Preparer, documents: Sequence[Document], max_length: int
    ) -> Prepared:
        from workbench.runtime import arguments

        return arguments.prepare(
            preparer, documents, max_length, labels=self.predicates, context=self.context
        )

    def fit(
        self,
        golds: Sequence[RelationGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> dict[str, Any]:
        """argument: the label of the spans of predicted arguments."""
        from workbench.runtime import arguments

        relations = (relation for gold in golds for relation in gold.relations)
        return {"argument": arguments.usual_label(relations)}

    def decode(
        self,
        logits: Sequence[Mapping[str, np.ndarray]],
        prepared: Prepared,
        labels: Sequence[str],
        decoder: Mapping[str, Any],
    ) -> list[Prediction]:
        """logits: "logits" (T, 1 + 2 · L) of each predicate, the BIO tags of its arguments."""
        from workbench.runtime import arguments
        from workbench.text.fields import Prediction, Relations

        predictions = []
        for number, document in enumerate(prepared.documents):
            spans, items = arguments.predicates(document, self.predicates), prepared.of(number)
            relations = (
                arguments.decode(
                    document,
                    spans,
                    arguments.parts(document, self.predicates, self.context),
                    [prepared.inputs[item] for item in items],
                    [logits[item]["logits"] for item in items],
                    self.output_names(labels),
                    str(decoder.get("argument") or ""),
                )
                if spans
                else ()
            )
            predictions.append(Prediction((Relations(relations),), bool(prepared.cut[number])))
        return predictions


INFO = RolesInfo()
