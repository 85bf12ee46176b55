"""The documentation's pages: what they show is what is printed."""
