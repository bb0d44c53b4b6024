"""Buttons, fields, label bars, palettes and other single controls."""
