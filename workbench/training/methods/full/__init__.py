"""Train all parameters, or those above a frozen part."""
