"""Why a claim is wrong, and why a gradient is not finite."""
