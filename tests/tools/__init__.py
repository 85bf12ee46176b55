"""Tools of those who change the package."""
