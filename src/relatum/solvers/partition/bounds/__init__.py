"""Bounds of clusterings from the cheap to the dear; `choose` says which one fits the time left.

Each is a function of the problem, of what is `Known` beside it, and of the control, and returns
a bound and its proof. `packing` and `guided` pack conflicts, `paths` and `triangles` improve what
has been packed by cutting planes, `blocks` does so block by block with rows `along` the partition,
`capped` adds what a cap says. This room imports `arrays` and
the relaxation of `exact`, and no search. Begin with `choose`.
"""
