"""Text with labels: layout, drawing, caret, keys and accessibility of the text engine."""
