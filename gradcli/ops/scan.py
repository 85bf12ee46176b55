"""Cumulative operations along one dimension."""
