"""The local fleet: what previews declare on real control planes with simulated machines. Reads fleet and the preview's graphs."""
