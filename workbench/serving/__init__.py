"""Answers over HTTP: a process of its own predicts with an exported ONNX model, without torch.

`run` is the target of its job, `app` the HTTP interface, `batches` the queue in front of the model;
`forms`, `hugging_face` and `label_studio` read requests and write answers.
"""
