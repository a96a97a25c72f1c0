"""Maximally probable constrained relations: maps, equivalence relations, linear orders."""

__version__ = "0.1.0"
