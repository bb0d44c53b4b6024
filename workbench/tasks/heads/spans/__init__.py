"""Parts of tasks that predict labelled spans of words."""
