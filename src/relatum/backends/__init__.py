"""Native solvers behind one small protocol; each is imported on first use."""
