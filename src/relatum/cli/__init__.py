"""The command line: one function per command here, one module per command beside it.

Commands import what they need when they run, so that ``relatum --help`` is quick; they may import
any room, and no room imports them. Begin here, then with `solve`. Exit
codes: 0 a relation was found or everything is in order, 1 a certificate does not hold,
2 wrong input, 3 nothing is feasible, 4 no relation was found in time, 130 interrupted before
there was anything to keep, 141 whoever read the output has gone.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any

import click

from relatum import __version__
from relatum.errors import RelatumError

__all__ = ["main"]

# Readers and writers say themselves what is wrong with a file, in one line.
FILE: Any = click.Path(readable=False, path_type=Path)


class _ReaderGoneError(Exception):
    """Whoever read the output, such as head, has gone."""


class _Commands(click.Group):
    """Commands; click itself would end with exit code 1 where a pipe is closed."""

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        try:
            return super().make_context(*arguments, **options)
        except BrokenPipeError:  # while help is shown
            raise _ReaderGoneError from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _ReaderGoneError from None
        except RelatumError as error:
            from relatum.cli.language import in_options

            command = self.commands.get(ctx.invoked_subcommand or "")
            told = [] if command is None else command.params
            options = {str(p.name): p.opts[0] for p in told if p.opts[0].startswith("--")}
            raise type(error)(in_options(str(error), options)) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="relatum")
def cli() -> None:
    """Estimate maximally probable maps, equivalence relations and linear orders.

    Exit codes: 0 found or in order, 1 a certificate does not hold, 2 wrong input,
    3 nothing is feasible, 4 nothing found in time, 130 interrupted. Shell completion:
    see "relatum completion --help".
    """


@cli.command("demo")
@click.option("--seed", default=0, show_default=True, help="Seed of every random choice.")
@click.option("--quick", is_flag=True, help="Use fewer elements.")
@click.option(
    "--page",
    type=FILE,
    default=Path("relatum-demo.html"),
    show_default=True,
    help="Where the page with pictures goes; needs matplotlib.",
)
def demo_command(seed: int, quick: bool, page: Path) -> None:
    """Run the three classical cases, and one with evidence, on embedded data."""
    from importlib.util import find_spec

    from relatum.cli.demo import run

    run(seed, quick, page if find_spec("matplotlib") else None)


def problem_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which problem a file holds, handed over together as `given`."""

    @wraps(command)
    def gathered(**options: Any) -> Any:
        names = ("kind", "file_format", "evidence_path", "background", "number")
        given = {name: options.pop(name) for name in names}
        ends = {name: options.pop(name) for name in ("left", "right", "log_odds", "probability")}
        given["columns"] = {
            name: value for name, value in ends.items() if value is not None
        } or None
        return command(given=given, **options)

    decorated: Callable[..., Any] = gathered
    for option in reversed(
        (
            click.option(
                "--as",
                "kind",
                metavar="SET",
                help="equivalence, order, map, or sets joined by &, e.g. 'PREORDERS & at_most(3)'.",
            ),
            click.option(
                "--format",
                "file_format",
                help="lolib, cplib, multicut, signed, pace, preflib, pairs, matrix; else guessed.",
            ),
            click.option(
                "--evidence", "evidence_path", type=FILE, help="CSV: two elements, 1 or 0."
            ),
            click.option(
                "--background",
                type=float,
                help="Bits of pairs that are not listed; by default -0.5 in tables, 0 in graphs.",
            ),
            click.option("--number", default=0, help="Which instance of a file with several."),
            click.option("--left", help="Column of ids, of a table of pairs."),
            click.option("--right", help="Column of ids, of a table of pairs."),
            click.option("--log-odds", help="Column of scores in bits."),
            click.option("--probability", help="Column of scores as probabilities."),
        )
    ):
        decorated = option(decorated)
    return decorated


@cli.command("solve")
@click.argument("file", type=FILE)
@problem_options
@click.option("--solver", default="auto", show_default=True, help="See 'relatum solvers'.")
@click.option("--prove", is_flag=True, help="Search until optimality is proven.")
@click.option("--time-limit", default=60.0, show_default=True, help="Seconds.")
@click.option("--seed", default=0, show_default=True)
@click.option("--out", "-o", type=FILE, help="Write .csv, .json, or .npz for 'relatum verify'.")
@click.option("--probabilities", "sure", is_flag=True, help="Say how probable each part of it is.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing.")
def solve_command(
    file: Path,
    given: dict[str, Any],
    out: Path | None,
    as_json: bool,
    quiet: bool,
    sure: bool,
    **options: Any,
) -> None:
    """Estimate the most probable relation from the log-odds in FILE.

    Ctrl-C stops the search and keeps the best relation so far.
    """
    from relatum.cli.solve import load_problem, run_solve

    problem = load_problem(file, **given)
    sys.exit(run_solve(problem, options, out, as_json, quiet, sure))


