"""Any number of classes per document: an independent binary decision for each label."""
