"""Activations and the softmax family."""
