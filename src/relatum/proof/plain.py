"""The plain checker: a second opinion on a bundle, in one file, by the standard library alone.

``relatum-check BUNDLE`` (or ``python plain.py BUNDLE``) reads a bundle of version 2, laid out as
docs/certificates.md says, and answers in one line: ``verified`` (exit code 0: the relation is
feasible, its value is as stated, and no feasible relation has a value above the stated bound),
``refused`` (1: a claim is not proved) or ``not checked`` (2: no such bundle, or too large).

Notation: x_ab is 1 if a is related to b, else 0; c_ab is the score of that; the value of a
relation is the sum of c_ab x_ab. Rows A x <= b that hold for every feasible relation prove, with
any multipliers y >= 0, that  value <= b y + the largest sum of (c - A'y) x,  where the largest
sum is taken over every two mirror pairs ab and ba on their own. A proof is a tree of such
statements; each node shows that no relation of a `View` has a value above a claim.

Every float is a whole multiple of 2**-1074. All numbers are whole numbers of this unit.
"""

from __future__ import annotations

import json
import math
import re
import struct
import sys
import zipfile
from collections import Counter, defaultdict
from copy import copy
from heapq import nlargest
from itertools import combinations, combinations_with_replacement, pairwise, permutations, product
from operator import eq, le, mul
from typing import Any

LARGEST_FILE = 1 << 27  # bytes, unpacked
MOST_PAIRS = 4_000_000  # |A| |B|
MOST_WORK = 1_000_000_000  # pairs and terms of rows looked at, which takes some minutes
MOST_HELD, SCORE_BYTES = 1 << 31, 300  # bytes of views that wait, and of a score among them
BIT = 1 << 1074  # units in a bit
OPTIMAL_GAP = BIT >> 20  # OPTIMAL says that no feasible relation is further above than this
NOTHING = -(1 << 2200)  # below all values: to claim it is to claim that there is no relation
OPEN = 2  # the state of a pair not known to be related (1) and not known to be unrelated (0)
CHOICES = {0: (0,), 1: (1,), OPEN: (0, 1)}
PARTITION = {"reflexive", "symmetric", "transitive"}
ORDER = {"reflexive", "antisymmetric", "transitive", "connex"}
EXCLUDED = {"symmetric": [(0, 1), (1, 0)], "antisymmetric": [(1, 1)], "connex": [(0, 0)]}
NPY = rb"\x93NUMPY\x01\0(..){'descr': '[<|](..)', 'fortran_order': False, 'shape': .(\d+),( \d+)?\)"
TYPES = dict(zip(re.findall(b"..", b"b1i1i2i4i8u1u2u4u8f4f8"), "?bhiqBHIQfd", strict=True))
ROWS: dict[str, Any] = {  # terms (a, b, k), which are k x_ab, and the right side, if it holds
    "transitive": lambda view, a, b, c: ([(a, b, 1), (b, c, 1), (a, c, -1)], 1),
    "symmetric": lambda view, a, b: ([(a, b, 1), (b, a, -1)], 0),
    "antisymmetric": lambda view, a, b: a != b and ([(a, b, 1), (b, a, 1)], 1),
    "connex": lambda view, a, b: a != b and ([(a, b, -1), (b, a, -1)], -1),
    "has_image": lambda view, a: ([(a, b, -1) for b in range(view.m)], -1),
    "has_preimage": lambda view, b: ([(a, b, -1) for a in range(view.n)], -1),
    "unique_preimage": lambda view, b: ([(a, b, 1) for a in range(view.n)], 1),
}


class UnprovedError(Exception):
    """A claim that is not proved (1), or a file that is not checked (2): that number, and why."""


def require(condition: object, otherwise: str, code: int = 1) -> None:
    """Refuse the bundle, or give up on it, unless the condition holds."""
    if not condition:
        raise UnprovedError(code, otherwise)


