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
from collections.abc import Iterable, Sequence
from copy import copy
from itertools import accumulate, combinations, pairwise, product
from typing import Any

LARGEST_FILE = 1 << 27  # bytes, unpacked
MOST_PAIRS = 2_000_000  # |A| |B|
MOST_WORK = 1_000_000_000  # pairs and terms of rows looked at, which takes some minutes
BIT = 1 << 1075  # units in a bit
OPTIMAL_GAP = BIT >> 20  # OPTIMAL says that no feasible relation is further above than this
OPEN = 2  # the state of a pair not known to be related (1) and not known to be unrelated (0)
PARTITION, ORDER = (
    {"reflexive", "symmetric", "transitive"},
    {"antisymmetric", "transitive", "connex"},
)
ON_ONE_SET, ON_TWO = (
    PARTITION | ORDER,
    {"has_image", "unique_image", "has_preimage", "unique_preimage"},
)
NEEDED = {"odd_wheel": PARTITION, "two_partition": PARTITION, "capped_set": PARTITION}
NEEDED |= {"path": {"transitive"}, "half_dicycle": ORDER, "at_most": set()}
NPY = rb"\x93NUMPY\1\0(..){'descr': '([<>|])([biuf]\d)', 'fortran_order': False, 'shape': \((.*?)\)"
TYPES = dict(zip("b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f8".split(), "BbhiqBHIQfd", strict=True))
DAMAGE = (ArithmeticError, AttributeError, EOFError, LookupError, OSError, RuntimeError, TypeError)
DAMAGE += (ValueError, zipfile.BadZipFile, zlib.error)

Row = tuple[list[tuple[int, int, int]], int]  # terms (a, b, k), which are k x_ab, and right side
Todo = list[tuple["View", int, int]]  # what is left to prove: a view, the number of a node, a claim


class Refused(Exception):
    """A claim of the bundle is not proved."""


class NotChecked(Exception):
    """The file is no bundle, or it asks for too much."""


def require(condition: object, otherwise: str, error: type[Exception] = Refused) -> None:
    """Refuse the bundle unless the condition holds."""
    if not condition:
        raise error(otherwise)


