"""The command line: one module a verb, each imported only when it is called."""
