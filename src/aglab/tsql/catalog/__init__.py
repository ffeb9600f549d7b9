"""Catalogue views and DMVs: names, columns, types, and the rows the interpreter knows itself."""
