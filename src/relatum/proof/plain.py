"""The plain checker: a second opinion on a bundle, in one file, by the standard library alone.

``relatum-check BUNDLE`` (or ``python plain.py BUNDLE``) reads problem, relation and proof from a
bundle of version 2, laid out as docs/certificates.md says, and answers in one line: ``verified``
(exit code 0: the relation is feasible, its value is as stated, and no feasible relation has a
value above the stated bound), ``refused`` (1: a claim is not proved) or ``not checked`` (2: this
is no such bundle, or it is too large for a plain program).

Notation: x_ab is 1 if a is related to b, else 0; c_ab is the score of that; the value of a
relation is the sum of c_ab x_ab. Rows A x <= b that hold for every feasible relation prove, with
any multipliers y >= 0, that  value <= b y + the largest sum of (c - A'y) x,  where the largest
sum is taken over every two mirror pairs ab and ba on their own. A proof is a tree of such
statements; each node shows that no relation of a `View` has a value above a claim.

Every float is a whole multiple of 2**-1074. All numbers are counted in units of half of that, in
whole numbers of any size, so that nothing is ever rounded.
"""

from __future__ import annotations

import json
import math
import re
import sys
import zipfile
import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterable
from copy import copy
from itertools import combinations, pairwise, product
from typing import Any

LARGEST_FILE = 1 << 27  # bytes, unpacked
MOST_PAIRS = 4_000_000  # |A| |B|
MOST_WORK = 1_000_000_000  # pairs and terms of rows looked at, which takes some minutes
BIT = 1 << 1075  # units in a bit
OPTIMAL_GAP = BIT >> 20  # OPTIMAL says that no feasible relation is further above than this
OPEN = 2  # the state of a pair not known to be related (1) and not known to be unrelated (0)
PARTITION = {"reflexive", "symmetric", "transitive"}
ORDER = {"reflexive", "antisymmetric", "transitive", "connex"}
BETWEEN_TWO_SETS = {"has_image", "unique_image", "has_preimage", "unique_preimage"}
NEEDED = {"path": {"transitive"}, "half_dicycle": ORDER - {"reflexive"}, "at_most": set()}
NEEDED |= dict.fromkeys(("odd_wheel", "two_partition", "capped_set"), PARTITION - {"reflexive"})
EXCLUDED = {"symmetric": {(0, 1), (1, 0)}, "antisymmetric": {(1, 1)}, "connex": {(0, 0)}}
NPY = rb"\x93NUMPY\x01\0(..){'descr': '([<>|])(..)', 'fortran_order': False, 'shape': \((.*?)\)"
TYPES = dict(zip(re.findall("..", "b1i1i2i4i8u1u2u4u8f4f8"), "BbhiqBHIQfd", strict=True))
DAMAGE: tuple[type[Exception], ...] = (ArithmeticError, AttributeError, EOFError, LookupError)
DAMAGE += (OSError, RuntimeError, TypeError, ValueError, zipfile.BadZipFile, zlib.error)

Row = tuple[list[tuple[int, int, int]], int]  # terms (a, b, k), which are k x_ab, and right side
Todo = list[tuple["View", int, int]]  # what is left to prove: a view, the number of a node, a claim


class RefusedError(Exception):
    """A claim of the bundle is not proved."""


class NotCheckedError(Exception):
    """The file is no bundle, or it asks for too much."""


def require(condition: object, otherwise: str, error: type[Exception] = RefusedError) -> None:
    """Refuse the bundle unless the condition holds."""
    if not condition:
        raise error(otherwise)


def expect(condition: object, otherwise: str) -> None:
    """Give up on a file that is not what can be checked."""
    require(condition, otherwise, NotCheckedError)


