"""Fitted models in files that hold data only: reading one runs nothing that is in it.

`stored_arrays` packs JSON and arrays into one file, `values` writes a model so, `kinds` lists the
classes that a file may name, `soundness` says what they must look like; `model_files` saves and
loads. This room imports feasible sets and errors; the classes themselves are imported when a model
is of them. Begin with `model_files`.
"""

from relatum.io.models.model_files import load_model, read_model, save_model

__all__ = ["load_model", "read_model", "save_model"]
