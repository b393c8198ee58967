"""Finds the reason of each node that a backend did not take."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from executorch_backend_kit.explain.experiments import Findings, Laboratory
from executorch_backend_kit.explain.nodes import (
    depends_on_data,
    is_scalar,
    operator_name,
    overload,
)
from executorch_backend_kit.explain.reasons import (
    DERIVED,
    STATED,
    Reason,
    hint_for,
    stated,
    with_experiments,
)
from executorch_backend_kit.explain.recording import Turn, has_rule, place_key
from executorch_backend_kit.explain.units import Unit, is_dequantize, is_quantize
from executorch_backend_kit.explain.words import Said


class Judge:
    """The reasons of one backend's turn."""

    def __init__(
        self,
        turn: Turn,
        units: Mapping[str, Unit],
        earlier: Mapping[str, str],
        laboratory: Laboratory | None,
    ) -> None:
        self._turn = turn
        self._units = units
        self._earlier = earlier
        self._laboratory = laboratory
        self._words: dict[str, list[Said]] = defaultdict(list)
        for said in turn.said:
            self._words[said.node].append(said)
        self._share_words()
        self._whole: dict[str, list[Said]] = defaultdict(list)
        for said in turn.kept:
            if place := turn.whole.get(said.node):
                self._whole[place].append(said)

    def _share_words(self) -> None:
        """A backend that says each thing once means every node of the operator that it names."""
        once = {said.op: said for said in self._turn.said if said.how in {"log", "print"}}
        for node in self._turn.program.graph.nodes:
            if node.op == "call_function" and node.name not in self._words:
                said = once.get(operator_name(node.target))
                if said and said.op.lower() in said.text.lower():
                    self._words[node.name].append(replace(said, node=node.name))

    def reason(self, node: Any) -> Reason:
        """Why the backend did not take `node`."""
        return replace(self._reason(node), backend=self._turn.name)

    def _reason(self, node: Any) -> Reason:
        if node.name in self._earlier:
            return Reason(
                "FALLBACK-EARLIER-BACKEND",
                DERIVED,
                f"{self._earlier[node.name]}, which is named first, took it.",
                "change the order of the backends",
            )
        words = self._stated(node)
        if is_scalar(node):
            return words or Reason(
                "FALLBACK-SHAPE-ARITHMETIC",
                DERIVED,
                "It calculates a size, a number: the runtime does that itself.",
                "export with fixed sizes to remove it",
            )
        unit = self._units[node.name]
        if unit.main is not node and unit.name not in self._turn.tags:
            return self._of_unit(unit, words)
        if unit.main is not node:
            unit = Unit(node, (node,))
        return self._of_operator(node, unit, words)

    def _stated(self, node: Any) -> Reason | None:
        found = overload(node.target)
        arguments = [a.name for a in found._schema.arguments] if found is not None else []
        return stated(self._words.get(node.name, ()), arguments)

    def _of_unit(self, unit: Unit, words: Reason | None) -> Reason:
        """A node that only serves an operator which was refused."""
        main = self._of_operator(unit.main, unit, self._stated(unit.main))
        if words is not None:
            return replace(
                words,
                would_delegate_if=main.would_delegate_if,
                experiments=main.experiments,
                property=main.property,
                argument=main.argument,
                found=main.found,
                value=main.value,
                confirmed=main.confirmed,
                agreement=main.agreement,
                hint=words.hint or main.hint or hint_for(words.code),
            )
        return replace(
            main,
            code="FALLBACK-UNIT",
            provenance=DERIVED,
            message=f"It belongs to {unit.name} ({operator_name(unit.main.target)}), which was "
            f"refused: {main.message}",
            agreement=None,
        )

    def _of_operator(self, node: Any, unit: Unit, words: Reason | None) -> Reason:
        rule = has_rule(self._turn.rules, operator_name(node.target))
        reason = words or self._derived(node)
        if depends_on_data(node):
            if reason is not None and reason.provenance == STATED:
                return replace(
                    reason,
                    agreement="differs: a size of its tensors depends on the data, which the words "
                    "do not say; no experiment can fix such a size",
                )
            return reason or Reason(
                "FALLBACK-DATA-DEPENDENT",
                DERIVED,
                "The size of its result depends on the data.",
                "give it a size that is known beforehand",
            )
        found = self._examine(unit)
        if found is None:
            return reason or Reason(
                "FALLBACK-NO-RULE" if rule is False else "FALLBACK-NOT-TRIED",
                DERIVED if rule is False else "unknown",
                "The backend's list has no rule for this operator; no experiment was made."
                if rule is False
                else "The backend says nothing, and no experiment was made.",
                hint_for("FALLBACK-NO-RULE") if rule is False else "",
            )
        if reason is not None and reason.provenance == DERIVED:
            whole = with_experiments(None, found, rule)
            return replace(
                reason,
                would_delegate_if=whole.would_delegate_if,
                experiments=whole.experiments,
                property=whole.property,
                argument=whole.argument,
                found=whole.found,
                value=whole.value,
                confirmed=whole.confirmed,
            )
        return with_experiments(reason, found, rule)

    def _examine(self, unit: Unit) -> Findings | None:
        return None if self._laboratory is None else self._laboratory.examine(unit)

    def _derived(self, node: Any) -> Reason | None:
        """What the graph itself shows: the model's edge, or a part of a refused whole operator."""
        if _converts_the_models_values(node):
            return Reason(
                "FALLBACK-MODEL-EDGE",
                DERIVED,
                "It converts the float values that the model takes or gives; the backend takes the "
                "quantized ones behind it.",
                hint_for("FALLBACK-MODEL-EDGE"),
            )
        said = self._whole.get(place_key(node), ())
        others = [s for s in said if operator_name(node.target) != s.op]
        if not others:
            return None
        first = others[0]
        return Reason(
            "FALLBACK-DECOMPOSED",
            DERIVED,
            f"It is part of {first.op}, which the backend would have taken whole and refused: "
            f"{first.text}",
            "remove what made it refuse the whole operator",
        )


def _converts_the_models_values(node: Any) -> bool:
    """True for quantizing an input of the model, and for dequantizing an output."""
    if is_quantize(node):
        return bool(node.args[0].op == "placeholder")
    return is_dequantize(node) and any(user.op == "output" for user in node.users)
