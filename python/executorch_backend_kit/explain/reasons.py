"""Why a node stayed outside of a backend: the kinds of reason, and how each is known.

In order of trust: stated (the backend's own words), derived (from what the lowering shows),
inferred (by experiment), unknown. They are never mixed: what an experiment adds to a stated reason
stands beside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from executorch_backend_kit.explain.changes import CODES
from executorch_backend_kit.explain.experiments import Findings
from executorch_backend_kit.explain.words import Said

STATED, DERIVED, INFERRED, UNKNOWN = "stated", "derived", "inferred", "unknown"

# What the words of a backend are about: the first that fits, before and after a look for the names
# of the operator's own arguments.
_NO_RULE = (
    r"no operator impl|not supported:|not supported by coreml|the device has no |unsupported op"
    r"|no (?:entry|rule|visitor)|unsupported target|not in .*support|not .*registered"
)
_BEFORE = (
    (r"block ?list|allow ?list|skip_ops|is skipped|not enabled", "FALLBACK-EXCLUDED"),
    (_NO_RULE, "FALLBACK-NO-RULE"),
    (r"quanti[sz]|dequant|choose.?qparam|per.tensor|per.channel", "FALLBACK-QUANTIZATION"),
    (r"dynamic|symbolic|symint|no product|unbacked|upper bound", "FALLBACK-DYNAMIC-SHAPE"),
    (r"dtype|data type|\bis torch\.\w+|int64|bfloat16|float64", "FALLBACK-DTYPE"),
    (r"static param|must be a parameter|be constant|constant weight", "FALLBACK-COMPUTED-WEIGHT"),
)
_AFTER = (
    (r"\brank\b|\b[1-6]D\b|dimensional|high dim|dimensions, more", "FALLBACK-RANK"),
    (r"dim.order|memory format|channels.last|layout|contiguous", "FALLBACK-LAYOUT"),
    (r"texture|too large|too big|exceed|limit|kernel_[xy]", "FALLBACK-SIZE"),
    (r"==|!=|\bmode\b|padding|stride|kernel|override|trailing|argument", "FALLBACK-ATTRIBUTE"),
)

_PROPERTY_OF = {code: name for name, code in CODES.items()}


@dataclass(frozen=True)
class Reason:
    """Why one backend did not take a node.

    code:               a stable code with a page in `etbk help`
    provenance:         STATED, DERIVED, INFERRED or UNKNOWN
    would_delegate_if:  what an experiment showed; None if nothing was found
    found, value:       the property as it is, and as it would be accepted
    confirmed:          "lowered", "partitioned" or None
    experiments:        how many changed forms were tried
    agreement:          of a stated reason with the experiments, in words
    """

    code: str
    provenance: str
    message: str
    hint: str = ""
    would_delegate_if: str | None = None
    alternatives: tuple[str, ...] = ()
    property: str | None = None
    argument: str | None = None
    found: str | None = None
    value: str | None = None
    confirmed: str | None = None
    experiments: int = 0
    agreement: str | None = None
    backend: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The reason in the fields of `etbk.explain/1`."""
        return {
            "code": self.code,
            "provenance": self.provenance,
            "message": self.message,
            "hint": self.hint,
            "page": f"etbk help {self.code}",
            "backend": self.backend,
            "would_delegate_if": self.would_delegate_if,
            "alternatives": list(self.alternatives),
            "experiment": {
                "property": self.property,
                "argument": self.argument,
                "found": self.found,
                "value": self.value,
                "confirmed": self.confirmed,
                "tried": self.experiments,
            },
            "agreement": self.agreement,
        }


def stated(words: Sequence[Said], arguments: Sequence[str] = ()) -> Reason | None:
    """The backend's own words about a node, all that it said; `arguments` are the operator's."""
    if not words:
        return None
    texts = list(dict.fromkeys(said.text for said in words))
    hint = next((said.hint for said in words if said.hint), "")
    message = "; ".join(texts)
    return Reason(about(message.replace(words[0].op, ""), arguments), STATED, message, hint)


def about(text: str, arguments: Sequence[str] = ()) -> str:
    """The code for a backend's words."""
    named = [rf"\b{name.replace('_', '[ _]')}\b" for name in arguments if name != "self"]
    by_name = [(pattern, "FALLBACK-ATTRIBUTE") for pattern in named]
    text = re.sub(r"\b[a-z_]+\.[a-zA-Z]+\b", "", text)  # mean.dim is an operator, no argument
    for pattern, code in (*_BEFORE, *by_name, *_AFTER):
        if re.search(pattern, text, re.IGNORECASE):
            return code
    return "FALLBACK-STATED"


