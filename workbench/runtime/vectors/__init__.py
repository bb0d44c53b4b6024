"""Files of static word vectors: reading, memory-mapped tables, neighbours, evaluation. No torch."""
