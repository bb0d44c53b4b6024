"""One token per line with columns: CoNLL, CoNLL-U, WebAnno TSV."""
