"""Tables of pairs on Apache Spark: the pairs stay where they are, the clusters are made there.

The same steps as `relatum.pair_tables.on_duckdb`, in modules of the same names, with DataFrames
for arrays. Imports pyspark and pandas, and of ours `options`, `columns`, `result` and `solve`.
Begin with `engine`.
"""
