"""The settings that every training has. Does not import torch."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.base.registry import registry
from workbench.text.segmenters import base as segmenters
from workbench.training.methods import spec as methods

ALL_GPUS = "all"  # a device
RUN_ON = "run_on"  # setting: the address of a cluster
MOST_AT_ONCE = 16  # runs of an experiment there, each followed by a process on this computer
DEVICES = ("auto", "cpu", "cuda", "mps")
NOT_SLANTED = ("schedule", "linear", "constant")  # see `Option.idle_with`
NOT_ADAPTED = ("adapt_epochs", "0")
NOT_TAUGHT = ("teacher", "")
DISTILLATION = ("teacher", "alpha", "temperature", "unlabelled", "hidden_weight")  # settings

CHECKPOINTING = Option(
    "checkpointing",
    "choice",
    "auto",
    N_(
        "Gradient checkpointing: activations are computed again in the backward pass instead of "
        "being kept. Needs less memory and about a third more time, with the same result. auto: "
        "only if memory does not suffice for a batch of one."
    ),
    choices=("auto", "on", "off"),
    choice_titles=(N_("Automatic"), N_("On"), N_("Off")),
    title=N_("Gradient checkpointing"),
)
ALL = "all"


def initial_levels(init_layers: str) -> int | None:
    """How many of the lowest levels (embeddings, layer 1, …) begin with the weights of the model,
    from the setting `init_layers`; None for all, the pooler included. Raises SpecError.
    """
    names: dict[str, int | None] = {ALL: None, "none": 0, "embeddings": 1}
    if init_layers in names:
        return names[init_layers]
    if init_layers.isascii() and init_layers.isdigit():
        return int(init_layers) + 1
    raise SpecError(
        _(
            "init_layers is {text!r}, expected all, none, embeddings or a number of layers.",
            text=init_layers,
        ),
        hint=_("3 takes the embeddings and the three lowest layers from the model."),
    )


LEAST_FOLDS, MOST_FOLDS = 2, 20


def fold_of(text: str) -> tuple[int, int] | None:
    """(number, count) of a fold that is written as "2/5"; None for "". Raises SpecError."""
    if not text:
        return None
    number, _slash, count = text.partition("/")
    if number.isdecimal() and count.isdecimal():
        fold = int(number), int(count)
        if 1 <= fold[0] <= fold[1] and LEAST_FOLDS <= fold[1] <= MOST_FOLDS:
            return fold
    raise SpecError(
        _("fold is {text!r}, expected a number and a count such as 2/5.", text=text),
        hint=_("The number of folds is from {low} to {high}.", low=LEAST_FOLDS, high=MOST_FOLDS),
    )


@dataclass(frozen=True)
class OtherLayer:
    """A layer that is trained together with that of a run: `task:layer=weight;name=value;…` in the
    setting.

    task: "" for the first one that fits the layer. weight: of its losses. settings: (name, text) of
    settings that are its own.
    """

    layer: str
    task: str = ""
    weight: float = 1.0
    settings: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        task = f"{self.task}:" if self.task else ""
        weight = f"={self.weight:g}" if self.weight != 1 else ""
        own = "".join(f";{name}={text}" for name, text in self.settings)
        return f"{task}{self.layer}{weight}{own}"


def other_layers(text: str) -> tuple[OtherLayer, ...]:
    """The layers of the setting `also`, as in CSV: in quotes if a name has a comma.

    Raises SpecError.
    """
    entries = next(csv.reader([text], skipinitialspace=True), [])
    return tuple(_other_layer(entry.strip()) for entry in entries if entry.strip())


_SETTING = re.compile(r";\s*(\w+)=")  # begins a setting of a further layer


def _other_layer(entry: str) -> OtherLayer:
    entry, *settings = _SETTING.split(entry)
    layer, _sign, number = entry.rpartition("=")
    try:
        weight = float(number) if layer else 1.0
    except ValueError:
        layer, weight = "", 1.0  # the sign belongs to the name
    task, _colon, name = (layer or entry).partition(":")
    if not name or task not in registry().ids("task"):
        task, name = "", layer or entry
    if not 0 < weight < math.inf:
        raise SpecError(
            _("The weight of layer {layer!r} is {weight:g}.", layer=name, weight=weight),
            hint=_("Weights of losses are above 0."),
        )
    pairs = zip(settings[::2], settings[1::2], strict=True)
    own = tuple((setting, text.strip()) for setting, text in pairs)
    return OtherLayer(name.strip(), task, weight, own)


def other_layers_text(layers: Iterable[OtherLayer]) -> str:
    """What `other_layers` reads."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(map(str, layers))
    return line.getvalue()


