"""Expressions and queries compiled to closures over a frame of current rows."""
