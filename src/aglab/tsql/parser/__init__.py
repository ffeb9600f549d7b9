"""Recursive descent from tokens to statements."""
