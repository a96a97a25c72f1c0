"""Models as JSON and arrays: values, feasible sets, and objects of the classes that are listed.

Plain values and lists are themselves; everything else is an object with one key that says what it
is: ``array`` (its number), ``objects`` (an array of Python's), ``tuple``, ``dict`` (pairs),
``float`` (one that JSON lacks), ``dtype``, ``type`` (of NumPy), ``feasible``, ``object`` (a class,
its parameters and what it has learned).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.errors import DataError
from relatum.io.models.kinds import KINDS, ROUTING, Kind
from relatum.io.models.stored_arrays import holds
from relatum.problem import NAMED_SETS, RELATIONS, FeasibleSet, at_most, evidence, one_per_group


class Writer:
    """Writes values; the arrays among them are collected in ``arrays``."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []

    def value(self, value: Any, where: str) -> Any:
        """Return a value as JSON; ``where`` tells what it is, should it be refused."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, list):
            return [self.value(v, where) for v in value]
        if isinstance(value, tuple):
            return {"tuple": [self.value(v, where) for v in value]}
        if isinstance(value, dict):
            pairs = [[self.value(k, where), self.value(v, where)] for k, v in value.items()]
            return {"dict": pairs}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, np.dtype) and holds(value):
            return {"dtype": value.str}
        if isinstance(value, type) and issubclass(value, np.generic | bool | int | float):
            return {"type": np.dtype(value).name}
        if isinstance(value, FeasibleSet):
            return {"feasible": self._feasible(value, where)}
        return {"object": self._object(value, where)}

    def _array(self, array: NDArray[Any], where: str) -> Any:
        if array.dtype.kind == "O":
            flat = [self.value(v, where) for v in array.ravel().tolist()]
            return {"objects": flat, "shape": list(array.shape)}
        if not holds(array.dtype):
            raise _unfit(f"an array of type {array.dtype}", where)
        self.arrays.append(array)
        return {"array": len(self.arrays) - 1}

    def _feasible(self, feasible: FeasibleSet, where: str) -> Any:
        known, groups = feasible.evidence, [g.codes for g in feasible.groups]
        others = ("at_most", "evidence", "one_per_group")
        names = sorted(p.name.upper() for p in feasible.properties if p.name not in others)
        if not set(names) <= set(NAMED_SETS):
            raise _unfit(f"the feasible set {feasible}", where)
        return {
            "names": names,
            "at_most": feasible.cap,
            "one_per_group": [self._array(g, where) for g in groups],
            "related": None if known is None else self._array(known.related, where),
            "unrelated": None if known is None else self._array(known.unrelated, where),
        }

    def _object(self, thing: Any, where: str) -> Any:
        name = type(thing).__name__
        kind = KINDS.get(name)
        if kind is None or kind.imported(name) is not type(thing):
            raise _unfit(f"a {name}", where)
        parameters = thing.get_params(deep=False)
        learned = {k: v for k, v in vars(thing).items() if k not in parameters}
        for unknown in learned.keys() - set(kind.learned) - {*kind.left_out, ROUTING}:
            raise _unfit(f"the attribute {unknown!r}", f"a {name}")
        return {
            "class": name,
            "parameters": {
                k: self.value(v, f"{k!r} of {name}") for k, v in sorted(parameters.items())
            },
            "learned": {
                k: self.value(learned[k], f"{k!r} of {name}")
                for k in sorted(learned)
                if k in kind.learned
            },
        }


def _unfit(what: str, where: str) -> DataError:
    known = ", ".join(KINDS)
    return DataError(
        f"A model file cannot hold {what} ({where}): it holds plain values, arrays, feasible sets "
        f"and objects of {known}. Keep such a model by joblib, and load it only if you trust it."
    )


class Reader:
    """Reads values back, given the arrays; ValueError and the like where they make no sense."""

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self.arrays = arrays

    def value(self, value: Any) -> Any:
        """Return the value that was written."""
        if isinstance(value, list):
            return [self.value(v) for v in value]
        if isinstance(value, str):
            value.encode()  # refuses halves of letters, which JSON can hold
        if not isinstance(value, dict):
            return value
        tag = next(iter(value), "")
        if tag not in _READ or set(value) != {tag, *(["shape"] if tag == "objects" else [])}:
            raise ValueError("it holds a value that is of no known kind")
        return _READ[tag](self, value)

    def _array(self, value: dict[str, Any]) -> NDArray[Any]:
        number = value["array"]
        if type(number) is not int or not 0 <= number < len(self.arrays):
            raise ValueError("it refers to an array that it does not hold")
        return self.arrays[number]

    def _objects(self, value: dict[str, Any]) -> NDArray[Any]:
        flat = self.value(value["objects"])
        array = np.empty(len(flat), dtype=object)
        array[:] = flat
        return array.reshape(value["shape"])

    def _dict(self, value: dict[str, Any]) -> dict[Any, Any]:
        return {self.value(k): self.value(v) for k, v in value["dict"]}

    def _float(self, value: dict[str, Any]) -> float:
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[value["float"]]

    def _dtype(self, value: dict[str, Any]) -> np.dtype[Any]:
        dtype = np.dtype(str(value["dtype"]))
        if not holds(dtype) or dtype.kind == "U":
            raise ValueError(f"{str(dtype)[:40]} is no type of numbers")
        return dtype

    def _type(self, value: dict[str, Any]) -> type[np.generic]:
        found = np.dtype(str(value["type"]))
        return self._dtype({"dtype": found.str}).type

    def _feasible(self, value: dict[str, Any]) -> FeasibleSet:
        given = value["feasible"]
        out = RELATIONS
        for name in given["names"]:
            out = out & NAMED_SETS[name]
        if given["at_most"] is not None:
            out = out & at_most(given["at_most"])
        for codes in given["one_per_group"]:
            out = out & one_per_group(self._array(codes))
        if given["related"] is not None:
            out = out & evidence(self._array(given["related"]), self._array(given["unrelated"]))
        return out

    def _object(self, value: dict[str, Any]) -> Any:
        given = value["object"]
        name = given["class"]
        if name not in KINDS:
            raise ValueError(f"it names the class {str(name)[:40]!r}, which models are not of")
        kind: Kind = KINDS[name]
        class_ = kind.imported(name)
        parameters = {k: self.value(v) for k, v in given["parameters"].items()}
        if not set(parameters) <= set(class_._get_param_names()):
            raise ValueError(f"its parameters are not those of a {name}")
        thing = class_(**parameters)
        for attribute, learned in given["learned"].items():
            if attribute not in kind.learned:
                raise ValueError(f"it gives a {name} the attribute {attribute[:40]!r}")
            setattr(thing, attribute, self.value(learned))
        kind.restore(name, thing)
        return thing


_READ: dict[str, Any] = {
    "array": Reader._array,
    "objects": Reader._objects,
    "tuple": lambda reader, value: tuple(reader.value(value["tuple"])),
    "dict": Reader._dict,
    "float": Reader._float,
    "dtype": Reader._dtype,
    "type": Reader._type,
    "feasible": Reader._feasible,
    "object": Reader._object,
}