ALSO = Option(
    "also",
    "text",
    "",
    N_(
        "Further layers to train on together, with one encoder and one head each: names with "
        "commas, as in topic, people. A task, a weight of the losses and settings of its task can "
        "be given: spans:people=0.5;longest_span=20. Each becomes a run of its own beside the "
        "first one."
    ),
    check=other_layers,
    title=N_("Also train on"),
)
ALONE = ("also", "")  # see `Option.idle_with`
TASK_ALPHA = Option(
    "task_alpha",
    "float",
    1.0,
    N_(
        "Exponent of the sampling over layers: the next batch is of a layer in proportion to its "
        "number of training inputs to this power. 1: as if all were one data set; 0: all equally "
        "often."
    ),
    low=0.0,
    high=2.0,
    title=N_("Sampling exponent of layers"),
    idle_with=ALONE,
)
SELECT_OVER = Option(
    "select_over",
    "choice",
    "all",
    N_(
        "Whose score on dev selects the checkpoint: the mean over all layers of the main score of "
        "each, or the score of the first layer."
    ),
    choices=("all", "first"),
    choice_titles=(N_("All layers"), N_("First layer")),
    title=N_("Best over"),
    idle_with=ALONE,
)
EPOCHS = Option(
    "epochs",
    "int",
    None,
    N_(
        "Number of passes over the training data. A run that is continued with more epochs follows "
        "the schedule of the new number from the step that it has reached."
    ),
    group="main",
    low=1,
    high=1000,
    title=N_("Epochs"),
    automatic=N_(
        "from the number of training documents and labels: up to 20 for a small set or many "
        "labels, 3 from some thousand documents, 1 from 100,000"
    ),
)
GENERAL: tuple[Option, ...] = (
    Option(
        "method",
        "choice",
        methods.DEFAULT,
        N_("Which parameters are trained, and how."),
        group="main",
        title=N_("Method"),
    ),
    EPOCHS,
    Option(
        "batch_size",
        "int",
        None,
        N_("Documents (windows of long texts, for tags) per batch."),
        group="main",
        low=1,
        high=4096,
        title=N_("Batch size"),
        automatic=N_("16 under 1,000 documents, else 32"),
    ),
    Option(
        "learning_rate",
        "float",
        None,
        N_("Peak learning rate of the schedule."),
        group="main",
        low=1e-8,
        high=1.0,
        title=N_("Learning rate"),
        automatic=N_(
            "from the task, the method, the width of the model, the number of steps and labels; "
            "with full fine-tuning of a model of width 384 and few documents 0.0001 for 2 classes "
            "and 0.0003 for 77 classes or for tags"
        ),
    ),
    Option(
        "max_length",
        "int",
        None,
        N_(
            "Maximum number of tokens per input. Longer texts are truncated (classes, pairs) or "
            "processed in overlapping windows (tags)."
        ),
        group="main",
        low=8,
        high=100_000,
        title=N_("Maximum length"),
        automatic=N_("the model's maximum, at most 512"),
    ),
    Option(
        segmenters.OPTION,
        "choice",
        segmenters.DEFAULT,
        N_(
            "How texts that were imported without tokens are split into words; for Chinese, "
            "Japanese, Thai and other texts without spaces. Stored with the model: predictions "
            "and exports use the same one. By default that of the pretrained model."
        ),
        title=N_("Word segmenter"),
    ),
    Option(
        "init",
        "choice",
        "pretrained",
        N_(
            "Initial weights of the encoder: those of the model, or newly initialized ones, to "
            "measure what pretraining contributes."
        ),
        choices=("pretrained", "random"),
        choice_titles=(N_("Pretrained"), N_("Random")),
        title=N_("Initial weights"),
    ),
    Option(
        "init_layers",
        "text",
        ALL,
        N_(
            "Layers that begin with the weights of the model: all, none, embeddings, or a number "
            "of lowest layers (embeddings included). The layers above are newly initialized, to "
            "measure how transferable each layer is (Yosinski et al. 2014)."
        ),
        choices=(ALL, "none", "embeddings"),
        check=initial_levels,
        title=N_("Layers from the model"),
        idle_with=("init", "random"),
    ),
    Option(
        "best_by",
        "choice",
        None,
        N_("Score on dev that selects the checkpoint to keep; the earlier one on a tie."),
        title=N_("Best by"),
        automatic=N_("the main score of the task"),
    ),
    Option(
        "train_limit",
        "int",
        None,
        N_("Use at most this many training documents, sampled with the seed."),
        low=1,
        high=100_000_000,
        title=N_("Training documents"),
        automatic=N_("all"),
    ),
    Option(
        "train_sample",
        "choice",
        "random",
        N_(
            "How fewer training documents are sampled: at random, or at random with documents of "
            "labels that are not yet there first, so that every class occurs if there is room. "
            "Larger samples of the same seed contain the smaller ones."
        ),
        choices=("random", "every_class"),
        choice_titles=(N_("Random"), N_("Every class")),
        title=N_("Sample of training documents"),
    ),
    Option(
        "fold",
        "text",
        "",
        N_(
            "Train on all but one fold of the documents of train and dev, and score on that fold "
            "as dev: 2/5 is the second of five. Folds are divided with the seed; labels are spread "
            "evenly, groups and equal texts stay together. Empty: train and dev as they are."
        ),
        check=fold_of,
        title=N_("Fold"),
    ),
    Option(
        "device",
        "text",
        "auto",
        N_("Device to train on: auto, cpu, cuda, cuda:1, mps, or all (every GPU of the computer)."),
        choices=DEVICES,
        title=N_("Device"),
    ),
    Option(
        "processes",
        "int",
        None,
        N_(
            "Processes that train together, each with its part of every batch; GPUs have one each. "
            "The result is that of one process, apart from rounding and the masks of dropout."
        ),
        low=1,
        high=64,
        title=N_("Processes"),
        automatic=N_("1; with device all, one per GPU"),
    ),
    Option(
        RUN_ON,
        "text",
        None,
        N_(
            "A Ray cluster that trains instead of this computer, by address, such as "
            "ray://192.168.1.5:10001. Documents, labels and model are sent there, after a question."
        ),
        title=N_("Run on"),
        automatic=N_("this computer"),
    ),
    Option(
        "schedule",
        "choice",
        "linear",
        N_(
            "Learning-rate schedule after warm-up: linear decay to zero, constant, or slanted "
            "triangular (Howard and Ruder 2018)."
        ),
        choices=("linear", "constant", "slanted"),
        title=N_("Schedule"),
    ),
    Option(
        "warmup",
        "float",
        None,
        N_("Fraction of the steps during which the learning rate rises."),
        low=0.0,
        high=0.9,
        title=N_("Warm-up"),
        automatic=N_(
            "none for models up to width 512, 0.06 for wider ones, 0.1 for the slanted schedule"
        ),
    ),
    Option(
        "cut_frac",
        "float",
        None,
        N_(
            "Slanted triangular schedule: fraction of the steps during which the learning rate "
            "rises."
        ),
        low=0.0,
        high=0.9,
        title=N_("Rising fraction"),
        idle_with=NOT_SLANTED,
        automatic=N_("the warm-up, 0.1 without one"),
    ),
    Option(
        "ratio",
        "float",
        32.0,
        N_("Slanted triangular schedule: the peak learning rate divided by the lowest one."),
        low=1.0,
        high=100_000,
        title=N_("Peak to lowest rate"),
        idle_with=NOT_SLANTED,
    ),
    Option(
        "weight_decay",
        "float",
        0.01,
        N_("Weight decay (biases and norms excluded)."),
        low=0.0,
        high=1.0,
        title=N_("Weight decay"),
    ),
    Option(
        "dropout",
        "float",
        None,
        N_("Dropout probability of hidden states during training."),
        low=0.0,
        high=0.9,
        title=N_("Dropout"),
        automatic=N_("as in the model's configuration"),
    ),
    Option(
        "evaluate_every",
        "int",
        None,
        N_("Steps between evaluations on dev."),
        low=1,
        high=1_000_000,
        title=N_("Evaluate every"),
        automatic=N_("at the end of epochs, about ten times per run"),
    ),
    Option(
        "patience",
        "int",
        0,
        N_("Early stopping after this many evaluations without improvement; 0 disables it."),
        low=0,
        high=1000,
        title=N_("Patience"),
    ),
    Option(
        "accumulation",
        "int",
        1,
        N_("Gradient accumulation: batches per optimizer step. Saves memory."),
        low=1,
        high=1024,
        title=N_("Gradient accumulation"),
    ),
    CHECKPOINTING,
    Option(
        "grad_clip",
        "float",
        1.0,
        N_("Gradient clipping: maximum norm of the gradients; 0 disables it."),
        low=0.0,
        high=1000.0,
        title=N_("Gradient clipping"),
    ),
    Option(
        "precision",
        "choice",
        "auto",
        N_(
            "auto: bf16 if it is clearly faster (GPUs: by their generation; CPUs: by a "
            "measurement), else fp32."
        ),
        choices=("auto", "fp32", "bf16"),
        title=N_("Precision"),
    ),
    Option(
        "adapt_epochs",
        "int",
        0,
        N_(
            "First train the language model for this many passes over the texts of the project, "
            "labelled or not, without those of test; then fine-tune the adapted model (Howard and "
            "Ruder 2018). 0: no adaptation."
        ),
        low=0,
        high=1000,
        title=N_("Epochs of adaptation"),
    ),
    Option(
        "adapt_objective",
        "choice",
        None,
        N_("Objective that the language model is adapted with."),
        title=N_("Objective of adaptation"),
        idle_with=NOT_ADAPTED,
        automatic=N_(
            "that of the model: masked for BERT, causal for GPT and AWD-LSTM, bidirectional for "
            "ELMo, denoising for T5 and BART"
        ),
    ),
    Option(
        "adapt_learning_rate",
        "float",
        None,
        N_("Peak learning rate of the adaptation."),
        low=1e-8,
        high=10.0,
        title=N_("Learning rate of adaptation"),
        idle_with=NOT_ADAPTED,
        automatic=N_("from the objective; 0.004 for AWD-LSTM (Howard and Ruder 2018)"),
    ),
    Option(
        "adapt_layer_decay",
        "float",
        1.0,
        N_(
            "The learning rate of each lower layer is divided by this factor during the "
            "adaptation. 2.6 as in Howard and Ruder 2018; 1 for equal rates."
        ),
        low=1.0,
        high=100.0,
        title=N_("Layer-wise learning-rate decay of adaptation"),
        idle_with=NOT_ADAPTED,
    ),
    Option(
        "teacher",
        "text",
        "",
        N_(
            "Distillation: a finished run of the project (a larger model, an ensemble, a prompt) "
            "whose probabilities are learned beside the gold labels. They are computed once, "
            "before the training. Empty: no teacher."
        ),
        title=N_("Teacher"),
    ),
    Option(
        "alpha",
        "float",
        0.5,
        N_(
            "Distillation: weight of the gold labels in the loss α · CE + (1 - α) · T² · "
            "KL(teacher ‖ model), of Hinton et al. (2015). 1 is training without a teacher; 0 "
            "learns from the teacher alone."
        ),
        low=0.0,
        high=1.0,
        title=N_("Weight of gold labels"),
        idle_with=NOT_TAUGHT,
    ),
    Option(
        "temperature",
        "float",
        2.0,
        N_(
            "Distillation: divides the logits of the teacher and of the model in their part of the "
            "loss. A higher temperature shows more of how the teacher ranks the wrong labels."
        ),
        low=0.1,
        high=100.0,
        title=N_("Distillation temperature"),
        idle_with=NOT_TAUGHT,
    ),
    Option(
        "unlabelled",
        "int",
        0,
        N_(
            "Distillation: at most this many documents that are not submitted are learned with the "
            "teacher's labels alone, sampled with the seed; none of dev or test."
        ),
        low=0,
        high=100_000_000,
        title=N_("Unlabelled documents"),
        idle_with=NOT_TAUGHT,
    ),
    Option(
        "hidden_weight",
        "float",
        0.0,
        N_(
            "Distillation of document classes: weight of 1 - cosine between the mean states of the "
            "last layers of model and teacher, which need the same width (Sanh et al. 2019). 0: "
            "only the probabilities are learned."
        ),
        low=0.0,
        high=100.0,
        title=N_("Weight of hidden states"),
        idle_with=NOT_TAUGHT,
    ),
    ALSO,
    TASK_ALPHA,
    SELECT_OVER,
)
