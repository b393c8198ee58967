"""Writes pte-rules.md from the library's own list: write_rules.py > docs/formats/pte-rules.md."""

from __future__ import annotations

import sys
from itertools import groupby

from executorch_backend_kit.help import explain
from executorch_backend_kit.pte import rules

HEAD = """\
# The rules for `.pte` and `.ptd` files

`etbk inspect`, `etbk check` and `executorch_backend_kit.pte` hold a file to these. A finding
names the rule, the exact field and what is there. Rules up to PTE-199 are about structure; the
rest is what the runtime takes for granted, or checks too late, when it loads or executes a method.

A file that breaks no rule does not crash ExecuTorch 1.5.1 in loading a program or a method: this
is tried with mutants, each through the real runtime in a process of its own
(`pte/tests/differential`). The blobs of ExecuTorch's own backends are opaque: a damaged one can
still crash its backend. Blobs with an [envelope](envelope.md) are caught by their hash.

`etbk help PTE-401` shows the same page in the terminal. This one is written by
`docs/formats/write_rules.py`; a test compares.
"""

TITLES = {
    "PTE-0": "The file and its header",
    "PTE-1": "The FlatBuffer",
    "PTE-2": "The program and its methods",
    "PTE-3": "Values",
    "PTE-4": "Tensors and memory",
    "PTE-5": "Instructions",
    "PTE-6": "Delegates and their blobs",
    "PTE-7": "Segments and named data",
    "PTE-8": "Data files",
}

TAIL = """
## What can still go wrong in execute

These are defects or limits of the runtime that no rule can rule out:

- A loop whose condition never changes runs until the limit of the runtime, 10 million
  instructions, and then fails with an error. PTE-514 catches only what can never end.
- Kernels of `quantized_decomposed` and a few others end the process (`ET_CHECK`) instead of
  refusing: for a scale, zero point or element type that they do not take. PTE-518 knows those that
  were met; constants are checked, values computed at run time cannot be.
- An operator that is not in the kit's table (a custom one) is not checked for the number and kinds
  of its arguments.
- XNNPACK's delegate trusts shapes and element types of its arguments.

The reader has limits: 256 MiB of metadata, 256 Mi list elements, 8 GiB of planned memory. Each
can be raised (`Limits`), and a file beyond them is refused by PTE-014, PTE-015 or PTE-431.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for hundred, group in groupby(rules(), key=lambda rule: rule["code"][:5]):
        parts.append(f"\n## {TITLES[hundred]}\n")
        for rule in group:
            (answer,) = explain(rule["code"]).answers
            parts.append(
                f"\n### {rule['code']}: {rule['meaning']}\n\n{answer.cause}\n\nDo: {answer.next}.\n"
            )
    return "".join(parts) + TAIL


if __name__ == "__main__":
    sys.stdout.write(page())
