"""ONNX, with tokenizer and labels, for use without torch."""
