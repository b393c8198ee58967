"""The export snippets of plans are run, where lowering works here, and give their delegates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from executorch_backend_kit.knowledge import Backend, Knowledge, load
from executorch_backend_kit.probe import Prober
from executorch_backend_kit.select import choose
from executorch_backend_kit.select.plan import Plan, plans
from executorch_backend_kit.select.snippets import compose
from golden import plain_request
from snippet_trials import lowered

# What the plain wheel lowers for; scripts/verify_extras tries the others.
PLAIN = ("xnnpack", "vulkan", "coreml", "portable")
_IN_BFLOAT16 = """
import torch

model, inputs = model.to(torch.bfloat16), tuple(x.to(torch.bfloat16) for x in inputs)
"""
QUANTIZED = [("xnnpack", "int4"), ("vulkan", "int8")]


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    return load()


@pytest.fixture(scope="module")
def prober() -> Iterator[Prober]:
    with Prober() as server:
        yield server


def all_plans(knowledge: Knowledge) -> Iterator[Plan]:
    for target in knowledge.targets:
        yield from plans(choose(knowledge, plain_request(target)), knowledge)


def test_every_distinct_snippet_of_every_target_gives_its_recorded_delegates(
    knowledge: Knowledge, prober: Prober, tmp_path: Any
) -> None:
    wanted: dict[str, tuple[Plan, dict[str, int]]] = {}
    for plan in all_plans(knowledge):
        if plan.contender.name in PLAIN:
            delegates = plan.contender.backend.get("export", "delegates", default={})
            wanted.setdefault(plan.snippet.code, (plan, delegates))
    assert {plan.contender.name for plan, _ in wanted.values()} == set(PLAIN)
    seen = lowered(prober, {code: code for code in wanted}, tmp_path)
    for code, (plan, delegates) in wanted.items():
        assert seen[code].get("delegates") == delegates, (plan.name, seen[code])


def test_snippets_that_quantize_or_take_other_dtypes_delegate_too(
    knowledge: Knowledge, prober: Prober, tmp_path: Any
) -> None:
    codes = {
        f"{name} {recipe}": compose(knowledge.backends[name], {}, [], quantize=recipe).code
        for name, recipe in QUANTIZED
    }
    bfloat16 = compose(knowledge.backends["xnnpack"], {}, [], dtype="bfloat16").code
    codes["xnnpack bfloat16"] = _IN_BFLOAT16 + bfloat16
    for name, report in lowered(prober, codes, tmp_path).items():
        backend = knowledge.backends[name.split()[0]]
        assert backend.id in report.get("delegates", {}), (name, report)


def test_every_plan_has_a_snippet_but_where_none_is_recorded(knowledge: Knowledge) -> None:
    without = {p.contender.name for p in all_plans(knowledge) if not p.snippet.code}
    assert without <= {"tensorrt"}


def test_a_snippet_is_python(knowledge: Knowledge) -> None:
    for plan in all_plans(knowledge):
        compile(plan.snippet.script("file.pte"), plan.name, "exec")


def test_dynamic_shapes_and_stages_are_written_into_it(knowledge: Knowledge) -> None:
    xnnpack = knowledge.backends["xnnpack"]
    code = compose(knowledge.backends["vulkan"], {}, [xnnpack], dynamic=True, quantize="int8").code
    assert code.count("dynamic_shapes=dynamic_shapes") == 2
    assert code.index("to_edge_transform_and_lower(") < code.index("edge.to_backend(Xnnpack")
    assert code.endswith("program = edge.to_executorch()\n")


def test_a_setting_replaces_whole_words_only() -> None:
    data = {
        "export": {
            "snippet": 'x = ("a8", "a8-b", a8)\nedge = x\nprogram = edge.to_executorch()\n',
            "settings": {"chip": "a8"},
        }
    }
    backend = Backend("toy", "Toy", (), "test", data)
    assert compose(backend, {"chip": "z9"}, []).code.startswith('x = ("z9", "a8-b", z9)')
