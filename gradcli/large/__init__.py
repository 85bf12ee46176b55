"""Programs that are run once for many numbers: as a trace over tiles, or on columns."""
