"""Tables of pairs on one machine: files and frames larger than memory, read by DuckDB.

`engine` is the way from a table to its clusters: `reading`, `known`, `components`, `buckets`.
Imports duckdb and pyarrow, and of ours the modules beside this room and `solve`; nothing here
knows of Spark. Begin with `engine`.
"""

from relatum.pair_tables.on_duckdb.tables import open_table

__all__ = ["open_table"]
