"""Layer 1: documents, labels, spans and predictions as frozen values. numpy and regex only."""
