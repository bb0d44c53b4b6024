"""What the columns of tables and the fields of JSON objects hold, in any format."""