def with_experiments(reason: Reason | None, found: Findings, rule: bool | None) -> Reason:
    """What the experiments add to a stated or derived reason, or the reason that they give."""
    answer = found.answers[0] if found.answers else None
    option = found.options[0] if found.options else None
    base = reason or _without_words(found, rule)
    base = replace(base, experiments=found.tried)
    if option is not None:
        setting = f"the option {option[0]} were {option[1]}"
        base = replace(
            base,
            would_delegate_if=setting,
            property="option",
            argument=option[0],
            value=str(option[1]),
            confirmed="lowered",
            hint=base.hint or f"set --option BACKEND.{option[0]}={option[1]}",
            alternatives=tuple(a.to_text() for a in found.answers),
        )
        if base.provenance == UNKNOWN:
            base = replace(
                base,
                code="FALLBACK-OPTION",
                provenance=INFERRED,
                message=f"The backend takes it with {option[0]}={option[1]}.",
            )
    elif answer is not None:
        change = answer.changes[0]
        base = replace(
            base,
            would_delegate_if=answer.to_text(),
            property=change.property,
            argument=change.argument,
            found=change.found,
            value=change.value,
            confirmed=answer.confirmed,
            alternatives=tuple(a.to_text() for a in found.answers[1:]),
        )
        if base.provenance == UNKNOWN:
            base = replace(
                base,
                code=CODES[change.property],
                provenance=INFERRED,
                message=f"The backend takes it if {answer.to_text()}, and not as it is.",
                hint=hint_for(CODES[change.property]),
            )
    if base.provenance == STATED:
        base = replace(base, agreement=_agreement(base, found))
    if not base.hint:
        base = replace(base, hint=hint_for(base.code))
    return base


def _without_words(found: Findings, rule: bool | None) -> Reason:
    """The reason of a node that the backend says nothing about, before answers are looked at."""
    if found.control == "taken":
        return Reason(
            "FALLBACK-SURROUNDINGS",
            INFERRED,
            "The backend takes this operator when it is cut out of the model, so that what is "
            "around it decides: a cycle, a group that only moves data, or other users.",
            hint_for("FALLBACK-SURROUNDINGS"),
        )
    if found.cut_short and not found.answers:
        return Reason(
            "FALLBACK-NOT-TRIED",
            UNKNOWN,
            "The backend says nothing, and the time for experiments was up.",
            "give more time with --budget",
        )
    if rule is False and not found.answers and not found.options and found.tried > 0:
        return Reason(
            "FALLBACK-NO-RULE",
            DERIVED,
            "The backend's list has no rule for this operator, and it was refused in all "
            f"{found.tried} forms that were tried.",
            hint_for("FALLBACK-NO-RULE"),
        )
    tried = f"it was refused in all {found.tried} forms that were tried"
    if found.control != "refused":
        tried = f"no experiment was possible ({found.control})"
    if rule is False and found.control != "refused":
        return Reason(
            "FALLBACK-NO-RULE",
            DERIVED,
            f"The backend's list has no rule for this operator; {tried}.",
            hint_for("FALLBACK-NO-RULE"),
        )
    return Reason("FALLBACK-UNKNOWN", UNKNOWN, f"The backend says nothing, and {tried}.")


def _agreement(reason: Reason, found: Findings) -> str:
    """Whether the experiments say the same as the words, and if not, why."""
    if found.control == "taken":
        verdict = (
            "differs: cut out of the model the unit is taken as it is, so that the words hold for "
            "its surroundings"
        )
    elif found.control != "refused":
        verdict = f"not tried: {found.control}"
    elif found.options:
        name, value = found.options[0]
        verdict = f"agrees: with the option {name}={value} the unit is taken as it is"
    elif found.answers:
        verdict = _with_answers(reason, found)
    elif reason.code == "FALLBACK-NO-RULE":
        verdict = f"agrees: all {found.tried} changed forms were refused too"
    else:
        late = "the time was up" if found.cut_short else "no single change is enough"
        verdict = f"not decided: all {found.tried} changed forms were refused too; {late}"
    return verdict


def _with_answers(reason: Reason, found: Findings) -> str:
    answer = found.answers[0].to_text()
    kinds = {change.property for a in found.answers for change in a.changes}
    named = _PROPERTY_OF.get(reason.code)
    if named is None or named in kinds:
        return f"agrees: taken if {answer}"
    tried = found.by_property.get(named, 0)
    words = (
        f"{tried} other values of the {named} were tried and refused"
        if tried
        else f"the {named} could not be changed alone"
    )
    return (
        f"differs: the words are about the {named}, but {words}, while the unit is taken if "
        f"{answer}: the words name the check that failed, not what made it fail"
    )


_HINTS = {
    "FALLBACK-NO-RULE": "use an operator that the backend has, or name another backend after it",
    "FALLBACK-EXCLUDED": "remove it from the list that excludes it",
    "FALLBACK-DTYPE": "convert the model or the tensor to a dtype that the backend takes",
    "FALLBACK-RANK": "reshape the tensor before and after this operator",
    "FALLBACK-DYNAMIC-SHAPE": "export with fixed sizes, or keep them out of this operator",
    "FALLBACK-COMPUTED-WEIGHT": "make it a parameter or buffer of the model",
    "FALLBACK-LAYOUT": "use the memory format that the backend takes",
    "FALLBACK-BATCH": "export with a batch of 1",
    "FALLBACK-SIZE": "use smaller sizes, or split the operator",
    "FALLBACK-ATTRIBUTE": "write the operator with the value that is taken",
    "FALLBACK-QUANTIZATION": "change how this operator is quantized before lowering",
    "FALLBACK-STATED": "do what the backend's words ask for",
    "FALLBACK-MODEL-EDGE": "give the program quantized inputs and outputs (QuantizeInputs of exir)",
    "FALLBACK-SURROUNDINGS": "see the operators beside it in this report",
}


def hint_for(code: str) -> str:
    """What to do, for a kind of reason."""
    return _HINTS.get(code, "")
