"""The settings that every training has. Does not import torch."""

from __future__ import annotations

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.text.segmenters import base as segmenters
from workbench.training.methods import spec as methods

DEVICES = ("auto", "cpu", "cuda", "mps")
NOT_SLANTED = ("schedule", "linear", "constant")  # see `Option.idle_with`
NOT_ADAPTED = ("adapt_epochs", "0")

GENERAL: tuple[Option, ...] = (
    Option(
        "method",
        "choice",
        methods.DEFAULT,
        N_("Which parameters are trained, and how."),
        group="main",
        title=N_("Method"),
    ),
    Option(
        "epochs",
        "int",
        None,
        N_("Number of passes over the training data."),
        group="main",
        low=1,
        high=1000,
        title=N_("Epochs"),
        automatic=N_(
            "from the number of training documents and labels: up to 20 for a small set or many "
            "labels, 3 from some thousand documents, 1 from 100,000"
        ),
    ),
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
        "device",
        "text",
        "auto",
        N_("Device to train on: auto, cpu, cuda, cuda:1, mps."),
        choices=DEVICES,
        title=N_("Device"),
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
)