def units(x: float) -> int:
    """Return a finite number in units: the nearest float, as any other reader takes it for."""
    numerator, denominator = float(x).as_integer_ratio()
    return numerator * (BIT // denominator)


def read_array(data: bytes) -> list[Any]:
    """Read an array in the format .npy: little-endian, by rows, a list or a table."""
    header: Any = re.match(NPY, data, re.DOTALL)
    require(header, "an entry is no array of numbers", 2)
    begin, width = 10 + int.from_bytes(header[1], "little"), int(header[4] or 1)
    form = f"<{int(header[3]) * width}{TYPES[header[2]]}"
    View.work -= 30 * int(header[3]) if header[4] else 0  # a line takes memory, however short
    require(View.work >= 0, "it has too many rows", 2)
    numbers = [*struct.unpack(form, data[begin:])]
    rows = [numbers[k : k + width] for k in range(0, len(numbers), width)]
    return rows if header[4] else numbers


def read_bundle(path: str) -> Any:
    """Return what the manifest of a bundle says, with lists where it names arrays."""
    with zipfile.ZipFile(path) as file:
        entries = {info.filename.removesuffix(".npy"): info for info in file.infolist()}
        size = 3 * entries["manifest"].file_size + sum(i.file_size for i in file.infolist())
        require(size <= LARGEST_FILE, f"it would take {size} bytes to read", 2)
        require(len(entries) == len(file.infolist()), "two entries have the same name", 2)
        packed = {info.compress_type for info in file.infolist()}
        require(packed <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}, "it is packed oddly", 2)
        arrays: Any = {k: read_array(file.open(i).read(i.file_size)) for k, i in entries.items()}
    text = bytes(arrays.pop("manifest")).decode()
    said = json.loads(
        text, object_hook=lambda e: arrays.pop(f"a{e['array']}") if "array" in e else e
    )
    version = said["format"] == "relatum-estimate" and said["version"] == 2
    require(version and "scores" in said["problem"], "it has no problem, or is not version 2", 2)
    require(not arrays and said["nodes"] == len(said["proof"]), "it has more than it states", 2)
    return said


