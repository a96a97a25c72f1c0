"""Answers of people about pairs, in a CSV file that only ever grows.

One row per pair: ``when`` (UTC), ``who``, ``action`` (rows of one action share its number),
``undoes`` (the action that a row takes back), ``how`` it came about, the ids of both elements (each
after its source, if there are sources), and, last, so that a row cut short is seen to be, the
``verdict``: "same", "different" or "undo". Other verdicts, such as labels, are kept as they are.

Rows are added under a lock, by one write that is on the disk before anybody is told. A last row
that was cut short, because the machine stopped, was never told to anybody: readers skip it, and the
next writer removes it.
"""

from __future__ import annotations

import csv
import io
import os
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from relatum.errors import DataError
from relatum.io.files import (
    add,
    as_path,
    guarded,
    locked,
    replacing,
    require_writable,
    unguarded,
)
from relatum.problem import shown

SAME, DIFFERENT, UNDO = "same", "different", "undo"
BEFORE, LAST = ("when", "who", "action", "undoes", "how"), "verdict"
IDS = ("id_l", "id_r")
LONGEST = 100_000  # letters of a cell; readers of CSV stop at 131,072


@dataclass(frozen=True)
class Answer:
    """What somebody said of a pair.

    Attributes
    ----------
    left, right : str or (str, str)
        The elements, as texts: ids, or source and id.
    verdict : str
        "same", "different", or whatever else was asked for.
    action : int
        Answers of one action, such as splitting a cluster, share its number.
    who, when, how : str
    """

    left: Any
    right: Any
    verdict: str
    action: int = 0
    who: str = ""
    when: str = ""
    how: str = ""

    @property
    def pair(self) -> frozenset[Any]:
        """The pair, in no order."""
        return frozenset((self.left, self.right))


@dataclass(frozen=True)
class _Row:
    answer: Answer
    undoes: int = 0


