"""Running statements: one module per family, mixed into :class:`aglab.tsql.execute.executor.Executor`."""
