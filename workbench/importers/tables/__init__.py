"""CSV, TSV and spreadsheets."""