def half_of_sum(index: list[int]) -> Any:
    """Halve a sum of rows x_ab + x_bc + x_ca <= 2 (or x_ab <= 1, if b = c), and round down."""
    # with x_ba = 1 - x_ab all coefficients must be even: then half the left side is whole
    total, right = Counter[tuple[int, int]](), 0
    for a, b, c in zip(index[::3], index[1::3], index[2::3], strict=True):
        require(a not in (b, c), "A row of a sum is not about different elements.")
        arcs = [(a, b)] if b == c else [(a, b), (b, c), (c, a)]
        right += max(1, len(arcs) - 1) - sum(p > q for p, q in arcs)
        for p, q in arcs:
            total[min(p, q), max(p, q)] += 1 if p < q else -1
    require(not any(k % 2 for k in total.values()), "Half a sum of rows is not whole.")
    return [(a, b, k // 2) for (a, b), k in total.items()], right // 2


class View:
    """Relations with some properties and some known pairs.

    The pair ab has the place a m + b in c, the scores, and in x, what is known. The places i and j
    of a pair and its mirror pair are a cell; i = j for pairs aa, and if A and B differ in size.
    The view is `empty` when a cell has no state (of pair, of mirror pair) left.
    """

    work = MOST_WORK

    def __init__(self, n: int, m: int, names: set[str], cap: Any, c: list[int]) -> None:
        self.n, self.m, self.names, self.cap, self.c = n, m, names, cap, c
        self.cells = [self.cell(a, b) for a in range(n) for b in range(a * (n == m), m)]
        out = {state for name in names for state in EXCLUDED.get(name, ())}
        self.x, self.empty = bytearray([OPEN]) * (n * m), n > 1 and len(out) == 4
        self.joint = {
            (s, t): [state for state in product(CHOICES[s], CHOICES[t]) if state not in out]
            for s, t in product(CHOICES, CHOICES)
        }
        for a in range(n if "reflexive" in names else 0):
            self.fix(a, a, 1)

    def spend(self, steps: int) -> None:
        """Count work, which bounds memory, too, and give up when it is too much."""
        View.work -= steps
        require(View.work >= 0, f"checking it takes more than {MOST_WORK} steps", 2)

    def cell(self, a: int, b: int) -> tuple[int, int]:
        """Return the cell of a pair, its own place first."""
        require(0 <= a < self.n and 0 <= b < self.m, "There is no such pair.")
        return a * self.m + b, (b * self.m + a if self.n == self.m else a * self.m + b)

    def states(self, i: int, j: int) -> list[tuple[int, int]]:
        """Return the states that are left to a cell."""
        return self.joint[self.x[i], self.x[j]] if i != j else [(v, v) for v in CHOICES[self.x[i]]]

    def fix(self, a: int, b: int, value: int) -> None:
        """Note that a pair is related or not, and what follows for its mirror pair."""
        i, j = self.cell(a, b)
        self.empty |= self.x[i] == 1 - value
        self.x[i] = value
        left = {w for _, w in self.states(i, j)}
        self.empty |= not left
        self.x[j] = left.pop() if len(left) == 1 else self.x[j]

    def fixing(self, facts: Any = ()) -> View:
        """Return the view in which some more pairs (a, b) have a value."""
        self.spend(self.n * self.m)
        view = copy(self)
        view.x = self.x[:]
        for (a, b), value in facts:
            view.fix(a, b, value)
        return view

    def sums(self, r: Any, i: int, j: int, but: int = OPEN) -> list[int]:
        """Return what a cell can add to the sum of r x, if its first pair has not one value."""
        return [v * r[i] + w * r[j] * (i != j) for v, w in self.states(i, j) if v != but]

    def most(self, r: Any, cells: Any) -> int:
        """Return the largest sum of r x over some cells, each on its own."""
        self.spend(2 * len(cells))
        return sum(max(self.sums(r, i, j)) for i, j in cells)

    def above(self, claim: int) -> int:
        """Return the least value above the claim that there can be: values are offset + k step."""
        offset, step = self.most(self.c, self.cells), 0
        for sums in (self.sums(self.c, i, j) for i, j in self.cells):
            step = math.gcd(step, *(max(sums) - other for other in sums))
        only = offset if offset > claim else -NOTHING  # if all have one value: it, or there is none
        return claim + 1 + (offset - claim - 1) % step if step else only

    def image(self, classes: list[tuple[int, int]], c: list[int]) -> View:
        """Return the view of classes, given as (element, label), with sums of c for scores."""
        number = {label: k for k, label in enumerate(sorted({label for _, label in classes}))}
        # elements may be left out: subsets inherit all but the existence of images
        gone = set() if "reflexive" in self.names else {"has_image", "has_preimage"}
        view = View(len(number), len(number), self.names - gone, self.cap, [0] * len(number) ** 2)
        self.spend(len(classes) ** 2)
        for (a, p), (b, q) in product(classes, classes):
            i, g, h = a * self.m + b, number[p], number[q]
            view.c[g * view.m + h] += c[i]
            if self.x[i] != OPEN:
                view.fix(g, h, self.x[i])
        return view

    def known_sets(self) -> list[int]:
        """Return labels, which are equal where related pairs connect two elements."""
        require(self.names >= PARTITION, "This is about equivalence relations only.")
        labels = list(range(self.n))
        for a, b in (divmod(i, self.n) for i, state in enumerate(self.x) if state == 1):
            if labels[a] != labels[b]:
                labels = [labels[a] if label == labels[b] else label for label in labels]
        return labels

    def row(self, family: str, index: list[int]) -> Any:
        """Return terms and right side of a row, which every relation of the view satisfies."""
        while index and index[-1] == -1:
            index.pop()  # it is filled up
        require(all(type(k) is int for k in index), "A row is named by numbers that are not whole.")
        cap, distinct = self.cap or math.inf, len({*index}) == len(index) <= self.n + 1
        sets = self.names >= {"symmetric", "transitive"} and len(index) <= self.n + 1
        match family, index:
            case _ if family in self.names:
                return ROWS[family](self, *index)
            case "at_most", [a, k] if k >= cap:
                return [(a, b, 1) for b in range(self.m)], k
            case "path", [a, *_, b] if "transitive" in self.names:
                return [*((p, q, 1) for p, q in pairwise(index)), (a, b, -1)], len(index) - 2
            case "odd_wheel", [c, *v] if sets and distinct and len(v) > 2 and len(v) % 2:
                # it counts runs of neighbours related to c: in a circle of k, odd, at most k // 2
                rim = [(p, q, -1) for p, q in pairwise([*v, v[0]])]
                return [*((c, p, 1) for p in v), *rim], len(v) // 2
            case "two_partition", [_, *_] if sets and distinct and -1 in index[1:]:
                # s and t elements of one set: s t - s (s - 1) / 2 - t (t - 1) / 2 <= min(s, t)
                S, T = index[: index.index(-1)], index[index.index(-1) + 1 :]
                inner = [(p, q, -1) for U in (S, T) for p, q in combinations(U, 2)]
                return [*((p, q, 1) for p in S for q in T), *inner], min(len(S), len(T))
            case "capped_set", [k, *T] if sets and k >= cap and len({*T}) == len(T):
                # pairs within sets are most if as many sets as can be are full
                most = len(T) // k * math.comb(k, 2) + math.comb(len(T) % k, 2)
                return [(p, q, 1) for p, q in combinations(T, 2)], most
            case "half_dicycle", _ if self.names >= ORDER - {"reflexive"}:
                return half_of_sum(index)
        raise UnprovedError(1, f"A row {family!r} {index[:9]} need not hold.")

    def add_squares(self, rows: Any, y: list[int], r: Any) -> None:
        """Add y l_a l_b to r_ab, for rows l: the sum of l(S)**2 over all sets is not negative."""
        sets, n = self.names >= {"symmetric", "transitive"} and min(y) >= 0, self.n
        whole = all(len(row) == n and {*map(type, row)} == {int} for row in rows)
        require(sets and whole, "A row of squares need not hold.")
        self.spend(n * n * len(y) // 4)
        unit, columns = math.gcd(*y) or 1, [*zip(*rows, strict=True)]
        times = [[k * z // unit for k, z in zip(own, y, strict=True)] for own in columns]
        for a, b in combinations_with_replacement(range(n), 2):
            r[a * n + b] += (1 + (a < b)) * unit * sum(map(mul, times[a], columns[b]))

    def subtract(self, cuts: Any, r: Any) -> int:
        """Subtract A'y from r, for rows A x <= b with multipliers y; return b y."""
        constant = 0
        for cut in cuts:
            if cut["family"] == "square" and cut["index"]:
                self.add_squares(cut["index"], [*map(units, cut["multipliers"])], r)
                continue
            for index, multiplier in zip(cut["index"], cut["multipliers"], strict=True):
                y, (terms, right) = units(multiplier), self.row(cut["family"], index)
                require(y >= 0, "A multiplier is negative.")
                self.spend(len(terms))
                constant += y * right
                for a, b, k in terms:
                    r[self.cell(a, b)[0]] -= y * k
        return constant

    # The nodes of a proof: each returns what it rests on, as views, numbers of nodes and claims.

    def leaf(self, claim: int, node: Any) -> Any:
        """Rows bound the value, and there is no relation if they bound zero by less."""
        n, r = self.n, [0] * len(self.c) if node["infeasible"] else self.c[:]
        constant, twice = self.subtract(node["cuts"], r), 0
        bound = constant + self.most(r, self.cells)
        if bound > claim and self.cap and self.names >= PARTITION:
            # in sets of at most k elements, half of what each has with its best k - 1 is a bound
            for a in range(n):
                pairs = [(self.x[a * n + b], r[a * n + b] + r[b * n + a]) for b in range(n)]
                known = [w for state, w in pairs if state == 1]  # among these, with itself
                gains = [w for state, w in pairs if state == OPEN and w > 0]
                twice += sum(known) + sum(nlargest(self.cap - len(known), gains))
            bound = min(bound, constant + twice // 2)
        proved = bound < 0 if node["infeasible"] else bound < self.above(claim)
        require(proved, "The rows of a leaf do not prove what it claims.")

    def branch(self, claim: int, node: Any) -> Any:
        """Split: a pair is unrelated, or it is related."""
        for value, key in enumerate(("unrelated", "related")):
            yield self.fixing([(node["pair"], value)]), node[key], claim

    def fix_pairs(self, claim: int, node: Any) -> Any:
        """Pairs take one value, as relations with the other one are not above the claim."""
        r, facts = self.c[:], [*zip(node["pairs"], node["values"], strict=True)]
        bound = self.subtract(node["cuts"], r) + self.most(r, self.cells)
        above = self.above(claim)
        for pair, value in facts:
            rest = bound - self.most(r, [self.cell(*pair)])
            proved = all(rest + s < above for s in self.sums(r, *self.cell(*pair), but=value))
            require(proved, f"Pair {pair} may have the other value.")
        yield self.fixing(facts), node["then"], claim

    def imply(self, claim: int, node: Any) -> Any:
        """Pairs take one value, one after the other, as a row cannot hold with the other one."""
        view, names, of = self.fixing(), node["families"]["names"], node["families"]["of"]
        steps = zip(of, node["rows"], node["pairs"], node["values"], strict=True)
        for k, row, pair, value in steps:
            r: dict[int, int] = defaultdict(int)
            bound = view.subtract([{"family": names[k], "index": [row], "multipliers": [1]}], r)
            cell = view.cell(*pair)
            rest = {tuple(sorted(view.cell(*divmod(i, view.m)))) for i in r if i not in cell}
            others = [] if view.empty else view.sums(r, *cell, but=value)
            implied = all(bound + view.most(r, rest) + other < 0 for other in others)
            require(implied, f"Row {names[k]!r} {row} does not imply the value of pair {pair}.")
            view.fix(pair[0], pair[1], value)
        yield view, node["then"], claim

    def decompose(self, claim: int, node: Any) -> Any:
        """Disjoint sets of elements are bounded one by one, and all other cells on their own."""
        n, parts, bounds = self.n, node["parts"], node["bounds"]
        of = {a: number for number, (elements, _) in enumerate(parts) for a in elements}
        disjoint = sum(len(elements) for elements, _ in parts) == len(of) and {*of} <= {*range(n)}
        disjoint = disjoint and all(elements for elements, _ in parts)  # else rows say 0 <= -1
        require(disjoint and n == self.m, "Parts of a decomposition overlap, or are of two sets.")
        if -math.inf not in bounds:  # else a part is claimed to have no relation: there is none
            rest = [(i, j) for i, j in self.cells if of.get(i // n, -1) != of.get(i % n, -2)]
            total = self.most(self.c, rest) + sum(map(units, bounds))
            require(total < self.above(claim), "Bounds of parts add up to more than is claimed.")
        for (elements, child), bound in zip(parts, bounds, strict=True):
            part = self.image([(a, place) for place, a in enumerate(elements)], self.c)
            yield part, child, NOTHING if bound == -math.inf else units(bound)

    def contract(self, claim: int, node: Any) -> Any:
        """Elements that are known to be related are one."""
        labels, joined = node["labels"], {*zip(node["labels"], self.known_sets(), strict=True)}
        known = min(labels) >= 0 and len(joined) == len({*labels})
        require(known, "Contracted elements need not be related.")
        yield self.image([*enumerate(labels)], self.c), node["then"], claim

    def merge(self, claim: int, node: Any) -> Any:
        """Alike elements of a linear order are one, as some best order has them side by side."""
        # of two groups of them that are apart, one can move to the other without loss
        n, c, labels = self.n, self.c[:], node["labels"]
        fits = self.names >= ORDER and len(labels) == n and min(labels) >= 0
        require(fits, "Only elements of linear orders are merged.")
        for a, b in ((a, b) for a, b in combinations(range(n), 2) if labels[a] == labels[b]):
            swap = {a: b, b: a}
            for e, o in ((e, o) for e in (a, b) for o in range(n) if o != e):
                (i, j), (p, q) = self.cell(e, o), self.cell(swap[e], swap.get(o, o))
                alike = self.x[i] == OPEN and self.c[i] == self.c[p] and self.c[j] == self.c[q]
                require(alike, f"Elements {a} and {b} are merged but not alike.")
            c[self.cell(a, b)[0]] = 0  # both orders are worth the same, and one of them counts
        yield self.image([*enumerate(labels)], c), node["then"], claim

    def prices(self, claim: int, node: Any) -> Any:
        """Every element is in one set: if none is above its elements' prices, these are a bound."""
        n, r, labels, cap = self.n, self.c[:], self.known_sets(), self.cap or self.n
        bound = self.subtract(node["cuts"], r)
        for a, price in zip(range(n), node["prices"], strict=True):
            bound += r[a * n + a] + units(price)
            r[a * n + a] = -units(price)  # now r sums up to what a set is above its prices
        sets, sizes = self.image([*enumerate(labels)], r), [*Counter(sorted(labels)).values()]
        if sets.empty or max(sizes) > cap:
            return  # there is no relation
        k, spare = sets.n, self.above(claim) - bound  # k sets are to be above by less than this
        require(spare > 0, "Prices of elements do not prove the claimed bound.")
        w = [[sum(sets.c[i] for i in {*sets.cell(g, h)}) for h in range(k)] for g in range(k)]
        todo = [(0, cap, {g: w[g][g] for g in range(k)})]  # what sets are above, room, who may join
        two = ((g, h) for g, h in combinations(range(k), 2) if sizes[g] + sizes[h] <= cap)
        pairs = [(g, h) for g, h in two if sets.x[g * k + h]]
        near = [sum(1 << g + h - e for g, h in pairs if e in (g, h)) for e in range(k)]
        if not any(near[g] & near[h] for g, h in pairs):  # no three go together: add up the pairs
            worth = [w[g][g] for g in range(k)] + [w[g][g] + w[h][h] + w[g][h] for g, h in pairs]
            total, todo = sum(max(0, above) for above in worth), []
            require(total < spare, "Pairs are worth more than the prices of their elements.")
        while todo:
            above, room, gains = todo.pop()
            while gains:
                g, gain = gains.popitem()
                left, total = room - sizes[g], above + gain
                require(k * total < spare, "A set is worth more than the prices of its elements.")
                fits = [h for h in gains if sets.x[g * k + h] != 0 and sizes[h] <= left]
                self.spend(1 + len(gains) + len(fits) ** 2)
                more = {h: gains[h] + w[g][h] for h in fits}
                # others add what they gain with these, and half of what they have with each other
                best = [nlargest(left - 1, [max(0, w[h][o]) for o in fits if o != h]) for h in fits]
                twice = [max(0, 2 * more[h] + sum(b)) for h, b in zip(fits, best, strict=True)]
                if k * (2 * total + sum(nlargest(left, twice))) >= 2 * spare:
                    todo.append((total, left, more))

    def subset_order(self, claim: int, node: Any) -> Any:
        """Follow all sets of elements that may come first in an order above the claim."""
        # an order loses c_ab - c_ba if b comes before a, and too much if a must come before b
        require(self.names >= ORDER, "Subsets are about linear orders.")
        n, c = range(self.n), self.c
        spare = self.most(c, self.cells) - self.above(claim)  # what such an order may lose
        loss, cycles, too_much = {}, [], 1 + abs(spare) + sum(map(abs, c))
        for a, b in product(n, n):
            i, j = self.cell(a, b)
            loss[a, b] = (0, too_much * (a != b), max(0, c[i] - c[j]))[self.x[i]]
        self.spend(self.n**3)
        rest = loss.copy()
        for a, b, e in permutations(n, 3):  # every order loses something on a cycle
            cycle = (a, b), (b, e), (e, a)
            least = min(rest[pair] for pair in cycle)
            rest |= {pair: rest[pair] - least for pair in cycle}  # no loss counts twice
            cycles += [(1 << a | 1 << b | 1 << e, least)] if least else []
        layer = {0: 0}  # who comes first, as bits, and what is lost at least
        for _ in n:
            longer: dict[int, int] = {}
            for done, lost in layer.items():
                left = [a for a in n if not done >> a & 1]
                self.spend(len(left) * (len(left) + len(cycles)))
                for b in left:
                    now, total = done | 1 << b, lost + sum(loss[a, b] for a in left)
                    if total + sum(least for three, least in cycles if not three & now) <= spare:
                        longer[now] = min(total, longer.get(now, total))
            layer = longer
        require(not layer, "There is a linear order above the claimed bound.")


NODES = {"Leaf": View.leaf, "Branch": View.branch, "Fix": View.fix_pairs, "Imply": View.imply}
NODES |= {"Decompose": View.decompose, "Contract": View.contract, "Merge": View.merge}
NODES |= {"Prices": View.prices, "SubsetOrder": View.subset_order}


def problem_view(problem: Any) -> View:
    """Return the view of the problem that the bundle is about."""
    (n, m), names, given = problem["shape"], {*problem["properties"]}, problem["scores"]
    require(min(n, m) > 0 and n * m <= MOST_PAIRS, f"it has {n} x {m} pairs", 2)
    require(names <= {*ROWS, "reflexive", "unique_image"}, "A property is unknown.")
    one_set = names & (PARTITION | ORDER) or problem["groups"]
    cap = 1 if "unique_image" in names else problem["cap"]
    require((n == m or not one_set) and (cap is None or cap >= 1), "Shape or cap do not fit.")
    pairs = [*product(range(n), range(m))]
    kind = ("all", "ordered", "unordered").index(given["pairs"])
    scored = [(a, b) for a, b in pairs if a < b or kind == 0 or (kind == 1 and a > b)]
    listed = [*zip(given["i"], given["j"], strict=True)] if "i" in given else scored
    scores = dict(zip(listed, map(units, given["log_odds"]), strict=True))
    once = len(scores) == len(listed) and (kind < 2 or all(a <= b for a, b in listed))
    once = once and (kind < 2 or "symmetric" in names)
    scores = dict.fromkeys(scored, units(given["background"])) | scores
    view = View(n, m, names, cap, [scores.pop(pair, 0) for pair in pairs])
    require(once and not scores, "A pair is listed twice, or does not exist.")
    view.spend(n * m * len(problem["groups"]))
    apart = [(a, b) for g in problem["groups"] for a, b in pairs if a != b and g[a] == g[b]]
    unrelated, related = [*problem["unrelated"], *apart], problem["related"]
    return view.fixing([*((pair, 0) for pair in unrelated), *((pair, 1) for pair in related)])


def check_relation(view: View, relation: Any) -> int:
    """Check that a relation is feasible; return its value in units."""
    of, kind, names, n, m = relation["of"][0], relation["kind"], view.names, view.n, view.m
    compare = {"Map": eq, "PartialMap": eq, "Partition": eq, "WeakOrder": le, "LinearOrder": le}
    others = range(m) if kind in ("Map", "PartialMap") else of
    y = of if kind == "Relation" else [[compare[kind](p, q) for q in others] for p in of]
    require(len(y) == n and {m} == {len(line) for line in y}, "It is about other elements.")
    pairs = [*product(range(n), range(m))]
    known = view.fixing(((a, b), bool(y[a][b])) for a, b in pairs)
    require(not known.empty, "Two mirror pairs break a property or the evidence.")
    images = [sum(1 << b for b in range(m) if known.x[a * m + b]) for a in range(n)]  # as bits
    counts = [sum(known.x[b::m]) for b in range(m)]
    chains = (images[b] & ~images[a] for a, b in pairs if known.x[a * m + b])
    require("has_image" not in names or all(images), "An element has no image.")
    require("has_preimage" not in names or all(counts), "An element has no preimage.")
    require("unique_preimage" not in names or max(counts) < 2, "It has several preimages.")
    require("transitive" not in names or not any(chains), "The relation is not transitive.")
    require(max(map(int.bit_count, images)) <= (view.cap or m), "An element has too many images.")
    return known.most(view.c, known.cells)


def check_estimate(view: View, e: Any) -> Any:
    """Check everything but the proof; return the claim that is to be proved, if there is one."""
    status, value, bound = e["status"], float(e["value"]), float(e["bound"])
    proved = math.inf if e["certificate"] is None else float(e["certificate"])
    claim: Any = None if proved == math.inf else NOTHING if proved == -math.inf else units(proved)
    fits = proved <= bound and (bound == -math.inf) == (status == "INFEASIBLE")
    require(fits, "The bound is better than what is proved, or does not fit the status.")
    if e["relation"] is None:
        fits = status in ("BOUND_ONLY", "INFEASIBLE") and value == -math.inf
        require(fits, f"{status} or a value is claimed without a relation.")
        return claim
    exact = check_relation(view, e["relation"])
    require(exact / BIT == value, f"The value is {exact / BIT!r}, but {value!r} is claimed.")
    require(bound == math.inf or units(bound) >= exact, "The bound is below the value.")
    if status == "OPTIMAL":  # where values are large, the next float may be above the gap
        near = max(exact + OPTIMAL_GAP, units(math.nextafter(value, math.inf)))
        require(bound < math.inf and units(bound) <= near, "OPTIMAL, but the bound is too high.")
        return min(claim, exact + OPTIMAL_GAP)
    require(status in ("FEASIBLE", "BOUND_ONLY"), "There is no such status.")
    return claim


def check(path: str) -> tuple[int, str]:
    """Check a bundle; return the exit code, and what is proved or why not."""
    View.work, code = MOST_WORK, 2
    try:
        bundle = read_bundle(path)
        code, nodes, e = 1, bundle["proof"], bundle["estimate"]
        root = problem_view(bundle["problem"])
        claim = check_estimate(root, e)
        todo, named = [] if claim is None else [(root, 0, claim)], [0] if nodes else []
        for number, node in enumerate(nodes):  # a tree: each is named once, by an earlier one
            below = [node[key] for key in ("then", "unrelated", "related") if key in node]
            below += [child for _, child in node.get("parts", ())]
            named += [child if child > number else -1 for child in below]
        require(sorted(named) == [*range(len(nodes))], "The nodes of the proof are no tree.")
        while todo:
            view, number, claim = todo.pop()
            node = nodes[number]
            todo += [] if view.empty else NODES[node["type"]](view, claim, node) or []
            root.spend(len(todo))
            scores = {id(v.c): SCORE_BYTES * len(v.c) for v, _, _ in todo}  # views share them
            held = sum(len(v.c) for v, _, _ in todo) + sum(scores.values())
            require(held <= MOST_HELD, "it takes too much memory", 2)
        words = f"{e['status']}, value {e['value']} bits, bound {e['bound']} bits"
        return 0, f"{words}, {root.n} x {root.m} elements, {len(nodes)} nodes of a proof."
    except UnprovedError as error:
        return error.args[0], error.args[1]
    except MemoryError:
        return 2, "it takes too much memory"
    except Exception as error:  # whatever fields that do not fit together lead to
        return code, f"The bundle is malformed ({type(error).__name__}: {error})."


def main() -> int:
    """Check the bundle named on the command line; return the exit code."""
    usage = 2, "usage: relatum-check BUNDLE.npz"
    code, words = check(sys.argv[1]) if len(sys.argv) == 2 else usage
    print(("verified:", "refused:", "not checked:")[code], *words.split())
    return code


if __name__ == "__main__":
    sys.exit(main())
