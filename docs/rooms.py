"""Draw the rooms of the library and who talks to whom, from its imports.

    python docs/rooms.py

writes ``docs/images/rooms.svg`` and the table of rooms in ``docs/architecture.md``. A test fails
when either is no longer what the imports say.
"""

from __future__ import annotations

import ast
from pathlib import Path

import grimp
import networkx

DOCS = Path(__file__).parent
SOURCE = DOCS.parent / "src" / "relatum"
PICTURE = DOCS / "images" / "rooms.svg"
PAGE = DOCS / "architecture.md"
BEGIN, END = "<!-- rooms: written by docs/rooms.py -->\n", "<!-- end of rooms -->\n"

# what many import; arrows to them say nothing
EVERYWHERE = {"errors", "array_types", "threads", "live", "html"}
DOORS = {"relatum", "__main__"}
PLACES = {  # room: (column, row) of its box
    "cli": (2.0, 0),
    "review": (1.0, 1),
    "plots": (0.0, 3),
    "explanation": (1.0, 3),
    "probability": (2.0, 3),
    "records": (2.2, 1),
    "estimators": (3.3, 1),
    "reproduction": (4.4, 1),
    "testing": (5.4, 2),
    "pair_tables": (2.6, 2),
    "joint": (3.7, 2),
    "aggregate": (-0.2, 2),
    "inference": (1.8, 4),
    "solvers": (1.8, 5),
    "datasets": (5.3, 5),
    "io": (0.0, 5),
    "lp": (2.3, 6),
    "proof": (1.2, 6),
    "measures": (3.5, 6),
    "metrics": (4.6, 6),
    "problem": (1.2, 7),
    "features": (3.5, 7),
    "kernels": (2.3, 8),
}
COLORS = {"problem": "#dbeafe", "solvers": "#fef3c7", "proof": "#dcfce7"}
SIDE, GAP, HEIGHT, DROP = 128, 24, 38, 84


def room_of(module: str) -> str:
    """Return the room of a module, the second part of its name."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def talks() -> set[tuple[str, str]]:
    """Return (room, other room that it imports), local imports included."""
    graph = grimp.build_graph("relatum")
    pairs = {
        (room_of(m), room_of(d))
        for m in graph.modules
        for d in graph.find_modules_directly_imported_by(m)
    }
    for path in SOURCE.rglob("*.py"):  # compiled kernels are not in that graph
        if "relatum.kernels" in path.read_text(encoding="utf-8"):
            pairs.add((path.relative_to(SOURCE).with_suffix("").parts[0], "kernels"))
    return {(a, b) for a, b in pairs if a != b}


def drawn(pairs: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the arrows that are drawn: none that follows along others."""
    left_out = EVERYWHERE | DOORS
    kept = [(a, b) for a, b in pairs if a not in left_out and b not in left_out]
    return sorted(networkx.transitive_reduction(networkx.DiGraph(kept)).edges)


def corner(room: str) -> tuple[float, float]:
    """Return the upper left corner of a room's box."""
    column, row = PLACES[room]
    return 44 + column * (SIDE + GAP), 12 + row * DROP


def svg(pairs: set[tuple[str, str]]) -> str:
    """Return the picture."""
    width = int(max(corner(r)[0] for r in PLACES) + SIDE + 12)
    height = int(max(corner(r)[1] for r in PLACES) + HEIGHT + 12)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="14">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#64748b"/></marker>'
        "</defs>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for a, b in drawn(pairs):
        (xa, ya), (xb, yb) = corner(a), corner(b)
        x, y, to_x, to_y = xa + SIDE / 2, ya + HEIGHT, xb + SIDE / 2, yb
        half = (to_y - y) / 2
        lines.append(
            f'<path d="M{x:g},{y:g} C{x:g},{y + half:g} {to_x:g},{to_y - half:g} '
            f'{to_x:g},{to_y:g}" fill="none" stroke="#64748b" stroke-width="1.4" '
            'marker-end="url(#tip)"/>'
        )
    for room in sorted(PLACES):
        x, y = corner(room)
        is_package = (SOURCE / room).is_dir()
        lines.append(
            f'<rect x="{x:g}" y="{y:g}" width="{SIDE}" height="{HEIGHT}" rx="6" '
            f'fill="{COLORS.get(room, "#f1f5f9")}" stroke="#334155"/>'
        )
        lines.append(
            f'<text x="{x + SIDE / 2:g}" y="{y + HEIGHT / 2 + 5:g}" text-anchor="middle" '
            f'fill="#0f172a">{room}{"/" if is_package else ""}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


def first_sentence(room: str) -> str:
    """Return what a room says of itself, in one sentence."""
    path = SOURCE / room / "__init__.py" if (SOURCE / room).is_dir() else SOURCE / f"{room}.py"
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n")[0]


def table(pairs: set[tuple[str, str]]) -> str:
    """Return the rooms, what each says of itself, and what it imports."""
    lines = ["| room | what lives in it | it imports |", "|---|---|---|"]
    for room in sorted(PLACES, key=lambda r: (PLACES[r][1], PLACES[r][0])):
        names = sorted(b for a, b in pairs if a == room and b not in EVERYWHERE | DOORS)
        said = ", ".join(f"`{n}`" for n in names) or "nothing of ours"
        lines.append(f"| `{room}` | {first_sentence(room)} | {said} |")
    return "\n".join([*lines, ""])


def page(text: str, pairs: set[tuple[str, str]]) -> str:
    """Return the page with its table as it should be."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n" + table(pairs) + "\n" + END + rest.split(END)[1]


def main() -> None:
    """Write picture and table."""
    pairs = talks()
    PICTURE.write_text(svg(pairs), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), pairs), encoding="utf-8")


if __name__ == "__main__":
    main()
