"""Tables of pairs on one machine: files and frames larger than memory, read by DuckDB.

`engine` is the way from a table to its clusters: `reading`, `known`, `components`, `buckets`.
Imports duckdb and pyarrow, and of ours the modules beside this room and `solve`; nothing here
knows of Spark. Begin with `engine`.
"""
