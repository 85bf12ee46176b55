"""Verdicts: the number systems of the witnesses, and what they prove or refute."""
