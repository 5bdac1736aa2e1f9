"""Runs one stack's program in this process and writes its resource graph: ``python -m preview.worker --stack S …``."""
