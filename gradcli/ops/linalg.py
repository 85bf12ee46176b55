"""Matrix products, determinants, inverses, norms."""
