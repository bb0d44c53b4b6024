"""A folder that `spacy.load` reads, with a component that predicts through onnxruntime."""
