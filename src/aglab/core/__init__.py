"""Units, SQL types, counter names, errors and progress: what every other room speaks in.

Nothing here knows about simulation, wire or files; it imports only the standard library.
"""
