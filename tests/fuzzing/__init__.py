"""A campaign of odd input over every public function and command.

``python -m tests.fuzzing --count 100000 --seed 0`` runs it and prints counts; a slice of it is a
test (`tests/test_fuzzing.py`). Each case has a number, and ``--only NUMBER`` runs it again.

What must hold of every case: it succeeds, or raises an error of relatum, in one line; it ends in
seconds; answers are true (`relatum.verify`, and enumeration where that is possible); and where
there is an error, no file is left behind. Begin with `campaign`.
"""
