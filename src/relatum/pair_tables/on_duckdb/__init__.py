"""Tables of pairs on one machine, read with DuckDB. Begin with `engine`."""
