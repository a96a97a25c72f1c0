"""What clusters of a table are proved by, and how that is checked: arrays in, yes or no out.

`gaps` bounds components, and pieces of them, in exact integers; `proofs` keeps what needs a proof
of its own in bundles; `container` is the file that holds a certificate; `verdict` is the answer.
This room imports `solve.batching`, problem, proof, io and a kernel of its own; nothing of solvers.
Begin with `gaps`.
"""
