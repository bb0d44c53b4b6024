"""Any number of classes per document: an independent yes or no for each label."""
