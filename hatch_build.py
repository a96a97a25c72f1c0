"""Build hook: compiles the kernels, into the wheel or, for an editable install, in place."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))
import build_kernels


class CustomBuildHook(BuildHookInterface[Any]):
    """Compile the kernels before a wheel is packed."""

    def dependencies(self) -> list[str]:
        """Ask for a compiler where there is none."""
        return ["ziglang"] if build_kernels.compiler_is_missing() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build all variants that are shipped for this machine."""
        if self.target_name != "wheel":
            return
        chosen = build_kernels.variants()
        made = build_kernels.build(chosen)
        if version == "editable":
            build_kernels.put_in_place(made, chosen)
        else:
            build_data["force_include"] |= {str(file): str(at) for file, at in made.items()}
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