def units(x: float) -> int:
    """Return a number in units."""
    numerator, denominator = x.as_integer_ratio()
    return numerator * (BIT // denominator)


def read_array(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> list[Any]:
    """Read an array in the format .npy, and not a byte more than the archive's index states."""
    longer = copy(info)
    longer.file_size += 1
    with file.open(longer) as stream:
        data = stream.read(info.file_size + 1)
    header = re.match(NPY, data, re.DOTALL)
    if header is None or len(data) != info.file_size:
        raise NotChecked(f"{info.filename} is no array of numbers, row by row, as stated")
    numbers = array(TYPES[header[3].decode()], data[10 + int.from_bytes(header[1], "little") :])
    if header[2] == (b">" if sys.byteorder == "little" else b"<"):
        numbers.byteswap()
    height, *width = (int(length) for length in header[4].split(b",") if length.strip())
    require(height * math.prod(width) == len(numbers) and len(width) < 2, "bad shape", NotChecked)
    rows = range(0, len(numbers), *width) if width else ()
    return [numbers[k : k + width[0]].tolist() for k in rows] if width else numbers.tolist()


def read_bundle(path: str) -> list[Any]:
    """Return problem, estimate and the nodes of the proof, with lists for arrays."""
    with zipfile.ZipFile(path) as file:
        entries = {info.filename.removesuffix(".npy"): info for info in file.infolist()}
        require(len(entries) == len(file.infolist()), "two entries have one name", NotChecked)
        size = sum(info.file_size for info in entries.values())
        require(size <= LARGEST_FILE, f"it unpacks to {size} bytes, too many", NotChecked)
        arrays = {name: read_array(file, info) for name, info in entries.items()}
    text = bytes(arrays.pop("manifest"))
    brackets = b"".join(re.findall(rb"[][{}]", re.sub(rb'"(?:[^"\\]|\\.)*"', b"", text)))
    depth = max(accumulate(1 if bracket in b"[{" else -1 for bracket in brackets))
    require(depth <= 12, "its manifest is nested too deeply", NotChecked)

    def filled(value: Any) -> Any:
        if isinstance(value, dict) and value.keys() == {"array"}:
            return arrays.pop(f"a{value['array']}")  # a second reference finds nothing
        if isinstance(value, dict):
            return {key: filled(v) for key, v in value.items()}
        return [filled(v) for v in value] if isinstance(value, list) else value

    manifest = json.loads(text)
    whole = (manifest["format"], manifest["version"]) == ("relatum-estimate", 2)
    require(whole and len(manifest["proof"]) == manifest["nodes"], "not as stated", NotChecked)
    require("scores" in manifest["problem"], "it holds a problem's fingerprint only", NotChecked)
    found = [filled(manifest[key]) for key in ("problem", "estimate", "proof")]
    require(not arrays, "it has arrays that nothing refers to", NotChecked)
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
        self.x = bytearray([OPEN]) * (n * m)
        joint = [s for s in product((0, 1), (0, 1)) if "symmetric" not in names or s[0] == s[1]]
        joint = [s for s in joint if "antisymmetric" not in names or s != (1, 1)]
        joint = [s for s in joint if "connex" not in names or s != (0, 0)]
        every = [*product((0, 1, OPEN), (0, 1, OPEN))]
        self.joint = {
            (s, t): [(v, w) for v, w in joint if s in (v, OPEN) and t in (w, OPEN)]
            for s, t in every
        }
        self.empty = square and n > 1 and not joint
        for a in range(n if "reflexive" in names else 0):
            self.fix(a, a, 1)

    def spend(self, steps: int) -> None:
        """Count work, and give up when it is too much."""
        View.work -= steps
        require(View.work >= 0, f"checking it takes more than {MOST_WORK} steps", NotChecked)

    def cell(self, a: int, b: int) -> tuple[int, int]:
        """Return the cell of a pair, its own place first."""
        require(0 <= a < self.n and 0 <= b < self.m, f"There is no pair ({a}, {b}).")
        return a * self.m + b, (b * self.m + a if self.square else a * self.m + b)

    def cells(self) -> list[tuple[int, int]]:
        """Return all cells."""
        self.spend(self.n * self.m)
        n, m = self.n, self.m
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

    def top(self, r: Any, i: int, j: int) -> int:
        """Return the most that a cell adds to the sum of r x."""
        return max(v * r[i] + w * r[j] for v, w in self.states(i, j))

    def most(self, r: Any, cells: Iterable[tuple[int, int]]) -> int:
        """Return the largest sum of r x over some cells."""
        return sum(self.top(r, i, j) for i, j in cells)

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

    def image(self, labels: Sequence[int], c: list[int]) -> View:
        """Return the view of classes of elements with equal labels; their scores are sums of c.

        Elements with label -1 are left out. Subsets inherit all but the existence of images.
        """
        number = {label: k for k, label in enumerate(sorted({*labels} - {-1}))}
        k, gone = (
            len(number),
            {"has_image", "has_preimage"} if "reflexive" not in self.names else {},
        )
        view = View(k, k, self.names - set(gone), self.cap, True, [0] * (k * k))
        self.spend(self.n * self.n)
        of = [number.get(label, -1) for label in labels]
        for i, state in enumerate(self.x):
            a, b = of[i // self.n], of[i % self.n]
            if a >= 0 and b >= 0:
                view.c[a * k + b] += c[i]
                if state != OPEN:
                    view.fix(a, b, state)
        return view

    def known_sets(self) -> list[int]:
        """Return labels that are equal where related pairs connect two elements."""
        require(self.names >= PARTITION, "This is about equivalence relations only.")
        labels = list(range(self.n))
        for i, state in enumerate(self.x):
            a, b = labels[i // self.n], labels[i % self.n]
            if state == 1 and a != b:
                labels = [a if label == b else label for label in labels]
        return labels


def write_row(view: View, family: str, index: list[int]) -> Row:  # noqa: C901  a case per family
    """Write a row down that every relation of the view satisfies; -1 fills up its index."""
    while index and index[-1] == -1:
        index = index[:-1]
    n, m, cap, one = view.n, view.m, view.cap or math.inf, len({*index}) == len(index)
    require(view.names >= NEEDED.get(family, {family}), f"Rows {family} need not hold.")
    match family, index:
        case "transitive", [a, b, c]:
            return [(a, b, 1), (b, c, 1), (a, c, -1)], 1
        case "path", [a, *_, b]:  # transitivity, repeated
            return [*((p, q, 1) for p, q in pairwise(index)), (a, b, -1)], len(index) - 2
        case "symmetric", [a, b]:
            return [(a, b, 1), (b, a, -1)], 0
        case "antisymmetric", [a, b] if a != b:
            return [(a, b, 1), (b, a, 1)], 1
        case "connex", [a, b] if a != b:
            return [(a, b, -1), (b, a, -1)], -1
        case "has_image", [a]:
            return [(a, b, -1) for b in range(m)], -1
        case "at_most", [a, k] if k >= cap:
            return [(a, b, 1) for b in range(m)], k
        case "has_preimage", [b]:
            return [(a, b, -1) for a in range(n)], -1
        case "unique_preimage", [b]:
            return [(a, b, 1) for a in range(n)], 1
        case "odd_wheel", [c, *v] if one and len(v) > 2 and len(v) % 2:
            # runs of neighbours related to c: of k in a circle, k odd, at most (k - 1) / 2
            rim = [(p, q, -1) for p, q in pairwise([*v, v[0]])]
            return [*((c, p, 1) for p in v), *rim], len(v) // 2
        case "two_partition", [*_] if one and 0 < index.index(-1):
            # s and t elements of one set: s t - s (s - 1) / 2 - t (t - 1) / 2 <= min(s, t)
            S, T = index[: index.index(-1)], index[index.index(-1) + 1 :]
            inner = [(p, q, -1) for U in (S, T) for p, q in combinations(U, 2)]
            return [*((p, q, 1) for p in S for q in T), *inner], min(len(S), len(T))
        case "capped_set", [k, *T] if k >= cap and len({*T}) == len(T):
            # most pairs are in sets if as many sets as can be are full
            full, rest = divmod(len(T), k)
            pairs = full * (k * (k - 1) // 2) + rest * (rest - 1) // 2
            return [(p, q, 1) for p, q in combinations(T, 2)], pairs
        case "half_dicycle", [*_] if len(index) % 3 == 0:
            return half_of_sum(index)
    raise Refused(f"A row {family} {index} does not hold for every feasible relation.")


def half_of_sum(index: list[int]) -> Row:
    """Halve a sum of rows x_ab + x_bc - x_ac <= 1 (or x_ab <= 1, if b = c), and round down.

    With x_ba = 1 - x_ab all coefficients must be even: then half the left side is whole.
    """
    total, right = defaultdict(int), len(index) // 3
    for a, b, c in zip(index[::3], index[1::3], index[2::3], strict=True):
        require(a not in (b, c), "A row of a sum is not about different elements.")
        for p, q, k in [(a, b, 1), (b, c, 1), (a, c, -1)][: 1 if b == c else 3]:
            total[min(p, q), max(p, q)] += k if p < q else -k
            right -= 0 if p < q else k
    require(not any(k % 2 for k in total.values()), "Half a sum of rows is not whole.")
    return [(a, b, k // 2) for (a, b), k in total.items()], right // 2


def residual(view: View, cuts: Any, c: list[int]) -> tuple[Any, int, set[tuple[int, int]]]:
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


def step(view: View, node: Any, claim: int) -> Todo:
    """Check one node of a proof; return what it rests on."""
    match node:
        case {"type": "Leaf", "cuts": cuts, "infeasible": True}:
            require(impossible(view, cuts), "A leaf said to be infeasible is not proved to be.")
            return []
        case {"type": "Leaf", "cuts": cuts, "infeasible": False}:
            return leaf(view, cuts, claim)
        case {"type": "Branch", "pair": [a, b], "unrelated": no, "related": yes}:
            return [(view.fixing((a, b, 0)), no, claim), (view.fixing((a, b, 1)), yes, claim)]
        case {"type": "Fix", "cuts": cuts, "pairs": pairs, "values": values, "then": then}:
            return [(fix(view, cuts, pairs, values, claim), then, claim)]
        case {"type": "Imply", "families": {"names": names, "of": of}, "then": then}:
            families = [names[k] for k in of]
            steps = zip(families, node["rows"], node["pairs"], node["values"], strict=True)
            return [(imply(view, steps), then, claim)]
        case {"type": "Decompose", "parts": parts, "bounds": bounds}:
            return decompose(view, parts, bounds, claim)
        case {"type": "Contract", "labels": labels, "then": then}:
            joined = {*zip(labels, view.known_sets(), strict=True)}
            require(len(joined) == len({*labels}), "Contracted elements need not be related.")
            return [(view.image(labels, view.c), then, claim)]
        case {"type": "Merge", "labels": labels, "then": then}:
            return [(merge(view, labels), then, claim)]
        case {"type": "Prices", "cuts": cuts, "prices": prices}:
            return check_prices(view, cuts, prices, claim)
        case {"type": "SubsetOrder"}:
            return check_orders(view, claim)
    raise Refused("A node of the proof is of no known type.")


def leaf(view: View, cuts: Any, claim: int) -> Todo:
    """Rows bound the value; in sets of at most k elements, also by the partners of each element.

    An element has at most k - 1 others in its set. Half of what it has with these counts.
    """
    r, constant, _ = residual(view, cuts, view.c)
    bound, n = constant + view.most(r, view.cells()), view.n
    if bound > claim and view.cap and view.names >= PARTITION:
        twice = 0
        for a in range(n):
            pairs = [(view.x[a * n + b], r[a * n + b] + r[b * n + a]) for b in range(n)]
            known = [w for state, w in pairs if state == 1]  # among these, with itself
            gains = sorted(w for state, w in pairs if state == OPEN and w > 0)
            room = max(0, view.cap - len(known))
            twice += sum(known) + sum(gains[max(0, len(gains) - room) :])
        bound = min(bound, constant + twice // 2)
    view.prove(bound, claim, "The rows of a leaf do not prove the claimed bound.")
    return []


def fix(view: View, cuts: Any, pairs: Any, values: Any, claim: int) -> View:
    """Pairs take one value, as relations with the other one are not above the claim."""
    r, constant, _ = residual(view, cuts, view.c)
    total = constant + view.most(r, view.cells())
    facts = [(a, b, int(value)) for (a, b), value in zip(pairs, values, strict=True)]
    for a, b, value in facts:
        i, j = view.cell(a, b)
        for v, w in view.states(i, j):
            if v != value:
                bound = total - view.top(r, i, j) + v * r[i] + w * r[j]
                view.prove(bound, claim, f"Pair ({a}, {b}) may have the other value.")
    return view.fixing(*facts)


def imply(view: View, steps: Iterable[Any]) -> View:
    """Pairs take one value, one after the other, as a row excludes the other one."""
    view = view.fixing()
    for family, row, (a, b), value in steps:
        if view.empty:
            break
        cut = {"family": family, "index": [row], "multipliers": [1.0]}
        implied = impossible(view.fixing((a, b, 1 - value)), [cut])
        require(implied, f"Row {family} {row} does not imply the value of pair ({a}, {b}).")
        view.fix(a, b, value)
    return view


def decompose(view: View, parts: Any, bounds: Any, claim: int) -> Todo:
    """Disjoint sets of elements are bounded one by one, and all other cells on their own.

    A part with the bound -inf is claimed to have no relation; then there is none at all.
    """
    require(view.square, "Only relations on one set decompose.")
    n, owner, todo, total = view.n, [-1] * view.n, [], 0
    for number, ((elements, node), bound) in enumerate(zip(parts, bounds, strict=True)):
        labels = [-1] * n
        for place, a in enumerate(elements):
            require(0 <= a < n and owner[a] < 0, "Parts of a decomposition overlap.")
            owner[a], labels[a] = number, place
        part = view.image(labels, view.c)
        todo.append((part, node, below(part) if bound == -math.inf else units(bound)))
        total += todo[-1][2]
    rest = [(i, j) for i, j in view.cells() if owner[i // n] < 0 or owner[i // n] != owner[i % n]]
    if -math.inf not in bounds:
        view.prove(total + view.most(view.c, rest), claim, "Parts add up to more than is claimed.")
    return todo


def below(view: View) -> int:
    """Return a number below all values: to claim it as a bound is to claim there is no relation."""
    return -sum(map(abs, view.c)) - 1


def merge(view: View, labels: Any) -> View:
    """Alike elements of a linear order are one, as some best order has them side by side.

    Of two groups of them that are apart, one can move to the other without loss.
    """
    require(view.names >= ORDER | {"reflexive"}, "Only elements of linear orders are merged.")
    n, c = view.n, view.c
    for a, b in ((labels.index(label), b) for b, label in enumerate(labels)):
        others = [e for e in range(n) if e not in (a, b)]
        lines = [[(c[e * n + o], c[o * n + e]) for o in others] for e in (a, b)]
        known = [e for e in (a, b) for o in range(n) if o != e and view.x[e * n + o] != OPEN]
        alike = lines[0] == lines[1] and c[a * n + b] == c[b * n + a] and not known
        require(a == b or alike, f"Elements {a} and {b} are merged but not alike.")
    # both orders of two alike elements are worth the same, and one of them counts
    once = [0 if i // n < i % n and labels[i // n] == labels[i % n] else s for i, s in enumerate(c)]
    return view.image(labels, once)


def check_prices(view: View, cuts: Any, prices: Any, claim: int) -> Todo:
    """Every element is in one set: if none is above its elements' prices, these are a bound.

    Sets of elements known to be related are joined, one by one, to larger ones. What more of them
    can add is their gain with those joined so far, and half of what they have among each other.
    """
    r, base, _ = residual(view, cuts, view.c)
    labels = view.known_sets()
    sets, n, cap = view.image(labels, r), view.n, view.cap or view.n
    k, number = sets.n, {label: g for g, label in enumerate(sorted({*labels}))}
    sizes, gains = [0] * k, [sets.c[g * k + g] for g in range(k)]
    for a, price in zip(range(n), prices, strict=True):
        own = units(price) + r[a * n + a]  # prices are for pairs of two elements
        base, gains[number[labels[a]]] = base + own, gains[number[labels[a]]] - own
        sizes[number[labels[a]]] += 1
    if sets.empty or max(sizes) > cap:
        return []  # there is no relation
    spare = view.above(claim) - base  # k sets together are less than this above their prices
    require(spare > 0, "Prices of elements do not prove the claimed bound.")
    w = [[sets.c[g * k + h] + sets.c[h * k + g] for h in range(k)] for g in range(k)]
    good = [[g != h and sets.x[g * k + h] != 0 for h in range(k)] for g in range(k)]
    best = [sorted((max(0, v) for h, v in enumerate(w[g]) if good[g][h])) for g in range(k)]
    todo = [(0, cap, [*enumerate(gains)])]  # the gain of a set, the room left, who may join
    while todo:
        worth, room, candidates = todo.pop()
        for place, (g, gain) in enumerate(candidates, start=1):
            total, left = worth + gain, room - sizes[g]
            require(k * total < spare, "A set is worth more than the prices of its elements.")
            more = [
                (h, v + w[g][h]) for h, v in candidates[place:] if good[g][h] and sizes[h] <= left
            ]
            view.spend(len(candidates))
            hopes = sorted(v + sum(best[h][1 - left :] if left > 1 else ()) // 2 for h, v in more)
            if k * (total + sum(max(0, hope) for hope in hopes[-left:])) >= spare and more:
                todo.append((total, left, more))
    return []


def check_orders(view: View, claim: int) -> Todo:
    """Follow all sets of elements that may come first in an order above the claim.

    An order loses c_ab - c_ba if b comes before a although a before b is worth more.
    """
    require(view.names >= ORDER | {"reflexive"}, "Subsets are about linear orders.")
    n, c, x = view.n, view.c, view.x
    spare = view.most(c, view.cells()) - view.above(claim)  # what such an order may lose
    loss = [
        [max(0, c[a * n + b] - c[b * n + a]) if x[a * n + b] == OPEN else 0 for a in range(n)]
        for b in range(n)
    ]
    before = [sum(1 << a for a in range(n) if a != b and x[a * n + b] == 1) for b in range(n)]
    layer = {0: 0} if spare >= 0 else {}  # who comes first, as bits, and what is lost at least
    for _ in range(n):
        longer: dict[int, int] = {}
        for done, lost in layer.items():
            rest = [a for a in range(n) if not done >> a & 1]
            view.spend(len(rest) ** 2)
            for b in rest:
                total = lost + sum(loss[b][a] for a in rest)
                if before[b] & ~done == 0 and total <= spare:
                    longer[done | 1 << b] = min(total, longer.get(done | 1 << b, total))
        layer = longer
    require(not layer, "There is a linear order above the claimed bound.")
    return []


def problem_view(problem: Any) -> View:
    """Return the view of the problem that the bundle is about."""
    (n, m), names, given = problem["shape"], {*problem["properties"]}, problem["scores"]
    require(0 < n * m <= MOST_PAIRS, f"it has {n} x {m} elements, too many", NotChecked)
    require(names <= ON_ONE_SET | ON_TWO, "A property is unknown.")
    square, kind = bool(problem["groups"] or names & ON_ONE_SET), given["pairs"]
    require(n == m or not square, "Properties of relations on one set, but there are two.")
    scored = [
        (a, b)
        for a, b in product(range(n), range(m))
        if kind == "all" or a < b or (a > b and kind == "ordered")
    ]
    c = [0] * (n * m)
    for a, b in scored:
        c[a * m + b] = units(given["background"])
    listed = [*zip(given["i"], given["j"], strict=True)] if "i" in given else scored
    require(len({*listed}) == len(listed), "A pair is listed twice.")
    for (a, b), score in zip(listed, given["log_odds"], strict=True):
        require(0 <= a < n and 0 <= b < m and (a <= b or kind != "unordered"), "No such pair.")
        c[a * m + b] = units(score)
    cap = 1 if "unique_image" in names else problem["cap"]
    view = View(n, m, names, cap, square, c)
    for value, key in enumerate(("unrelated", "related")):
        for a, b in problem[key]:
            view.fix(a, b, value)
    for group in problem["groups"]:
        for (a, p), (b, q) in combinations(enumerate(group), 2):
            if p == q:
                view.fix(a, b, 0)
                view.fix(b, a, 0)
    return view


def related_sets(view: View, relation: Any) -> list[int]:
    """Return who each element is related to, as bits, after checking that this is feasible."""
    n, m, kind, of = view.n, view.m, relation["kind"], relation["of"][0]
    tests: dict[str, Any] = {
        "Relation": lambda a, b: of[a][b],
        "Map": lambda a, b: of[a] == b,
        "Partition": lambda a, b: of[a] == of[b],
        "LinearOrder": lambda a, b: of[a] <= of[b],
    }
    test = tests[{"PartialMap": "Map", "WeakOrder": "LinearOrder"}.get(kind, kind)]
    require(len(of) == n, "The relation is not about these elements.")
    rows = [sum(1 << b for b in range(m) if test(a, b)) for a in range(n)]
    columns = [sum(1 << a for a in range(n) if rows[a] >> b & 1) for b in range(m)]
    both = [*zip(rows, columns, (1 << a for a in range(n)), strict=False)]
    properties = {
        "reflexive": lambda: all(r & own for r, _, own in both),
        "symmetric": lambda: rows == columns,
        "antisymmetric": lambda: not any(r & s & ~own for r, s, own in both),
        "connex": lambda: all(r | s | own == 2**n - 1 for r, s, own in both),
        "transitive": lambda: not any(rows[b] & ~r for r in rows for b in range(n) if r >> b & 1),
        "has_image": lambda: all(rows),
        "unique_image": lambda: all(r.bit_count() < 2 for r in rows),
        "has_preimage": lambda: all(columns),
        "unique_preimage": lambda: all(s.bit_count() < 2 for s in columns),
    }
    for name in sorted(view.names):
        require(properties[name](), f"The relation is not feasible: it lacks {name}.")
    require(not view.cap or all(r.bit_count() <= view.cap for r in rows), "It exceeds the cap.")
    fits = all(s == OPEN or s == rows[i // m] >> i % m & 1 for i, s in enumerate(view.x))
    require(fits and not view.empty, "The relation contradicts the evidence.")
    return rows


def check_estimate(view: View, e: Any) -> float:
    """Check everything but the proof; return the bound that is to be proved."""
    status, value, bound = e["status"], float(e["value"]), float(e["bound"])
    found = e["relation"] is not None
    require(status in ("OPTIMAL", "FEASIBLE", "BOUND_ONLY", "INFEASIBLE"), "Unknown status.")
    require(found or status in ("BOUND_ONLY", "INFEASIBLE"), f"{status} without a relation.")
    require(found or value == -math.inf, "A value is claimed without a relation.")
    infeasible = not found and bound == -math.inf
    require(infeasible or status != "INFEASIBLE", "INFEASIBLE with a relation or a bound.")
    if found:
        rows = related_sets(view, e["relation"])
        exact = sum(s for i, s in enumerate(view.c) if rows[i // view.m] >> i % view.m & 1)
        require(exact / BIT == value, f"The value is {exact / BIT!r}, but {value!r} is claimed.")
        require(bound == math.inf or units(bound) >= exact, "The bound is below the value.")
        near = bound < math.inf and units(bound) <= exact + OPTIMAL_GAP
        require(near or status != "OPTIMAL", "OPTIMAL, but the bound is not close to the value.")
    proved = math.inf if e["certificate"] is None else float(e["certificate"])
    require(proved <= bound, "A better bound is claimed than there is a proof of.")
    return math.inf if bound == math.inf else proved


def check(path: str) -> str:
    """Check a bundle; return a sentence on what is proved."""
    try:
        problem, estimate, nodes = read_bundle(path)
    except DAMAGE as error:
        raise NotChecked(f"it is no bundle, or it is damaged ({error})") from error
    View.work = MOST_WORK
    try:
        view = problem_view(problem)
        bound, todo = check_estimate(view, estimate), []
        if bound < math.inf:
            todo = [(view, 0, units(bound) if bound > -math.inf else below(view))]
        seen = [False] * len(nodes)
        while todo:
            here, number, claim = todo.pop()
            require(not seen[number], f"Node {number} is used twice: the proof is no tree.")
            seen[number] = True
            todo += [] if here.empty else step(here, nodes[number], claim)
    except DAMAGE as error:
        raise Refused(
            f"The bundle contradicts itself ({type(error).__name__}: {error})."
        ) from error
    words = f"{estimate['status']}, value {estimate['value']} bits, bound {estimate['bound']} bits"
    return f"{words}, {view.n} x {view.m} elements, {len(nodes)} nodes of a proof."


def main() -> int:
    """Check the bundle named on the command line; return the exit code."""
    try:
        require(len(sys.argv) == 2, "usage: relatum-check BUNDLE.npz", NotChecked)
        print("verified:", check(sys.argv[1]))
    except (Refused, NotChecked) as reason:
        print("refused:" if isinstance(reason, Refused) else "not checked:", reason)
        return 1 if isinstance(reason, Refused) else 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
