"""Readers of file formats, one module each."""

from relatum.io.lolib import read_lolib as read_lolib
from relatum.io.preflib import Rankings as Rankings
from relatum.io.preflib import read_preflib as read_preflib

__all__ = ["Rankings", "read_lolib", "read_preflib"]
