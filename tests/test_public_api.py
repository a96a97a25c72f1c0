"""What users may rely on: names, parameters, members, commands and options, as listed in a file.

``python tests/test_public_api.py > tests/public_api.txt`` writes the list anew. A line that goes
breaks somebody's program; a name that comes is a promise.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from importlib import import_module
from pathlib import Path

import click

MODULES = (
    "relatum",
    "relatum.datasets",
    "relatum.errors",
    "relatum.io",
    "relatum.metrics",
    "relatum.pair_tables",
    "relatum.plots",
    "relatum.testing",
)
LISTED = Path(__file__).with_name("public_api.txt")
PLAIN = (str, int, float, bool, type(None))


def names() -> Iterator[str]:
    for module in MODULES:
        for name in sorted(import_module(module).__all__):
            yield f"{module}.{name}"


def parameters(called: str, thing: object) -> Iterator[str]:
    """Yield parameters with their places, if they have any, and defaults that are plain values."""
    try:
        signature = inspect.signature(thing)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return
    for place, one in enumerate(signature.parameters.values()):
        at = "" if one.kind is one.KEYWORD_ONLY else f"{place} "
        default = repr(one.default) if isinstance(one.default, PLAIN) else "..."
        shown = one.name if one.default is one.empty else f"{one.name}={default}"
        if one.name != "self":
            yield f"{called}({at}{shown})"


def members(called: str, kind: type) -> Iterator[str]:
    """Yield methods, properties and values that a class of ours defines, with parameters."""
    ours = [base for base in kind.__mro__ if base.__module__.startswith("relatum")]
    for name in sorted({name for base in ours for name in vars(base)}):
        plain = inspect.getattr_static(kind, name)
        routine = inspect.isroutine(getattr(kind, name, None))
        shown = routine or isinstance(plain, property | cached_property | Enum)
        if not name.startswith("_") and shown and not name.endswith("_request"):
            yield f"{called}.{name}"
            if routine:
                yield from parameters(f"{called}.{name}", getattr(kind, name))


def commands() -> Iterator[str]:
    """Yield every command, and its arguments and options."""
    from relatum.cli import cli

    for name, command in sorted(cli.commands.items()):
        yield f"$ relatum {name}"
        for option in command.params:
            written = option.opts + option.secondary_opts
            shown = written if isinstance(option, click.Option) else [option.human_readable_name]
            yield f"$ relatum {name} {' '.join(shown)}"


def public_api() -> list[str]:
    found: list[str] = []
    for called in names():
        module, name = called.rsplit(".", 1)
        thing = getattr(import_module(module), name)
        found.append(called)
        if inspect.isclass(thing):
            found += [*parameters(called, thing), *members(called, thing)]
        elif inspect.isroutine(thing):
            found += parameters(called, thing)
    return found + list(commands())


def test_nothing_public_has_gone():
    listed = LISTED.read_text(encoding="utf-8").splitlines()
    assert len(listed) > 500
    found = set(public_api())
    assert [line for line in listed if line not in found] == []


def test_no_name_and_no_command_comes_unseen():
    listed = set(LISTED.read_text(encoding="utf-8").splitlines())
    assert [line for line in (*names(), *commands()) if line not in listed] == []


if __name__ == "__main__":
    print("\n".join(public_api()))
