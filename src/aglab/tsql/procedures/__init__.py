"""System procedures."""
