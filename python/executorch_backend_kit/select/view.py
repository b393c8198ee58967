"""`etbk.select/1` and `etbk.targets/1` as a person reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from executorch_backend_kit.report.finding_view import print_finding

Document = dict[str, Any]

_VERDICTS = {
    "one": "[bold green]{first}[/] comes first",
    "tie": "[bold yellow]tie[/] between {tied}",
    "unknown": "[bold yellow]unknown[/]",
}
_NOT_HERE = ("os", "device", "not-offered", "no-runtime")  # rules that say little to a person


def render(document: Document, *, verbose: bool, console: Console | None = None) -> None:
    """The verdict, the candidates, the first plan in detail, and who is out and why."""
    console = console or Console(soft_wrap=True, highlight=False)
    console.print(_summary(document))
    for finding in document["findings"]:
        print_finding(finding, console)
    candidates = document["candidates"]
    if candidates:
        console.print()
        _candidates(candidates, console)
    for question in document["open_questions"]:
        console.print(
            f"\n[cyan]?[/] {escape(question['ask'])}  "
            f"[dim]{escape(question['flag'])} {escape(', '.join(question['answers']))}[/]"
        )
    for limit in document["target"]["limits"]:
        console.print(f"[blue]i[/] {escape(limit)}")
    for candidate in candidates if verbose else candidates[:1]:
        _plan(candidate, console, verbose=verbose)
    _excluded(document, console, verbose=verbose)


def _summary(document: Document) -> str:
    candidates = document["candidates"]
    first = candidates[0]["title"] if candidates else "nothing"
    verdict = _VERDICTS[document["verdict"]].format(
        first=escape(first), tied=escape(" and ".join(document["tied"]))
    )
    return f"{escape(document['target']['title'])}: {verdict}{_why(document)}"


def _why(document: Document) -> str:
    candidates = document["candidates"]
    if document["verdict"] == "tie":
        return "; nothing that is known tells them apart: measure with etbk compare"
    if document["verdict"] == "unknown" and candidates:
        return f"; {escape(candidates[0]['title'])} would be first if that were shown or answered"
    deciding = [r for r in candidates[0]["rules"] if r["decides"]] if candidates else []
    return "".join(f" [dim]by the rule {r['rule']}: {escape(r['says'])}[/]" for r in deciding)


def _candidates(candidates: list[Document], console: Console) -> None:
    width = max(len(c["backend"]) for c in candidates)
    units = max(len(c["unit"]) for c in candidates)
    for number, c in enumerate(candidates, start=1):
        chain = " + ".join(c["chain"])
        console.print(
            f"{number}. [bold]{escape(c['backend']):{width}}[/]  {c['unit']:{units}}  "
            f"{escape(chain)}  [dim]known: {c['evidence']['level']}[/]{_taken(c['coverage'])}"
        )


def _taken(coverage: Document | None) -> str:
    if coverage is None:
        return ""
    if coverage["reason"]:
        return f"  not measured: {escape(coverage['reason'])}"
    share = coverage["node_share"]
    taken = "" if share is None else f"takes {share:.0%} of the nodes, "
    return f"  {taken}{coverage['pte_bytes']} bytes"


def _plan(c: Document, console: Console, *, verbose: bool) -> None:
    evidence = c["evidence"]
    where = ", ".join(filter(None, (evidence["where"], evidence["date"])))
    console.print(f"\n[bold]{escape(c['title'])}[/] [dim]{escape(' + '.join(c['chain']))}[/]")
    console.print(f"  known: {evidence['level']} [dim]({escape(where)})[/]")
    for finding in c["findings"]:
        if verbose or finding["severity"] != "info":
            print_finding(finding, console)
    for title, lines in _sections(c):
        if lines:
            console.print(f"  [dim]{title}[/]")
            for line in lines:
                console.print(f"    {escape(line)}")
    if c["snippet"]:
        console.print("  [dim]export[/]")
        for line in c["snippet"].splitlines():
            console.print(f"    {escape(line)}", highlight=False)


def _sections(c: Document) -> Iterator[tuple[str, list[str]]]:
    yield "needs", [_need(p) for p in c["prerequisites"] if p["kind"] != "host"]
    yield "install", c["install"]
    yield "variables", [f"{v['name']}: {v['what']}" for v in c["environment"]]
    build = c["build"]
    flags = [*build["flags"], *(f"also: {v}" for v in build["variables"])]
    from_source = build["from"] == "source"
    lines = [*flags, *build["link"]] if from_source else build["link"]
    yield f"runtime, from {'source' if from_source else 'the wheel'}", lines
    quantization = c["quantization"]
    required = "required" if quantization["required"] else "optional"
    yield (
        "quantization",
        [
            f"{required}; {'; '.join(quantization['schemes']) or 'no scheme'}",
            *([f"quantizer: {quantization['quantizer']}"] if quantization["quantizer"] else []),
            *([quantization["note"]] if quantization["note"] else []),
        ],
    )
    yield "to validate", [f"{v['how']} Counts as: {v['proves']}." for v in c["validate"]]


def _need(prerequisite: Document) -> str:
    state = {True: "here", False: "missing", None: "not looked up"}[prerequisite["here"]]
    licence = f", {prerequisite['licence']}" if prerequisite["licence"] else ""
    return (
        f"{prerequisite['what']}{licence}, to {prerequisite['needed_to']}: {state}"
        + (f". {prerequisite['fix']}" if prerequisite["here"] is False else "")
    )  # fmt: skip


def _excluded(document: Document, console: Console, *, verbose: bool) -> None:
    excluded = document["excluded"]
    shown = [e for e in excluded if verbose or e["rule"] not in _NOT_HERE]
    if shown:
        console.print("\n[dim]excluded[/]")
    for e in shown:
        console.print(f"  {e['backend']}: {escape(e['reason'])} [dim]({e['rule']})[/]")
    if len(shown) < len(excluded):
        rest = ", ".join(e["backend"] for e in excluded if e not in shown)
        console.print(f"[dim]not for this target: {rest}; --verbose says why[/]")


def render_targets(document: Document, console: Console | None = None) -> None:
    """One line for each target."""
    console = console or Console(soft_wrap=True, highlight=False)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    # Names are copied from here, so none is cut.
    table.add_column("target", min_width=max(len(t["name"]) for t in document["targets"]))
    table.add_column("what it is")
    table.add_column("also called")
    for target in document["targets"]:
        table.add_row(target["name"], target["title"], ", ".join(target["aliases"]))
    console.print(table)
    console.print("\n[dim]etbk select --target TARGET; your own: etbk help TARGET-UNKNOWN[/]")