def units(x: float) -> int:
    """Return a number in units."""
    numerator, denominator = x.as_integer_ratio()
    return numerator * (BIT // denominator)


def read_array(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> list[Any]:
    """Read an array in the format .npy, and not a byte more than the archive's index states."""
    expect(info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED), "it is packed oddly")
    with file.open(info) as stream:
        data = stream.read(info.file_size)  # without a size, all is unpacked before it is cut
    header = re.match(NPY, data, re.DOTALL)
    if header is None or len(data) != info.file_size:
        raise NotCheckedError(f"{info.filename} is no array of numbers, row by row, as stated")
    numbers = array(TYPES[header[3].decode()], data[10 + int.from_bytes(header[1], "little") :])
    if header[2] == (b">" if sys.byteorder == "little" else b"<"):
        numbers.byteswap()
    shape = [int(length) for length in header[4].split(b",") if length.strip()]
    expect(len(shape) in (1, 2) and math.prod(shape) == len(numbers), "an array has another shape")
    if len(shape) == 1:
        return numbers.tolist()
    return [numbers[k : k + shape[1]].tolist() for k in range(0, len(numbers), shape[1])]


def read_bundle(path: str) -> list[Any]:
    """Return problem, estimate and the nodes of the proof, with lists for arrays."""
    with zipfile.ZipFile(path) as file:
        entries = {info.filename.removesuffix(".npy"): info for info in file.infolist()}
        expect(len(entries) == len(file.infolist()), "two of its entries have the same name")
        size = sum(info.file_size for info in entries.values())
        expect(size <= LARGEST_FILE, f"it unpacks to {size} bytes; {LARGEST_FILE} are the most")
        expect(entries["manifest"].file_size <= LARGEST_FILE // 4, "its manifest is too large")
        arrays = {name: read_array(file, info) for name, info in entries.items()}
    manifest = json.loads(bytes(arrays.pop("manifest")).decode())

    def filled(value: Any) -> Any:
        if isinstance(value, dict) and value.keys() == {"array"}:
            return arrays.pop(f"a{value['array']}")  # a second reference finds nothing
        if isinstance(value, dict):
            return {key: filled(v) for key, v in value.items()}
        return [filled(v) for v in value] if isinstance(value, list) else value

    expect((manifest["format"], manifest["version"]) == ("relatum-estimate", 2), "not version 2")
    expect("scores" in manifest["problem"], "it holds only a fingerprint of its problem")
    found = [filled(manifest[key]) for key in ("problem", "estimate", "proof")]
    expect(not arrays, "it has arrays that nothing refers to")
    expect(manifest["nodes"] == len(found[2]), "its proof has not as many nodes as stated")
    return found


class View:
    """Relations with some properties and some known pairs; c and x: scores and states, by rows.

    If A and B are one (`square`), a pair and its mirror pair are one cell (i, j) of places in c
    and x; else each pair is a cell (i, i). A view is `empty` when a cell has no state left.
    """

    work = MOST_WORK

    def __init__(
        self, n: int, m: int, names: set[str], cap: Any, square: bool, c: list[int]
    ) -> None:
        self.n, self.m, self.names, self.cap, self.square, self.c = n, m, names, cap, square, c
        self.x, bits = bytearray([OPEN]) * (n * m), (0, 1)
        out = set().union(*(states for name, states in EXCLUDED.items() if name in names))
        joint = [state for state in product(bits, bits) if state not in out]
        self.joint = {
            (s, t): [(v, w) for v, w in joint if s in (v, OPEN) and t in (w, OPEN)]
            for s, t in product((*bits, OPEN), (*bits, OPEN))
        }
        self.empty = square and n > 1 and not joint
        for a in range(n if "reflexive" in names else 0):
            self.fix(a, a, 1)

    def spend(self, steps: int) -> None:
        """Count work, and give up when it is too much."""
        View.work -= steps
        expect(View.work >= 0, f"checking it takes more than {MOST_WORK} steps")

    def cell(self, a: int, b: int) -> tuple[int, int]:
        """Return the cell of a pair, its own place first."""
        require(0 <= a < self.n and 0 <= b < self.m, f"There is no pair ({a}, {b}).")
        return a * self.m + b, (b * self.m + a if self.square else a * self.m + b)

    def cells(self) -> list[tuple[int, int]]:
        """Return all cells."""
        n, m = self.n, self.m
        self.spend(n * m)
        if self.square:
            return [(a * n + b, b * n + a) for a in range(n) for b in range(a, n)]
        return [(i, i) for i in range(n * m)]

    def states(self, i: int, j: int) -> list[tuple[int, int]]:
        """Return the states (of pair, of mirror pair) that are left to a cell."""
        if i != j:
            return self.joint[self.x[i], self.x[j]]
        return [(v, 0) for v in (0, 1) if self.x[i] in (v, OPEN)]

    def fix(self, a: int, b: int, value: int) -> None:
        """Note that a pair is related or not, and what follows for its mirror pair."""
        i, j = self.cell(a, b)
        self.empty |= self.x[i] == 1 - value
        self.x[i] = value
        left = {w for _, w in self.states(i, j)}
        self.empty |= not left
        if i != j and len(left) == 1:
            self.x[j] = left.pop()

    def fixing(self, *facts: tuple[int, int, int]) -> View:
        """Return the view in which some more pairs are known."""
        self.spend(self.n * self.m // 8)
        view = copy(self)
        view.x = self.x[:]
        for a, b, value in facts:
            view.fix(a, b, value)
        return view

    def most(self, r: list[int], cells: Iterable[tuple[int, int]]) -> int:
        """Return the largest sum of r x over some cells, each on its own."""
        return sum(max(v * r[i] + w * r[j] for v, w in self.states(i, j)) for i, j in cells)

    def above(self, claim: int) -> int:
        """Return the least value above the claim that there can be: values are offset + k step."""
        step = offset = 0
        for i, j in self.cells():
            first, *others = (v * self.c[i] + w * self.c[j] for v, w in self.states(i, j))
            step, offset = math.gcd(step, *(value - first for value in others)), offset + first
        return offset + ((claim - offset) // step + 1) * step if step else max(offset, claim + 1)

    def prove(self, bound: int, claim: int, otherwise: str) -> None:
        """Refuse a bound that leaves a value above the claim."""
        require(bound <= claim or bound < self.above(claim), otherwise)

    def below(self) -> int:
        """Return a number below all values: to claim it is to claim that there is no relation."""
        return -sum(map(abs, self.c)) - 1

    def image(self, labels: list[int], c: list[int]) -> View:
        """Return the view of classes of elements with equal labels; their scores are sums of c.

        Elements with label -1 are left out. Subsets inherit all but the existence of images.
        """
        n, number = self.n, {label: k for k, label in enumerate(sorted({*labels} - {-1}))}
        k, exist = len(number), {"has_image", "has_preimage"}
        names = self.names if "reflexive" in self.names else self.names - exist
        view, of = View(k, k, names, self.cap, True, [0] * (k * k)), [number.get(g) for g in labels]
        self.spend(n * n)
        for i, state in enumerate(self.x):
            a, b = of[i // n], of[i % n]
            if a is not None and b is not None:
                view.c[a * k + b] += c[i]
                if state != OPEN:
                    view.fix(a, b, state)
        return view

    def known_sets(self) -> list[int]:
        """Return labels 0, 1, ...: equal ones where related pairs connect two elements."""
        require(self.names >= PARTITION, "This is about equivalence relations only.")
        labels, n = list(range(self.n)), self.n
        for i in (i for i, state in enumerate(self.x) if state == 1):
            a, b = labels[i // n], labels[i % n]
            labels = labels if a == b else [a if label == b else label for label in labels]
        number = {label: k for k, label in enumerate(sorted({*labels}))}
        return [number[label] for label in labels]


def write_row(view: View, family: str, index: list[int]) -> Row:  # noqa: C901 (a case per family)
    """Write a row down that every relation of the view satisfies; -1 fills up its index."""
    index = index[: max((k for k, a in enumerate(index, start=1) if a != -1), default=0)]
    n, m, cap, few = view.n, view.m, view.cap or math.inf, len(index) <= view.n + 1
    distinct = few and len({*index}) == len(index)
    require(view.names >= NEEDED.get(family, {family}), f"Rows {family} need not hold.")
    match family, index:
        case "transitive", [a, b, c]:
            return [(a, b, 1), (b, c, 1), (a, c, -1)], 1
        case "path", [a, *_, b]:  # transitivity, repeated
            return [*((p, q, 1) for p, q in pairwise(index)), (a, b, -1)], len(index) - 2
        case "symmetric", [a, b]:
            return [(a, b, 1), (b, a, -1)], 0
        case "antisymmetric", [a, b] if distinct:
            return [(a, b, 1), (b, a, 1)], 1
        case "connex", [a, b] if distinct:
            return [(a, b, -1), (b, a, -1)], -1
        case "has_image", [a]:
            return [(a, b, -1) for b in range(m)], -1
        case "at_most", [a, k] if k >= cap:
            return [(a, b, 1) for b in range(m)], k
        case "has_preimage", [b]:
            return [(a, b, -1) for a in range(n)], -1
        case "unique_preimage", [b]:
            return [(a, b, 1) for a in range(n)], 1
        case "odd_wheel", [c, *v] if distinct and len(v) > 2 and len(v) % 2:
            # it counts runs of neighbours related to c: in a circle of k, odd, at most (k - 1) / 2
            rim = [(p, q, -1) for p, q in pairwise([*v, v[0]])]
            return [*((c, p, 1) for p in v), *rim], len(v) // 2
        case "two_partition", [_, *_] if distinct and -1 in index[1:]:
            # s and t elements of one set: s t - s (s - 1) / 2 - t (t - 1) / 2 <= min(s, t)
            S, T = index[: index.index(-1)], index[index.index(-1) + 1 :]
            inner = [(p, q, -1) for U in (S, T) for p, q in combinations(U, 2)]
            return [*((p, q, 1) for p in S for q in T), *inner], min(len(S), len(T))
        case "capped_set", [k, *T] if k >= cap and few and len({*T}) == len(T):
            # pairs within sets are most if as many sets as can be are full
            full, rest = divmod(len(T), k)
            pairs = full * (k * (k - 1) // 2) + rest * (rest - 1) // 2
            return [(p, q, 1) for p, q in combinations(T, 2)], pairs
        case "half_dicycle", [*_] if len(index) % 3 == 0:
            return half_of_sum(index)
    raise RefusedError(f"A row {family} {index[:9]} does not hold for every feasible relation.")


def half_of_sum(index: list[int]) -> Row:
    """Halve a sum of rows x_ab + x_bc - x_ac <= 1 (or x_ab <= 1, if b = c), and round down.

    With x_ba = 1 - x_ab all coefficients must be even: then half the left side is whole.
    """
    total: defaultdict[tuple[int, int], int] = defaultdict(int)
    right = len(index) // 3
    for a, b, c in zip(index[::3], index[1::3], index[2::3], strict=True):
        require(a not in (b, c), "A row of a sum is not about different elements.")
        for p, q, k in [(a, b, 1), (b, c, 1), (a, c, -1)][: 1 if b == c else 3]:
            total[min(p, q), max(p, q)] += k if p < q else -k
            right -= 0 if p < q else k
    require(not any(k % 2 for k in total.values()), "Half a sum of rows is not whole.")
    return [(a, b, k // 2) for (a, b), k in total.items()], right // 2


def residual(view: View, cuts: Any, c: list[int]) -> tuple[list[int], int, set[tuple[int, int]]]:
    """Return c - A'y, b y and the cells touched, of rows A x <= b with multipliers y."""
    r, constant, touched = c[:], 0, set()
    for cut in cuts:
        for index, multiplier in zip(cut["index"], cut["multipliers"], strict=True):
            y, (terms, right) = units(multiplier), write_row(view, cut["family"], index)
            require(y >= 0, "A multiplier is negative.")
            view.spend(len(terms))
            constant += y * right
            for a, b, k in terms:
                i, j = view.cell(a, b)
                touched.add((min(i, j), max(i, j)))
                r[i] -= y * k
    return r, constant, touched


def impossible(view: View, cuts: Any) -> bool:
    """Say whether rows with multipliers cannot all hold: they bound zero by less."""
    r, constant, touched = residual(view, cuts, [0] * len(view.c))
    return view.empty or constant + view.most(r, touched) < 0


def leaf(view: View, claim: int, node: Any) -> Todo:
    """Rows bound the value; in sets of at most k elements, also by the partners of each element.

    An element has at most k - 1 others in its set. Half of what it has with these counts.
    """
    if node["infeasible"]:
        require(impossible(view, node["cuts"]), "A leaf is not proved to be infeasible.")
        return []
    r, constant, _ = residual(view, node["cuts"], view.c)
    bound, n = constant + view.most(r, view.cells()), view.n
    if bound > claim and view.cap and view.names >= PARTITION:
        twice = 0
        for a in range(n):
            pairs = [(view.x[a * n + b], r[a * n + b] + r[b * n + a]) for b in range(n)]
            known = [w for state, w in pairs if state == 1]  # among these, with itself
            gains = sorted((w for state, w in pairs if state == OPEN and w > 0), reverse=True)
            twice += sum(known) + sum(gains[: max(0, view.cap - len(known))])
        bound = min(bound, constant + twice // 2)
    view.prove(bound, claim, "The rows of a leaf do not prove the claimed bound.")
    return []


def branch(view: View, claim: int, node: Any) -> Todo:
    """Split: a pair is unrelated, or it is related."""
    a, b = node["pair"]
    no, yes = view.fixing((a, b, 0)), view.fixing((a, b, 1))
    return [(no, node["unrelated"], claim), (yes, node["related"], claim)]


def fix(view: View, claim: int, node: Any) -> Todo:
    """Pairs take one value, as relations with the other one are not above the claim."""
    r, constant, _ = residual(view, node["cuts"], view.c)
    total = constant + view.most(r, view.cells())
    facts = [(a, b, v) for (a, b), v in zip(node["pairs"], node["values"], strict=True)]
    for a, b, value in facts:
        i, j = view.cell(a, b)
        for v, w in view.states(i, j):
            bound = total - view.most(r, [(i, j)]) + v * r[i] + w * r[j]
            if v != value:
                view.prove(bound, claim, f"Pair ({a}, {b}) may have the other value.")
    return [(view.fixing(*facts), node["then"], claim)]


def imply(view: View, claim: int, node: Any) -> Todo:
    """Pairs take one value, one after the other, as a row excludes the other one."""
    view, families = view.fixing(), [node["families"]["names"][k] for k in node["families"]["of"]]
    steps = zip(families, node["rows"], node["pairs"], node["values"], strict=True)
    for family, row, (a, b), value in steps:
        cut = {"family": family, "index": [row], "multipliers": [1.0]}
        implied = view.empty or impossible(view.fixing((a, b, 1 - value)), [cut])
        require(implied, f"Row {family} {row} does not imply the value of pair ({a}, {b}).")
        view.fix(a, b, value)
    return [(view, node["then"], claim)]


def decompose(view: View, claim: int, node: Any) -> Todo:
    """Disjoint sets of elements are bounded one by one, and all other cells on their own.

    A part with the bound -inf is claimed to have no relation; then there is none at all.
    """
    require(view.square, "Only relations on one set decompose.")
    n, owner, todo, bounds = view.n, [-1] * view.n, [], node["bounds"]
    for number, ((elements, child), bound) in enumerate(zip(node["parts"], bounds, strict=True)):
        labels = [-1] * n
        require(elements, "A part of a decomposition is empty.")  # rows might say 0 <= -1 of it
        for place, a in enumerate(elements):
            require(0 <= a < n and owner[a] < 0, "Parts of a decomposition overlap.")
            owner[a], labels[a] = number, place
        part = view.image(labels, view.c)
        todo.append((part, child, part.below() if bound == -math.inf else units(bound)))
    rest = [(i, j) for i, j in view.cells() if owner[i // n] < 0 or owner[i // n] != owner[i % n]]
    total = view.most(view.c, rest) + sum(bound for _, _, bound in todo)
    if -math.inf not in bounds:
        view.prove(total, claim, "Bounds of parts add up to more than is claimed.")
    return todo


def contract(view: View, claim: int, node: Any) -> Todo:
    """Elements that are known to be related are one."""
    joined = {*zip(node["labels"], view.known_sets(), strict=True)}
    known = min(node["labels"]) >= 0 and len(joined) == len({*node["labels"]})
    require(known, "Contracted elements need not be related.")
    return [(view.image(node["labels"], view.c), node["then"], claim)]


def merge(view: View, claim: int, node: Any) -> Todo:
    """Alike elements of a linear order are one, as some best order has them side by side.

    Of two groups of them that are apart, one can move to the other without loss.
    """
    n, c, labels = view.n, view.c, node["labels"]
    fits = view.names >= ORDER and len(labels) == n and min(labels) >= 0
    require(fits, "Only elements of linear orders are merged.")
    for a, b in ((labels.index(label), b) for b, label in enumerate(labels)):
        others = [e for e in range(n) if e not in (a, b)]
        lines = [[(c[e * n + o], c[o * n + e]) for o in others] for e in (a, b)]
        known = [e for e in (a, b) for o in range(n) if o != e and view.x[e * n + o] != OPEN]
        alike = lines[0] == lines[1] and c[a * n + b] == c[b * n + a] and not known
        require(a == b or alike, f"Elements {a} and {b} are merged but not alike.")
    # both orders of two alike elements are worth the same, and one of them counts
    once = [0 if i // n < i % n and labels[i // n] == labels[i % n] else s for i, s in enumerate(c)]
    return [(view.image(labels, once), node["then"], claim)]


def prices(view: View, claim: int, node: Any) -> Todo:
    """Every element is in one set: if none is above its elements' prices, these are a bound.

    Sets of elements known to be related are joined, one by one, to larger ones. What more of them
    can add is their gain with those joined so far, and half of what they have among each other.
    """
    r, base, _ = residual(view, node["cuts"], view.c)
    labels, n, cap = view.known_sets(), view.n, view.cap or view.n
    sets = view.image(labels, r)
    k, c, sizes = sets.n, sets.c, [labels.count(g) for g in range(sets.n)]
    gains = [c[g * k + g] for g in range(k)]
    for a, price in zip(range(n), node["prices"], strict=True):
        own = units(price) + r[a * n + a]  # prices are for pairs of two elements
        base, gains[labels[a]] = base + own, gains[labels[a]] - own
    if sets.empty or max(sizes) > cap:
        return []  # there is no relation
    spare = view.above(claim) - base  # k sets together are less than this above their prices
    require(spare > 0, "Prices of elements do not prove the claimed bound.")
    w = [[c[g * k + h] + c[h * k + g] for h in range(k)] for g in range(k)]
    good = [[g != h and sets.x[g * k + h] != 0 for h in range(k)] for g in range(k)]
    best = [
        sorted(max(0, v) // 2 for v, ok in zip(w[g], good[g], strict=True) if ok) for g in range(k)
    ]
    todo = [(0, cap, [*enumerate(gains)])]  # the gain of a set, the room left, who may join
    while todo:
        worth, room, candidates = todo.pop()
        for place, (g, gain) in enumerate(candidates, start=1):
            total, left, rest = worth + gain, room - sizes[g], candidates[place:]
            require(k * total < spare, "A set is worth more than the prices of its elements.")
            view.spend(len(rest) * min(cap, k))
            more = [(h, v + w[g][h]) for h, v in rest if good[g][h] and sizes[h] <= left]
            hopes = sorted(v + sum(best[h][max(0, len(best[h]) - left + 1) :]) for h, v in more)
            if more and k * (total + sum(max(0, hope) for hope in hopes[-left:])) >= spare:
                todo.append((total, left, more))
    return []


def subset_order(view: View, claim: int, node: Any) -> Todo:
    """Follow all sets of elements that may come first in an order above the claim.

    An order loses c_ab - c_ba if b comes before a although a before b is worth more. Around a
    cycle a, b, c every order loses something; cycles of elements still to come are counted.
    """
    require(view.names >= ORDER, "Subsets are about linear orders.")
    n, c, x = range(view.n), view.c, view.x
    spare = view.most(c, view.cells()) - view.above(claim)  # what such an order may lose
    must = [[a != b and x[a * len(n) + b] == 1 for b in n] for a in n]
    gain = [[c[a * len(n) + b] - c[b * len(n) + a] for b in n] for a in n]
    loss = [[0 if must[a][b] or must[b][a] else max(0, gain[a][b]) for b in n] for a in n]
    view.spend(len(n) ** 3)
    cycles = packed_cycles(loss, must)
    layer = {0: 0} if spare >= 0 else {}  # who comes first, as bits, and what is lost at least
    for _ in n:
        longer: dict[int, int] = {}
        for done, lost in layer.items():
            rest = [a for a in n if not done >> a & 1]
            view.spend(len(rest) * (len(rest) + len(cycles)))
            for b in (b for b in rest if not any(must[a][b] for a in rest)):
                now, total = done | 1 << b, lost + sum(loss[a][b] for a in rest)
                if total + sum(least for cycle, least in cycles if not cycle & now) <= spare:
                    longer[now] = min(total, longer.get(now, total))
        layer = longer
    require(not layer, "There is a linear order above the claimed bound.")
    return []


def packed_cycles(loss: list[list[int]], must: list[list[bool]]) -> list[tuple[int, int]]:
    """Return threes of elements, as bits, with what all orders lose there; no loss counts twice."""
    n, endless, cycles = range(len(loss)), 1 + sum(map(sum, loss)), []
    rest = [[endless if must[a][b] else loss[a][b] for b in n] for a in n]
    for a, b, c in ((a, b, c) for a, b in product(n, n) if loss[a][b] for c in n):
        least = min(rest[a][b], rest[b][c], rest[c][a])
        if least > 0:
            cycles.append((1 << a | 1 << b | 1 << c, least))
            for p, q in ((a, b), (b, c), (c, a)):
                rest[p][q] -= least
    return cycles


NODES = {"Leaf": leaf, "Branch": branch, "Fix": fix, "Imply": imply, "Decompose": decompose}
NODES |= {"Contract": contract, "Merge": merge, "Prices": prices, "SubsetOrder": subset_order}


def problem_view(problem: Any) -> View:
    """Return the view of the problem that the bundle is about."""
    (n, m), names, given = problem["shape"], {*problem["properties"]}, problem["scores"]
    expect(min(n, m) > 0 and n * m <= MOST_PAIRS, f"it has {n} x {m} pairs, not 1 to {MOST_PAIRS}")
    square, kind = bool(problem["groups"] or names & (PARTITION | ORDER)), given["pairs"]
    require(names <= PARTITION | ORDER | BETWEEN_TWO_SETS, "A property is unknown.")
    require(n == m or not square, "Properties of relations on one set, but there are two.")
    require(kind in ("all", "ordered", "unordered"), "Which pairs are scored?")
    cap = 1 if "unique_image" in names else problem["cap"]
    require(cap is None or cap >= 1, "A cap is at least 1.")
    ordered = [(a, b) for a, b in product(range(n), range(m)) if a != b or kind == "all"]
    scored = [(a, b) for a, b in ordered if a < b or kind != "unordered"]
    listed = [*zip(given["i"], given["j"], strict=True)] if "i" in given else scored
    require(len({*listed}) == len(listed), "A pair is listed twice.")
    require(kind != "unordered" or "symmetric" in names, "Pairs have a direction, but no scores.")
    c, background = [0] * (n * m), units(float(given["background"]))
    for a, b in scored:
        c[a * m + b] = background
    for (a, b), score in zip(listed, given["log_odds"], strict=True):
        require(0 <= a < n and 0 <= b < m and (a <= b or kind != "unordered"), "No such pair.")
        c[a * m + b] = units(score)
    view = View(n, m, names, cap, square, c)
    for value, key in enumerate(("unrelated", "related")):
        for a, b in problem[key]:
            view.fix(a, b, value)
    for group in problem["groups"]:
        for a, b in ((a, b) for a, b in ordered if a != b and group[a] == group[b]):
            view.fix(a, b, 0)
    return view


def check_relation(view: View, relation: Any) -> int:
    """Check that a relation is feasible; return its value in units."""
    kind, of, names, n, m = relation["kind"], relation["of"][0], view.names, view.n, view.m
    tests: dict[str, Any] = {
        "Relation": lambda a, b: of[a][b],
        "Map": lambda a, b: of[a] == b,
        "Partition": lambda a, b: of[a] == of[b],
        "LinearOrder": lambda a, b: of[a] <= of[b],
    }
    related = tests[{"PartialMap": "Map", "WeakOrder": "LinearOrder"}.get(kind, kind)]
    require(len(of) == n, "The relation is not about these elements.")
    y = bytes(bool(related(a, b)) for a in range(n) for b in range(m))
    fits = all((y[i], y[j] * (i != j)) in view.states(i, j) for i, j in view.cells())
    require(fits and not view.empty, "Two mirror pairs break a property or the evidence.")
    images, preimages = (
        [sum(y[a * m : a * m + m]) for a in range(n)],
        [sum(y[b::m]) for b in range(m)],
    )
    require("has_image" not in names or all(images), "An element has no image.")
    require("has_preimage" not in names or all(preimages), "An element has no preimage.")
    require("unique_preimage" not in names or max(preimages) < 2, "It has several preimages.")
    require(not view.cap or max(images) <= view.cap, "An element has too many images.")
    if "transitive" in names:
        rows = [sum(1 << b for b in range(n) if y[a * n + b]) for a in range(n)]  # as bits
        breaks = (a for a in range(n) for b in range(n) if y[a * n + b] and rows[b] & ~rows[a])
        require(next(breaks, None) is None, "The relation is not transitive.")
    return sum(score for score, one in zip(view.c, y, strict=True) if one)


def check_estimate(view: View, e: Any) -> int | None:
    """Check everything but the proof; return the claim that is to be proved, if there is one."""
    status, value, bound = e["status"], float(e["value"]), float(e["bound"])
    proved = math.inf if e["certificate"] is None else float(e["certificate"])
    require(status in ("OPTIMAL", "FEASIBLE", "BOUND_ONLY", "INFEASIBLE"), "Unknown status.")
    require(proved <= bound, "A better bound is claimed than there is a proof of.")
    require((bound == -math.inf) == (status == "INFEASIBLE"), "Only INFEASIBLE has the bound -inf.")
    claim = units(proved) if math.isfinite(proved) else view.below() if proved < 0 else None
    if e["relation"] is None:
        require(status in ("BOUND_ONLY", "INFEASIBLE"), f"{status} without a relation.")
        require(value == -math.inf, "A value is claimed without a relation.")
        return None if bound == math.inf else claim
    exact = check_relation(view, e["relation"])
    require(exact / BIT == value, f"The value is {exact / BIT!r}, but {value!r} is claimed.")
    require(bound == math.inf or units(bound) >= exact, "The bound is below the value.")
    if status != "OPTIMAL":
        return None if bound == math.inf else claim
    # where values are large, the next float may be farther above than the gap
    near = max(exact + OPTIMAL_GAP, units(math.nextafter(value, math.inf)))
    require(claim is not None and units(bound) <= near, "OPTIMAL, but the bound is too far above.")
    return min(claim or 0, exact + OPTIMAL_GAP)


def check(path: str) -> str:
    """Check a bundle; return a sentence on what is proved."""
    try:
        problem, estimate, nodes = read_bundle(path)
    except DAMAGE as error:
        raise NotCheckedError(f"it is no bundle, or it is damaged ({error})") from error
    View.work, seen, held = MOST_WORK, set(), 0
    try:
        view = problem_view(problem)
        claim = check_estimate(view, estimate)
        todo = [] if claim is None else [(view, 0, claim)]
        while todo:
            here, number, claim = todo.pop()
            require(number >= 0 and number not in seen, f"Node {number} is used twice, in no tree.")
            seen.add(number)
            node = nodes[number]
            rests_on = [] if here.empty else NODES[node["type"]](here, claim, node)
            held += sum(len(below.x) for below, _, _ in rests_on) - len(here.x)
            expect(held <= MOST_WORK, "it takes too much memory")
            todo += rests_on
    except DAMAGE as error:
        raise RefusedError(f"The bundle is malformed ({type(error).__name__}: {error}).") from error
    words = f"{estimate['status']}, value {estimate['value']} bits, bound {estimate['bound']} bits"
    return f"{words}, {view.n} x {view.m} elements, {len(nodes)} nodes of a proof."


def main() -> int:
    """Check the bundle named on the command line; return the exit code."""
    try:
        expect(len(sys.argv) == 2, "usage: relatum-check BUNDLE.npz")
        print("verified:", check(sys.argv[1]))
    except RefusedError as reason:
        print("refused:", reason)
        return 1
    except NotCheckedError as reason:
        print("not checked:", reason)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
