"""The main window: rail, menus, commands, keys, history, status."""
