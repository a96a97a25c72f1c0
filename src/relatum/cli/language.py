"""What the library says, in the words of the command line: options instead of arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping

# what cannot be done here, said as it can; longer phrases first
PHRASES = {
    'pass combine="sum" to add their log-odds up, or drop the repeats': (
        "drop the repeats, or add their log-odds up"
    ),
    "give a `background` (Problem.from_pairs)": "give --background",
    "(Problem.from_pairs)": "(--format pairs)",
    "(Problem.from_table)": "(--format pairs)",
    "; for ids of other types use Problem.from_table": "",
    "cluster_pairs": "'relatum cluster'",
    "float('inf') sets no limit": "inf sets no limit",
}
# arguments that have other names as options
OTHERS = {"one_per_group": "--one-per-group", "combine": "--combine"}


def in_options(message: str, options: Mapping[str, str]) -> str:
    """Return an error's sentence with options in the place of arguments.

    Parameters
    ----------
    message : str
    options : mapping
        From arguments to options: those of the command that was given.

    Examples
    --------
    >>> in_options('pass odd_rows="handle"', {"odd_rows": "--odd-rows"})
    'pass --odd-rows handle'
    >>> in_options("time_limit is positive, got -1.0.", {"time_limit": "--time-limit"})
    '--time-limit is positive, got -1.0.'
    """
    for phrase, instead in PHRASES.items():
        message = message.replace(phrase, instead)
    for name, option in {**OTHERS, **options}.items():
        alone = rf"(?<![\w/.'\"`-]){name}"  # not a part of a path, an id or a quotation
        message = re.sub(rf"{alone}=([\"'])(.*?)\1", rf"{option} \2", message)
        message = re.sub(rf"{alone}=(?![\w\"'])", option, message)
        if "_" in name:
            message = re.sub(rf"{alone}(?![\w/.'\"`=])", option, message)
        else:  # a word of its own, unless the sentence is about it
            message = re.sub(rf"^{name} (is|are) ", rf"{option} \1 ", message)
    return message
