"""Builders of plan records, and a recorder of declared resources, for every test."""
