"""AWD-LSTM, the language model of ULMFiT, in the file format of fastai."""
