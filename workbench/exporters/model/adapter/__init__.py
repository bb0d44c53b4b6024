"""The LoRA adapter of a run alone, in the format of peft."""
