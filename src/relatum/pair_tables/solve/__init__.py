"""Components of a table in, clusters out, the same on every engine. Begin with `component`."""
