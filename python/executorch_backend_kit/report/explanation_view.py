"""`etbk.explain/1` as a person reads it: what is delegated, what stands in the way, then why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from executorch_backend_kit.report.finding_view import print_finding

Document = dict[str, Any]

_PROVENANCE = {
    "stated": "the backend says",
    "derived": "derived",
    "inferred": "by experiment",
    "unknown": "unknown",
}
_SHOWN = 12  # reasons, before --verbose


def render(document: Document, console: Console | None = None, *, verbose: bool = False) -> None:
    """Prints the document."""
    console = console or Console(highlight=False)
    console.print(
        f"[bold]{escape(Path(document['model']).name)}[/] for "
        f"[bold]{escape(document['configuration'])}[/]"
    )
    _summary(document, console)
    _stages(document, console)
    _blockers(document, console)
    _reasons(document, console, verbose=verbose)
    _cures(document, console)
    _kernels(document, console)
    for finding in document["findings"]:
        console.print()
        print_finding(finding, console)
    _changes(document, console)
    _gates(document, console)
    if legend := _legend(document):
        console.print(f"\n{legend}", style="dim")


def _summary(document: Document, console: Console) -> None:
    summary = document["summary"]
    if summary is None:
        return
    share, counts = summary["delegated"], summary["nodes"]
    parts = [
        f"{_percent(share[key])} of the {key}"
        for key in ("arithmetic", "bytes")
        if share[key] is not None
    ]
    if parts:
        parts.append(f"{counts['delegated']} of {counts['tensor']} operators")
        console.print(f"  delegated: {', '.join(parts)}")
    else:
        console.print(f"  outside of delegates: {counts['undelegated']} kinds of operators")
    names = ", ".join(f"{b['delegates']} x {b['name']} ({b['id']})" for b in document["backends"])
    console.print(f"  delegates: {summary['delegates']}" + (f": {escape(names)}" if names else ""))
    conversions = summary["boundary_conversions"]
    if summary["boundary_bytes"] is not None:
        size = _size(summary["boundary_bytes"])
        console.print(
            f"  boundary:  {summary['boundary_tensors']} tensors, {size}"
            + (f", {conversions} with a change of memory order" if conversions else "")
        )
    unknown = summary["arithmetic"]["unknown_operators"]
    if unknown:
        console.print(f"  not counted, no formula: {escape(', '.join(unknown))}")
    if counts["scalar"]:
        console.print(f"  beside: {counts['scalar']} operators calculate sizes and numbers")


def _stages(document: Document, console: Console) -> None:
    failed = [s for s in document["stages"] if s["status"] == "failed"]
    if not failed and document["stages"]:
        done = [s["stage"] for s in document["stages"] if s["status"] == "ok"]
        console.print(f"  stages:    [green]✓[/] {', '.join(done)}")
    for stage in failed:
        console.print(f"  stages:    [red]✗ {stage['stage']} failed[/]: {escape(stage['error'])}")


def _blockers(document: Document, console: Console) -> None:
    rows = document["blockers"]
    if not rows:
        return
    console.print("\n[bold]What stands in the way[/], the worthiest first")
    table = _table("operator", "times")
    for heading in ("arithmetic", "delegates", "boundary"):
        table.add_column(f"gain:\n{heading}", justify="right", no_wrap=True)
    table.add_column("why")
    for row in rows[:_SHOWN]:
        gain = row["gain"]
        table.add_row(
            escape(row["op"]),
            str(row["count"]),
            *(
                ("", "", "")
                if gain is None
                else (
                    _number(gain["arithmetic"]),
                    f"{-gain['delegates']:+d}" if gain["delegates"] else "0",
                    _size(-gain["boundary_bytes"], sign=True),
                )
            ),
            row["code"] or "",
        )
    console.print(table)
    if len(rows) > _SHOWN:
        console.print(f"  and {len(rows) - _SHOWN} more: --json has all", style="dim")


def _reasons(document: Document, console: Console, *, verbose: bool) -> None:
    groups: dict[tuple[str, str, str, str | None], list[Document]] = {}
    for node in document["nodes"]:
        reason = node["reason"]
        if reason is not None and node["kind"] == "tensor":
            key = (node["op"], reason["code"], reason["message"], reason["would_delegate_if"])
            groups.setdefault(key, []).append(node)
    if not groups:
        return
    console.print("\n[bold]Why[/]")
    shown = list(groups.items()) if verbose else list(groups.items())[:_SHOWN]
    for (op, code, message, answer), nodes in shown:
        reason, source = nodes[0]["reason"], nodes[0]["source"]
        times = f" x {len(nodes)}" if len(nodes) > 1 else ""
        console.print(
            f"[bold]{escape(op)}[/]{times}  {_PROVENANCE[reason['provenance']]}: "
            f"{escape(message)} [dim]\\[{code}][/]"
        )
        if source and source["file"]:
            where = f"{source['file']}:{source['line']}"
            said = f"  {source['expression']}" if source["expression"] else ""
            console.print(f"    at: {escape(where + said)}", style="dim", soft_wrap=True)
        if answer:
            how = reason["experiment"]["confirmed"]
            proof = "really lowered" if how == "lowered" else "chosen by the partitioner"
            console.print(f"    taken if {escape(answer)} [dim]({proof})[/]")
        if reason["agreement"] and reason["agreement"].startswith("differs"):
            console.print(f"    {escape(reason['agreement'])}", style="yellow")
        if reason["hint"]:
            console.print(f"    do: {escape(reason['hint'])}")
    if len(groups) > len(shown):
        console.print(f"  and {len(groups) - len(shown)} more: --verbose", style="dim")


def _cures(document: Document, console: Console) -> None:
    if not document["cures"]:
        return
    console.print("\n[bold]Cures[/]")
    glyphs = {True: "[green]✓[/]", False: "[red]✗[/]", None: " "}
    for cure in document["cures"]:
        console.print(f"{glyphs[cure['verified']]} {escape(cure['text'])}")
        if cure["diff"]:
            for line in cure["diff"].splitlines():
                colour = "red" if line.startswith("-") else "green"
                console.print(f"    [{colour}]{escape(line)}[/]", soft_wrap=True)
        if cure["problem"]:
            console.print(f"    {escape(cure['problem'])}", style="dim")
        measured = cure["measured"] or {}
        if "delegated_arithmetic" in measured:
            before, after = measured["delegated_arithmetic"]
            delegates = measured["delegates"]
            console.print(
                f"    measured: {_number(before)} to {_number(after)} operations delegated, "
                f"{delegates[0]} to {delegates[1]} delegates, "
                f"numbers within {measured['max_abs_error']:.1e}"
            )
    if any(cure["verified"] is None for cure in document["cures"]):
        console.print("  --try applies them to the whole model and measures", style="dim")


def _kernels(document: Document, console: Console) -> None:
    rows = document["kernels_needed"]
    missing = [r for r in rows if r["available"] is False]
    if not rows:
        return
    console.print(f"\nKernels that the rest needs: {len(rows)}", end="")
    if not missing:
        known = all(r["available"] for r in rows)
        console.print(", all in this runtime" if known else "; no runtime could be asked")
        names = ", ".join(f"{r['op']}.{r['overload']}".rstrip(".") for r in rows[:_SHOWN])
        console.print(f"  {escape(names)}" + (" ..." if len(rows) > _SHOWN else ""), style="dim")
        return
    names = ", ".join(f"{r['op']}.{r['overload']}" for r in missing)
    console.print(f"; [red]not in this runtime:[/] {escape(names)}")


def _changes(document: Document, console: Console) -> None:
    changes = document["changes"]
    if changes is None:
        return
    console.print("\n[bold]Since the baseline[/]")
    for name, (before, after) in changes["numbers"].items():
        if before != after:
            console.print(f"  {name}: {before} to {after}")
    for key in ("fell_back", "delegated", "appeared", "vanished"):
        if changes[key]:
            shown = ", ".join(changes[key][:8]) + (" ..." if len(changes[key]) > 8 else "")
            console.print(f"  {key.replace('_', ' ')}: {escape(shown)}")
    for row in changes["reason_changed"][:8]:
        console.print(f"  {row['name']}: {row['before']} to {row['after']}")
    if not any(changes[k] for k in ("fell_back", "delegated", "appeared", "vanished")):
        console.print("  the same operators are delegated")


def _gates(document: Document, console: Console) -> None:
    for gate in document["gates"]:
        glyph = "[green]✓[/]" if gate["passed"] else "[red]✗[/]"
        console.print(f"{glyph} {escape(gate['name'])}: {escape(gate['detail'])}")


def _legend(document: Document) -> str:
    spent = document["experiments"]
    parts = []
    if spent.get("partitions"):
        parts.append(
            f"{spent['partitions']} experiments on {spent['units']} units, "
            f"{spent['lowerings']} really lowered."
        )
    if document["blockers"]:
        parts.append("A gain is what changes if the operator were delegated too.")
    if "total" in document["seconds"]:
        parts.append(f"Took {document['seconds']['total']:.0f} s.")
    return " ".join(parts)


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in headings:
        table.add_column(heading, no_wrap=True)
    return table


def _percent(share: float) -> str:
    return f"{share:.0%}" if share in (0, 1) or 0.01 < share < 0.99 else f"{share:.2%}"


def _number(value: int) -> str:
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.3g} {unit}"
    return str(value)


def _size(value: int, *, sign: bool = False) -> str:
    plus = "+" if sign and value > 0 else ""
    for limit, unit in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if abs(value) >= limit:
            return f"{plus}{value / limit:.1f} {unit}"
    return f"{plus}{value} B"
