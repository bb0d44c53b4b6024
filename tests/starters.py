"""The names of the models that ship with the application, in the order of lists."""

STARTERS = (
    "starter-bert",
    "starter-elmo",
    "starter-flair-backward",
    "starter-flair-forward",
    "starter-glove",
    "starter-gpt",
    "starter-ulmfit-backward",
    "starter-ulmfit-forward",
    "starter-vectors",
)
SHIPPED = (*STARTERS, "bilstm")  # an architecture without weights is listed last
