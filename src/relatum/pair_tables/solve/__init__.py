"""Components in, clusters out: the same pure functions for every engine.

Arrays only: nothing here knows of tables, ids or engines. Imports `options`, the kernels, the
solvers and `relatum.infer`. Begin with `component`, then `batching`.
"""
