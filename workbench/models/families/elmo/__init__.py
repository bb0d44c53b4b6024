"""ELMo: a bidirectional language model over characters, in the files of AllenNLP."""