@cli.command("verify")
@click.argument("files", type=FILE, nargs=-1, required=True, metavar="[FILE] BUNDLE")
@problem_options
@click.option("--clusters", type=FILE, help="Of a pair table: clusters that must be proved.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify_command(
    files: tuple[Path, ...],
    given: dict[str, Any],
    clusters: Path | None,
    as_json: bool,
) -> None:
    """Check, without any solver, what BUNDLE claims about the problem in FILE.

    Give the same --as, --evidence and --background as to "relatum solve". Without FILE, check
    what BUNDLE claims about the problem that it holds itself. FILE may be a table of pairs, and
    BUNDLE what "relatum cluster --certificate" wrote.
    """
    from relatum.cli.solve import load_problem, run_verify
    from relatum.pair_tables import is_certificate

    *named, bundle = files
    asked = [name for name, value in given.items() if value is not None and name != "number"]
    if len(named) > 1 or (asked and not named):
        raise click.UsageError("Name a bundle, or the file of a problem (and its options) first.")
    if is_certificate(bundle):
        from relatum.cli.cluster import run_verify as run_verify_table

        if not named:
            raise click.UsageError(
                "Name the table of pairs before the certificate of its clusters."
            )
        sys.exit(run_verify_table(str(named[0]), bundle, clusters, given, as_json))
    problem = load_problem(named[0], **given) if named else None
    sys.exit(run_verify(problem, bundle, as_json))


