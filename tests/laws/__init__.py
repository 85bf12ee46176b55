"""The laws that every row of the table has to obey, on every one of its cases."""
