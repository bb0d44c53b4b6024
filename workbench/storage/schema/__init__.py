"""Tables, their versions and the values of their columns."""