@cli.command("bench")
@click.argument("files", type=FILE, nargs=-1, required=True)
@problem_options
@click.option(
    "--solver", "solvers", multiple=True, help="May be repeated; every one that fits otherwise."
)
@click.option("--prove", is_flag=True, help="Search until optimality is proven.")
@click.option("--time-limit", default=10.0, show_default=True, help="Seconds per solver and file.")
@click.option("--seed", default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def bench_command(
    files: tuple[Path, ...],
    given: dict[str, Any],
    as_json: bool,
    **options: Any,
) -> None:
    """Run solvers side by side on FILES: value, bound, gap and time of each.

    Every estimate is checked by "relatum.verify". The benchmarks of the library itself are
    in the folder "benchmarks" of its source.
    """
    from relatum.cli.bench import run
    from relatum.cli.solve import load_problem

    problems = {str(f): load_problem(f, **given) for f in files}
    sys.exit(run(problems, options, as_json))


@cli.command("convert")
@click.argument("file", type=FILE)
@click.argument("out", type=FILE)
@click.option("--from", "file_format", help="The format of FILE; guessed otherwise.")
@click.option("--to", "wanted", help="The format of OUT; told from its ending otherwise.")
@click.option("--as", "kind", metavar="SET", help="As for 'relatum solve'.")
@click.option("--number", default=0, help="Which instance of a file with several.")
def convert_command(
    file: Path,
    out: Path,
    file_format: str | None,
    wanted: str | None,
    kind: str | None,
    number: int,
) -> None:
    """Write the log-odds in FILE to OUT in another format.

    Formats: lolib, cplib, multicut, signed, pace, pairs, matrix; preflib is read only.
    """
    from relatum.cli.solve import load_problem
    from relatum.io import write_problem

    problem = load_problem(file, kind, file_format, number=number)
    for note in write_problem(out, problem, wanted):
        click.echo(f"note: {note}", err=True)


@cli.command("fit")
@click.argument("file", type=FILE)
@click.option("--as", "kind", type=click.Choice(["map", "equivalence", "order"]), required=True)
@click.option("--label", help="Column with the labels (map, equivalence).")
@click.option("--out", "-o", type=FILE, required=True, help="Where the model goes.")
def fit_command(file: Path, kind: str, label: str | None, out: Path) -> None:
    """Learn a model from FILE: a CSV table of numbers, or lines of items for orders."""
    from relatum.cli.models import fit

    click.echo(fit(file, kind, label, out))


@cli.command("predict")
@click.argument("model", type=FILE)
@click.argument("file", type=FILE)
@click.option("--out", "-o", type=FILE, help="Write the result there instead of printing it.")
def predict_command(model: Path, file: Path, out: Path | None) -> None:
    """Apply a MODEL written by "relatum fit" to FILE. Use only models that you trust."""
    from relatum.cli.models import predict

    text = predict(model, file, out)
    if out is None:
        click.echo(text, nl=False)


@cli.command("metrics")
@click.argument("true", type=FILE)
@click.argument("estimated", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def metrics_command(true: Path, estimated: Path, as_json: bool) -> None:
    """Compare two relations written as CSV by "relatum solve".

    Partitions have the columns element,set; orders the columns rank,element.
    """
    from relatum.cli.metrics import run

    run(true, estimated, as_json)


@cli.command("reproduce")
@click.option("--quick", "size", flag_value="quick", default=True, help="Embedded data; minutes.")
@click.option("--full", "size", flag_value="full", help="MNIST and Wikipedia; a night.")
@click.option(
    "--out",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("relatum-reproduction"),
    show_default=True,
    help="Folder for numbers, figures and the report; a run that was killed continues there.",
)
@click.option("--part", "parts", multiple=True, help="maps, pairs, equivalences, orders, beyond.")
@click.option(
    "--images",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder of images in the format of MNIST: one more row.",
)
@click.option("--computed", is_flag=True, help="Report what is there; compute nothing.")
def reproduce_command(
    size: str, out: Path, parts: tuple[str, ...], images: tuple[Path, ...], computed: bool
) -> None:
    """Run the paper's experiments; draw its figures and tables beside its own numbers.

    The data of --full are looked for in the folder that RELATUM_DATA names. Exit code 1 if
    the results do not show what they should.
    """
    from relatum.cli.reproduce import run

    sys.exit(run(size, out, parts, images, not computed))


@cli.command("cluster")
@click.argument("pairs", type=str)
@click.option("--out", "-o", type=FILE, help="Where the clusters go: .parquet, .csv.")
@click.option("--save", type=FILE, help="Where all goes that load_clusters asks for: .clusters.")
@click.option("--details", is_flag=True, help="Write hashes of components, for --previous.")
@click.option("--background", default="-0.5", show_default=True, help="Bits, or 'learned'.")
@click.option("--offset", default="0", show_default=True, help="Bits for all, or 'learned'.")
@click.option(
    "--evidence", type=FILE, help="Table: ids in columns named as in PAIRS, and 'related'."
)
@click.option("--one-per-group", "groups", help="Columns NAME_l and NAME_r, or a table id, group.")
@click.option("--max-size", type=int, help="The largest cluster allowed.")
@click.option("--labels", type=FILE, help="Table of true entities of some elements.")
@click.option("--previous", type=FILE, help="Clusters of an earlier run.")
@click.option("--certificate", type=FILE, help="Where what proves them goes: 'relatum verify'.")
@click.option("--confidence", is_flag=True, help="Add a column: how sure each cluster is.")
@click.option("--prove", is_flag=True, help="Prove optimality.")
@click.option("--time-limit", default=60.0, show_default=True, help="Seconds, to prove.")
@click.option("--odd-rows", type=click.Choice(["refuse", "handle"]), default="refuse")
@click.option("--left", default="unique_id_l", show_default=True, help="Column of ids.")
@click.option("--right", default="unique_id_r", show_default=True, help="Column of ids.")
@click.option("--log-odds", help="Column of scores in bits; match_weight by default.")
@click.option("--probability", help="Column of scores as probabilities, instead.")
@click.option("--memory-limit", default="2GB", show_default=True)
@click.option("--threads", type=int)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing.")
def cluster_command(
    pairs: str, out: Path | None, as_json: bool, quiet: bool, groups: str | None, **options: Any
) -> None:
    """Cluster the elements of PAIRS, a Parquet or CSV file or a glob of scored pairs.

    Columns are named as Splink names them unless told otherwise. The summary and the first
    clusters are shown; -o writes all of them, whole or, on Ctrl-C, not at all.
    """
    from relatum.cli.cluster import run

    sys.exit(run(pairs, out, groups, options, as_json, quiet))


@cli.command("link")
@click.argument("records", type=str)
@click.option("--fields", help="Columns and kinds, such as title=text,year=exact,price=number.")
@click.option("--labels", help="Column of true entities, empty where they are not known.")
@click.option("--source", help="Column that says where a record comes from.")
@click.option("--one-per-source", is_flag=True, help="Sources hold no duplicates.")
@click.option("--id", "id_", help="Column of ids; unique_id or id by default, or the row.")
@click.option("--key", "keys", multiple=True, help="Columns NAME,... that true pairs may share.")
@click.option("--neighbors", type=int, help="Nearest records that each is compared with.")
@click.option("--model", type=FILE, help="Do not learn: use a linker that --save has kept.")
@click.option("--save", type=FILE, help="Keep the linker in a model file.")
@click.option("--out", "-o", type=FILE, help="Write the clusters: .parquet, .csv.")
@click.option("--previous", type=FILE, help="Clusters of an earlier run.")
@click.option("--evidence", type=FILE, help="Table of pairs: ids NAME_l, NAME_r, and 'related'.")
@click.option("--prove", is_flag=True, help="Prove optimality.")
@click.option("--show", default=3, show_default=True, help="How many clusters are printed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing.")
def link_command(records: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """Find out which of RECORDS, a CSV or Parquet file, are of the same entity.

    Kinds of fields are text, name, exact, number, date and words. What similarities are worth
    is learned from --labels, or without any. Prints a summary and some clusters; nothing is
    written unless --out or --save ask for it.
    """
    from relatum.cli.link import run

    sys.exit(run(records, options, as_json, quiet))


@cli.command("review")
@click.argument("pairs", type=str)
@click.option("--records", type=str, help="Table of records: .csv, .parquet.")
@click.option("--answers", type=FILE, default=Path("answers.csv"), show_default=True)
@click.option("--id", "id_", help="Column of ids of the records; unique_id or id by default.")
@click.option("--who", help="Who answers; the name of the account by default.")
@click.option("--port", default=0, show_default=True, help="0 takes any that is free.")
@click.option("--no-browser", is_flag=True, help="Print the address only.")
@click.option("--background", default=-0.5, show_default=True, help="Bits of unscored pairs.")
@click.option("--offset", default=0.0, show_default=True, help="Bits for all pairs.")
@click.option("--evidence", type=FILE, help="Table of what is known besides the answers.")
@click.option("--one-per-group", "groups", help="Columns NAME_l and NAME_r, or a table id, group.")
@click.option("--max-size", type=int, help="The largest cluster allowed.")
@click.option("--odd-rows", type=click.Choice(["refuse", "handle"]), default="refuse")
@click.option("--left", default="unique_id_l", show_default=True, help="Column of ids.")
@click.option("--right", default="unique_id_r", show_default=True, help="Column of ids.")
@click.option("--log-odds", help="Column of scores in bits; match_weight by default.")
@click.option("--probability", help="Column of scores as probabilities, instead.")
@click.option("--memory-limit", default="2GB", show_default=True)
@click.option("--as", "kind", type=click.Choice(["order", "map"]), help="A ranking, or labels.")
def review_command(pairs: str, **options: Any) -> None:
    """Look at the clusters of PAIRS on a local page, answer questions and correct them.

    PAIRS is a Parquet or CSV file of scored pairs, or what "relatum cluster --save" wrote. With
    --as, it is a file of any format that "relatum solve" reads, and the page asks which comes
    first, or which label. The
    page is for this machine's browser only, and its address is printed. Every answer is in the
    file of answers before the page says so; Ctrl-C ends the review, and starting it again goes on.
    """
    from relatum.cli.review import run

    run(pairs, options)


@cli.command("solvers")
def solvers_command() -> None:
    """List the solvers: what each is for, and whether it proves optimality."""
    from relatum.cli.solvers import show

    show()


@cli.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the completion script of a shell.

    For bash: relatum completion bash > ~/.relatum-complete; source ~/.relatum-complete
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(cli, {}, "relatum", "_RELATUM_COMPLETE").source())


def main() -> None:
    """Run the command line; errors of the user are one line, without a traceback."""
    _speak_any_language()
    try:
        code = cli(prog_name="relatum", standalone_mode=False) or 0
        if sys.stdout is not None:
            sys.stdout.flush()
    except (BrokenPipeError, _ReaderGoneError):  # say nothing, as other commands do
        code = _close_output(141)
    except OSError as error:  # files have errors of their own: this is the output
        told = error.strerror or str(error)
        code = _close_output(_fail(f"the output cannot be written: {told}.", 2))
    except RelatumError as error:
        code = _fail(_one_line(str(error)), 2)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = _fail("interrupted; nothing was written.", 130)
    except MemoryError:
        code = _fail("there is not enough memory for a problem of this size.", 2)
    sys.exit(code)


def _speak_any_language() -> None:
    r"""Show ids that the terminal has no letters for as numbers of letters, such as \xe9."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _close_output(code: int) -> int:
    """Forget what was not written yet, so that Python does not try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return code


def _one_line(message: str) -> str:
    return " ".join(message.split("\n"))


def _fail(message: str, code: int) -> int:
    with suppress(OSError):  # if nobody can be told, the exit code tells
        click.echo(f"relatum: {message}", err=True)
    return code
