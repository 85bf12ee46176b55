"""Speed, as ratios to peers in one run: ``python -m tests.bench``."""
