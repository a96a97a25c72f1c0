"""Nodes become proofs: branches, deductions and leaves in their places."""

from __future__ import annotations

import math

import numpy as np

import relatum as rt
from relatum.proof.certificate import Branch, Certificate, Fix, Imply, Leaf
from relatum.proof.checker.verification import check_certificate
from relatum.proof.propagation import Propagator
from relatum.solvers.general.node import Node


def closed(problem):
    propagator = Propagator(problem.feasible)
    return propagator, propagator.close_all(problem.state)


def test_a_tree_of_two_leaves_is_a_branch_that_verifies():
    problem = rt.Problem([3.0, -5.0, 3.0], rt.EQUIVALENCES)
    propagator, closure = closed(problem)
    root = Node(closure.state, math.inf, steps=[closure])
    children = []
    for value in (0, 1):
        step = propagator.close(closure.state, np.array([[0, 1]]), np.array([value]))
        children.append(Node(step.state, 6.0, steps=[step]))
    root.branching, root.children = (0, 1), tuple(children)
    proof = root.proof()
    while isinstance(proof, Imply):
        proof = proof.then
    assert isinstance(proof, Branch)
    check_certificate(problem, Certificate(6.0, root.proof()))


def test_fixings_are_wrapped_around_what_follows():
    problem = rt.Problem([4.0, -5.0, 1.0], rt.EQUIVALENCES)
    propagator, closure = closed(problem)
    # unrelated, 0 and 1 leave at most 1; so they are related if 4 is to be reached
    step = propagator.close(closure.state, np.array([[0, 1]]), np.array([1]))
    node = Node(step.state, 5.0, steps=[closure, ((), step)])
    proof = node.proof()
    while isinstance(proof, Imply):
        proof = proof.then
    assert isinstance(proof, Fix)
    assert proof.pairs.tolist() == [[0, 1]]
    check_certificate(problem, Certificate(5.0, node.proof()))


def test_deep_trees_need_no_recursion():
    problem = rt.Problem(np.zeros((2, 2)))
    node = root = Node(problem.state, 0.0)
    for _ in range(5000):
        leaf, child = Node(problem.state, 0.0), Node(problem.state, 0.0)
        node.branching, node.children = (0, 1), (leaf, child)
        node = child
    proof = root.proof()
    check_certificate(problem, Certificate(0.0, proof))
    assert Certificate(0.0, proof).counts()["branches"] == 5000


def test_a_leaf_is_a_leaf():
    proof = Node(np.full((2, 2), -1, np.int8), 1.0).proof()
    assert isinstance(proof, Leaf)
    assert not proof.infeasible
