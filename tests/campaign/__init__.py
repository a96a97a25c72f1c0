"""Campaigns against the library: many small problems, many certificates tampered with.

`python -m tests.campaign [problems|mutants|all] --count N --seed S --resume FILE` runs them, and
`test_campaign.py` runs a slice. What is true is found by trying every relation, in exact numbers
(`truth`), never by the library. Begin with `problems` and `mutants`.
"""
