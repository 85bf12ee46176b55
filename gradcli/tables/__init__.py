"""Files and tables: reading them, and running the rows of one together."""
