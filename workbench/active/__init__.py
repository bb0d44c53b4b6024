"""Active learning: in which order documents are labelled, and the linear model that orders them."""
