"""Measurements of how fast and how large things are. Only here does anything hold a timing; no test does."""
