"""Compiles the facts and the help texts into two JSON files: compile_data.py FOLDER.

Run when the wheel is built; a broken source stops the build with file, line and field.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from executorch_backend_kit.help import data
from executorch_backend_kit.knowledge import store
from executorch_backend_kit.report.finding import KitError


def main(folder: Path) -> None:
    """Writes knowledge.json and help.json."""
    for name, document in (
        ("knowledge.json", store.read_sources(store.FOLDER)),
        ("help.json", data.read_sources()),
    ):
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        (folder / name).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except KitError as error:
        sys.exit(str(error))
