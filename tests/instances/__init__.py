"""Random and small instances that several tests share, one module per kind of problem."""
