"""Cluster components: a frozen plan in, Pulumi resources and cluster facts out, one module per cloud behind one contract."""
