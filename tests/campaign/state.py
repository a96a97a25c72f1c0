"""What a campaign has done so far: counted, and written to a file from which it goes on."""

from __future__ import annotations

import base64
import json
import pickle
from collections import Counter
from pathlib import Path

MOST_KEPT = 200  # failures written down in full


class State:
    """Counts and failures by campaign; the numbers of the cases done."""

    def __init__(self, seed=0, path=None):
        self.seed, self.path = seed, None if path is None else Path(path)
        self.done = Counter()
        self.counts = {}
        self.failures = []
        if self.path is not None and self.path.is_file():
            self._read(json.loads(self.path.read_text(encoding="utf-8")))

    def _read(self, saved):
        self.seed = saved["seed"]
        self.done = Counter(saved["done"])
        self.counts = {name: Counter(counts) for name, counts in saved["counts"].items()}
        self.failures = saved["failures"]

    def counting(self, campaign):
        return self.counts.setdefault(campaign, Counter())

    def note(self, campaign, number, failure):
        """Keep a failure with all that is needed to see it again."""
        self.counting(campaign)["failures"] += 1
        if len(self.failures) >= MOST_KEPT:
            return
        entry = {"campaign": campaign, "seed": self.seed, "number": number, **failure}
        objects = entry.pop("objects", None)
        if objects is not None:
            entry["shown"] = [repr(thing)[:2000] for thing in objects]
            try:
                entry["pickle"] = base64.b64encode(pickle.dumps(objects)).decode()
                objects_of(entry)
            except Exception:  # a mutant may hold what cannot be pickled, or made again
                entry["pickle"] = None
        self.failures.append(entry)

    def save(self):
        if self.path is None:
            return
        saved = {
            "seed": self.seed,
            "done": dict(self.done),
            "counts": {name: dict(sorted(c.items())) for name, c in self.counts.items()},
            "failures": self.failures,
        }
        text = json.dumps(saved, indent=1, default=repr)
        part = self.path.with_suffix(".part")
        part.write_text(text, encoding="utf-8")
        part.replace(self.path)


def objects_of(failure):
    """The objects of a failure that was written down."""
    return pickle.loads(base64.b64decode(failure["pickle"]))
