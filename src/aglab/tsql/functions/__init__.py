"""Built-in scalar functions, by family."""
