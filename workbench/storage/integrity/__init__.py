"""Checks of a project file and recovery of a damaged one."""
