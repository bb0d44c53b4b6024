"""What several pages know about the open project."""
