"""Rows: tables with indexes and constraints, databases with their objects."""
