"""BiLSTM taggers and classifiers over stacked embeddings, trained from scratch."""
