"""The queue of documents: order, filter, navigation."""