class AnswersFile:
    """A file of answers: what it holds, as far as it was read, and how more is added.

    Parameters
    ----------
    path : path
        Ends in ``.csv``. It is made when the first answer is given.
    ids : sequence of str
        Names of the columns of ids: two, or four where elements have sources.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = AnswersFile(Path(folder) / "answers.csv")
    ...     first = file.append([("a", "b", SAME)], who="ann")
    ...     second = file.append([("b", "c", DIFFERENT)], who="ann")
    ...     file.undo(first, who="ann")
    ...     [(a.left, a.right, a.verdict) for a in file.in_force()]
    3
    [('b', 'c', 'different')]
    """

    def __init__(self, path: str | Path, ids: Sequence[str] = IDS) -> None:
        self.path = _named(path)
        self.header = (*BEFORE, *ids, LAST)
        self.rows: list[_Row] = []
        self._read = 0  # bytes
        self._which: tuple[int, int] | None = None  # file of the disk that was read
        self._mutex = threading.RLock()
        if self.path.exists():
            self.refresh()
        else:
            require_writable(self.path)

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of the columns of ids."""
        return self.header[len(BEFORE) : -1]

    def in_force(self) -> list[Answer]:
        """Return the answers that hold, oldest first.

        Those that were taken back do not; and who answers again about a pair means the last answer.
        """
        with self._mutex:
            undone = {row.undoes for row in self.rows if row.undoes}
            held: dict[Any, Answer] = {}
            for row in self.rows:
                answer = row.answer
                if row.undoes or answer.action in undone:
                    continue
                plain = answer.verdict in (SAME, DIFFERENT)
                key = answer.who, answer.pair if plain else (answer.left, answer.right)
                held.pop(key, None)
                held[key] = answer
            return list(held.values())

    def last_action(self, who: str | None = None) -> int | None:
        """Return the last action that was not taken back, of somebody or of anybody."""
        with self._mutex:
            undone = {row.undoes for row in self.rows if row.undoes}
            for row in reversed(self.rows):
                own = who is None or row.answer.who == who
                if own and not row.undoes and row.answer.action not in undone:
                    return row.answer.action
        return None

    def refresh(self) -> bool:
        """Read what others have added; say whether there was anything."""
        with self._mutex:
            try:
                now = self.path.stat()
                if (now.st_size, _which(now)) == (self._read, self._which):
                    return False
                with self.path.open("rb") as file:
                    return self._take(file)
            except FileNotFoundError:
                return False
            except OSError as error:
                told = error.strerror or str(error)
                raise DataError(f"{self.path} cannot be read: {told}.") from None

    def append(self, pairs: Iterable[tuple[Any, Any, str]], who: str = "", how: str = "") -> int:
        """Add answers as one action, and wait until they are on the disk; return its number."""
        found = list(pairs)
        if not found:
            raise DataError("An action answers at least one question.")
        return self._write([(*_flat(a), *_flat(b), verdict) for a, b, verdict in found], who, how)

    def undo(self, action: int, who: str = "") -> int:
        """Take an action back, which is an action, too; return its number."""
        known = {row.answer.action for row in self.rows if not row.undoes}
        if action not in known:
            raise DataError(f"There is no action {action} to take back in {self.path}.")
        blank = [""] * (len(self.header) - len(BEFORE) - 1)
        return self._write([(*blank, UNDO)], who, "", action)

    def _write(self, cells: list[tuple[str, ...]], who: str, how: str, undoes: int = 0) -> int:
        when = datetime.now(UTC).isoformat(timespec="milliseconds")
        with self._mutex, locked(self.path) as file:
            self._take(file)
            rest = self._repair(file)
            action = 1 + max((row.answer.action for row in self.rows), default=0)
            begin = [when, who, str(action), str(undoes or ""), how]
            lines = [] if self._read else [list(self.header)]
            lines += [[*begin, *cell] for cell in cells]
            add(self.path, file, rest + _encoded(lines))
            self._take(file)
        return action

    def _take(self, file: BinaryIO) -> bool:
        """Read whole rows from where reading ended; all, if the file is shorter or another now."""
        now = os.fstat(file.fileno())
        if now.st_size < self._read or _which(now) != self._which:
            self.rows, self._read, self._which = [], 0, _which(now)
        file.seek(self._read)
        data = file.read()
        whole = _whole(data, len(self.header))
        if not whole and not self._read and not _encoded([list(self.header)]).startswith(data):
            whole = len(data)  # one line that is not ours, which nobody may take for one cut short
        lines = _cells(data[:whole], self.path)
        if lines and self._read == 0:
            self._require_header([_plain(name) for name in lines.pop(0)])
        for cells in lines:
            if cells:
                self.rows.append(self._row(cells))
        self._read += whole
        return bool(lines)

    def _repair(self, file: BinaryIO) -> bytes:
        """Remove what is left of a row cut short; return the line break that is missing."""
        file.truncate(self._read)
        file.seek(max(0, self._read - 1))
        return b"" if file.read(1) in (b"", b"\n") else b"\n"

    def _require_header(self, names: list[str]) -> None:
        if tuple(names) != self.header:
            raise DataError(
                f"{self.path} is not a file of answers about these elements: its columns are "
                f"{', '.join(names)[:200]}, not {', '.join(self.header)}; name another file."
            )

    def _row(self, cells: list[str]) -> _Row:
        try:
            when, who, action, undoes, how, *ids, verdict = cells
            texts = [_plain(text) for text in ids]
            if len(texts) != len(self.header) - len(BEFORE) - 1:
                raise ValueError(f"{len(cells)} columns")
            half = len(texts) // 2
            left, right = (_element(t) for t in (texts[:half], texts[half:]))
            given = _plain(verdict), int(action), _plain(who), when, how
            answer = Answer(left, right, *given)
            return _Row(answer, int(undoes or 0))
        except ValueError as error:
            raise DataError(
                f"{self.path}: row {len(self.rows) + 2} is not an answer ({error}): "
                f"{','.join(cells)[:200]!r}."
            ) from None


def require_answerable(path: str | Path) -> None:
    """Refuse a file that no answer could be added to, before anybody gives one.

    Parameters
    ----------
    path : path
        As for `AnswersFile`. If it is not there, it is not made.
    """
    target = _named(path)
    if target.exists():
        with locked(target):  # or it is told why it cannot be opened, or locked
            return
    require_writable(target)


def is_answers(path: Any) -> bool:
    """Say whether something is the path of a file of answers."""
    if not isinstance(path, str | Path) or not str(path).endswith(".csv"):
        return False
    if not Path(path).is_file():
        return False
    first = _header(Path(path))
    return tuple(first[: len(BEFORE)]) == BEFORE and first[-1] == LAST


def read_answers(path: str | Path) -> list[Answer]:
    """Return the answers of a file that hold, oldest first; see `AnswersFile`.

    Parameters
    ----------
    path : path

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "answers.csv"
    ...     _ = AnswersFile(path).append([("a", "b", SAME)], who="ann")
    ...     [(a.left, a.right, a.verdict) for a in read_answers(path)]
    [('a', 'b', 'same')]
    """
    source = as_path(path)
    if not is_answers(source):
        raise DataError(f"{source} is not a file of answers, as relatum review writes it.")
    return AnswersFile(source, _header(source)[len(BEFORE) : -1]).in_force()


def write_answers(path: str | Path, answers: Iterable[Answer], ids: Sequence[str] = IDS) -> None:
    """Write answers to a new file, whole or not at all: those that something was made with.

    Parameters
    ----------
    path : path
        Ends in ``.csv``; what was there is replaced.
    answers : iterable of Answer
        As they were given: who, when and the number of the action stay.
    ids : sequence of str
        Names of the columns of ids, as for `AnswersFile`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "used.csv"
    ...     write_answers(path, [Answer("a", "b", SAME, 7, "ann")])
    ...     read_answers(path)
    [Answer(left='a', right='b', verdict='same', action=7, who='ann', when='', how='')]
    """
    target = _named(path)
    lines = [[*BEFORE, *ids, LAST]]
    for a in answers:
        begin = [a.when, a.who, str(a.action), "", a.how]
        lines.append([*begin, *_flat(a.left), *_flat(a.right), a.verdict])
    with replacing(target) as place:
        Path(place).write_bytes(_encoded(lines))


def answered_pairs(path: str | Path) -> dict[str, list[tuple[Any, Any]]]:
    """Return the answers of a file as evidence: pairs of ids, as texts, related and unrelated.

    Parameters
    ----------
    path : path
    """
    found: dict[str, list[tuple[Any, Any]]] = {"related": [], "unrelated": []}
    for answer in read_answers(path):
        if answer.verdict in (SAME, DIFFERENT):
            key = "related" if answer.verdict == SAME else "unrelated"
            found[key].append((answer.left, answer.right))
    return found


def answered_entities(path: str | Path, ids: Iterable[Any]) -> list[int | None]:
    """Return what answers say of the entities of records, to learn from.

    Records that answers make the same have one number. Those that answers name, but do not make
    the same, are taken for different entities, whether or not anybody compared them: of many
    entities, two seldom are one. Records that no answer names, or of which answers contradict each
    other, have None.

    Parameters
    ----------
    path : path
    ids : iterable
        The ids of the records, or (source, id), in their order.

    Returns
    -------
    list
        As `relatum.RecordLinker.fit` takes entities.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = AnswersFile(Path(folder) / "answers.csv")
    ...     action = file.append([(1, 2, SAME), (2, 3, DIFFERENT)])
    ...     answered_entities(file.path, [1, 2, 3, 4])
    [0, 0, 1, None]
    """
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise DataError(f"The ids of the records are a list, got {shown(ids)}.")
    pairs = answered_pairs(path)
    entity: dict[Any, Any] = {end: end for kind in pairs.values() for pair in kind for end in pair}

    def find(end: Any) -> Any:
        while entity[end] != end:
            entity[end] = entity[entity[end]]
            end = entity[end]
        return end

    for a, b in pairs["related"]:
        entity[find(b)] = find(a)
    odd = {find(a) for a, b in pairs["unrelated"] if find(a) == find(b)}
    number: dict[Any, int] = {}
    out: list[int | None] = []
    for id_ in ids:
        value = id_.as_py() if hasattr(id_, "as_py") else id_
        flat = _flat(value)
        key = flat[0] if len(flat) == 1 else tuple(flat)
        known = key in entity and find(key) not in odd
        out.append(number.setdefault(find(key), len(number)) if known else None)
    return out


def _named(path: str | Path) -> Path:
    found = as_path(path)
    if found.suffix != ".csv":
        raise DataError(f"Answers are kept in a file .csv, got {found.name!r}.")
    return found


def _element(texts: list[str]) -> Any:
    return texts[0] if len(texts) == 1 else tuple(texts)


def _flat(id_: Any) -> list[str]:
    parts = id_ if isinstance(id_, tuple | list) else [id_]
    return [str(part) for part in parts]


def _which(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _header(path: Path) -> list[str]:
    """Return the names of the columns of a file, as far as it is one of answers."""
    with path.open("rb") as file:
        first = file.readline(1 << 16)
    try:
        lines = _cells(first, path)
    except DataError:
        return [""]
    return [_plain(name) for name in lines[0]] if lines and lines[0] else [""]


def _cells(data: bytes, path: Path) -> list[list[str]]:
    """Return the cells of rows; the mark that some programs begin files with is none of them."""
    text = io.StringIO(data.decode("utf-8-sig", errors="replace"), newline="")
    try:
        return list(csv.reader(text))
    except csv.Error as error:
        raise DataError(f"{path} cannot be read as a file of answers: {error}.") from None


def _encoded(lines: list[list[str]]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([[_escaped(cell) for cell in line] for line in lines])
    return out.getvalue().encode(errors="replace")


def _escaped(cell: str) -> str:
    """Return a cell without line breaks, so that every line of the file is a row."""
    for sign, code in (("\\", "\\\\"), ("\n", "\\n"), ("\r", "\\r")):
        cell = cell.replace(sign, code)
    if len(cell) > LONGEST:
        raise DataError(f"{len(cell):,} letters are more than answers keep, {cell[:60]!r}…")
    return str(guarded(cell))


def _plain(cell: str) -> str:
    cell = unguarded(cell)
    if "\\" not in cell:
        return cell
    parts = cell.split("\\\\")
    return "\\".join(part.replace("\\n", "\n").replace("\\r", "\r") for part in parts)


def _whole(data: bytes, columns: int) -> int:
    """Return how many bytes of a file's end are whole rows."""
    end = data.rfind(b"\n") + 1
    rest = data[end:]
    if not rest:
        return end
    try:
        cells = next(csv.reader([rest.decode(errors="replace")]), [])
    except csv.Error:
        return end
    told = len(cells) == columns and cells[-1] in (SAME, DIFFERENT, UNDO)
    return len(data) if told else end  # only the line break is missing
