"""The properties of a unit that are changed, one at a time, to see what its backend refuses.

Found from the operator's own schema and from the values it has in the graph, so that they hold for
any operator of any backend. A change that the operator itself does not take is dropped later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from executorch_backend_kit.explain.nodes import dtype_name, hint, overload, tensors, values
from executorch_backend_kit.explain.specimen import Draft, Input, Reference
from executorch_backend_kit.explain.units import is_choose, is_dequantize, is_quantize

CODES = {
    "dynamic shape": "FALLBACK-DYNAMIC-SHAPE",
    "attribute": "FALLBACK-ATTRIBUTE",
    "dtype": "FALLBACK-DTYPE",
    "memory format": "FALLBACK-LAYOUT",
    "constant": "FALLBACK-COMPUTED-WEIGHT",
    "rank": "FALLBACK-RANK",
    "batch": "FALLBACK-BATCH",
    "size": "FALLBACK-SIZE",
    "quantization": "FALLBACK-QUANTIZATION",
}


@dataclass(frozen=True)
class Change:
    """One property with another value.

    property: a key of CODES
    argument: which argument or tensor, in the operator's own words
    found, value: as text
    """

    property: str
    argument: str
    found: str
    value: str
    apply: Callable[[Draft], None]

    def to_text(self) -> str:
        """As an answer to "it would be delegated if"."""
        return f"{self.argument} were {self.value} (is {self.found})"


def changes(draft: Draft) -> Iterator[Change]:
    """All single changes, the most telling first."""
    yield from _static(draft)
    yield from _attributes(draft)
    yield from _dtypes(draft)
    yield from _constants(draft)
    yield from _memory_formats(draft)
    yield from _quantization(draft)
    yield from _ranks(draft)
    yield from _batch(draft)
    yield from _sizes(draft)


def activations(draft: Draft) -> list[Input]:
    """The tensors that are computed at run time."""
    return [i for i in draft.inputs.values() if i.kind == "activation"]


def _tensors(draft: Draft) -> list[Input]:
    return [i for i in draft.inputs.values() if i.kind != "number"]


# Dynamic shapes


def _static(draft: Draft) -> Iterator[Change]:
    symbols = sorted(
        {str(s) for i in _tensors(draft) for s in i.sizes if not isinstance(s, int)}
        | {str(i.number) for i in draft.inputs.values() if _is_symbolic(i.number)}
    )
    if not symbols:
        return

    def fix(changed: Draft) -> None:
        for one in _tensors(changed):
            one.sizes = tuple(hint(s) for s in one.sizes)
        numbers = {i.name: hint(i.number) for i in changed.inputs.values() if i.kind == "number"}
        made = {
            n.name: hint(n.meta["val"])
            for n in changed.unit.nodes
            if _is_symbolic(n.meta.get("val")) and n is not changed.unit.main
        }
        _put_numbers(changed, {**numbers, **made})

    sizes = ", ".join(symbols)
    yield Change("dynamic shape", "every size", f"dynamic: {sizes}", "fixed", fix)


def _put_numbers(changed: Draft, numbers: dict[str, int]) -> None:
    """Writes numbers where nodes that made them were read."""
    import torch

    for node in changed.unit.nodes:
        args, kwargs = changed.arguments_of(node)
        if any(n.name in numbers for n in node.all_input_nodes):
            changed.arguments[node.name] = torch.fx.node.map_aggregate(
                (args, kwargs),
                lambda a: numbers.get(a.name, a) if isinstance(a, torch.fx.Node) else a,
            )


def _is_symbolic(value: Any) -> bool:
    import torch

    return isinstance(value, (torch.SymInt, torch.SymFloat))


# Attributes, from the schema


def _attributes(draft: Draft) -> Iterator[Change]:
    main = draft.unit.main
    found = overload(main.target)
    if found is None:
        return
    args, kwargs = draft.arguments_of(main)
    rank = max((len(i.sizes) for i in _tensors(draft)), default=0)
    for index, argument in enumerate(found._schema.arguments):
        given = index < len(args) or argument.name in kwargs
        value = args[index] if index < len(args) else kwargs.get(argument.name, _default(argument))
        kind = str(argument.type)
        if "Tensor" in kind or _has_nodes(value):
            if "List[Tensor]" in kind and isinstance(value, (list, tuple)):
                yield from _shorter_lists(index, argument.name, value)
            continue
        for other in _others(kind, value, _default(argument), rank):
            if other == value and type(other) is type(value):
                continue
            yield _attribute(index, argument, value, other, given=given)


def _attribute(index: int, argument: Any, value: Any, other: Any, *, given: bool) -> Change:
    def put(changed: Draft) -> None:
        node = changed.unit.main
        args, kwargs = changed.arguments_of(node)
        new_args, new_kwargs = list(args), dict(kwargs)
        if index < len(new_args):
            new_args[index] = other
        elif argument.kwarg_only or argument.name in kwargs:
            new_kwargs[argument.name] = other
        else:
            between = list(overload(node.target)._schema.arguments)[len(new_args) : index]
            new_args += [new_kwargs.pop(b.name, _default(b)) for b in between]
            new_args.append(other)
        changed.arguments[node.name] = (tuple(new_args), new_kwargs)

    text = _text(value) + ("" if given else ", the default")
    return Change("attribute", argument.name, text, _text(other), put)


def _shorter_lists(index: int, name: str, value: Any) -> Iterator[Change]:
    for length in (2, 4):
        if len(value) > length:

            def cut(changed: Draft, length: int = length) -> None:
                args, kwargs = changed.arguments_of(changed.unit.main)
                shorter = [*args]
                shorter[index] = list(args[index])[:length]
                changed.arguments[changed.unit.main.name] = (tuple(shorter), kwargs)

            count = len(value)
            yield Change("attribute", f"the number of {name}", str(count), str(length), cut)


def _default(argument: Any) -> Any:
    return argument.default_value if argument.has_default_value() else None


def _has_nodes(value: Any) -> bool:
    import torch

    if isinstance(value, (list, tuple)):
        return any(_has_nodes(v) for v in value)
    return isinstance(value, torch.fx.Node)


def _others(kind: str, value: Any, default: Any, rank: int) -> list[Any]:
    """Other values worth trying for an argument of that kind, the likeliest first."""
    import torch

    if isinstance(value, bool) or kind in {"bool", "Optional[bool]"}:
        return [not value]
    if isinstance(value, torch.dtype):
        return [default, torch.float32, torch.int32]
    if isinstance(value, str):
        return [default, "none", "tanh"]
    found: list[Any] = [] if default is None and value is None else [default]
    if isinstance(value, (list, tuple)) or "List[" in kind:
        return found + _lists(list(value or ()), rank)
    if isinstance(value, (int, float)) or kind in {"int", "float", "number", "Scalar", "SymInt"}:
        return found + _numbers(value, rank)
    if kind.startswith("Optional[") and value is not None:
        found.append(None)
    return found


def _numbers(value: Any, rank: int) -> list[Any]:
    numbers: list[Any] = []
    if isinstance(value, float) and value.is_integer():
        numbers.append(int(value))
    numbers += [1, 2, 0, -1]
    if rank > 1 and not isinstance(value, float):
        numbers += [rank - 1, rank]
    if isinstance(value, float):
        numbers += [1.0, 0.0, 0.5]
    return list(dict.fromkeys(numbers))


def _lists(value: list[Any], rank: int) -> list[Any]:
    """Lists of the same length with equal parts, and the usual lists of dimensions."""
    found: list[Any] = [[number] * len(value) for number in (1, 0, 2)]
    if rank >= 2:
        last = list(range(rank - 2, rank))
        found += [last, [rank - 1], [-1], [-2, -1], list(range(rank))]
    if len(set(map(str, value))) > 1 and all(isinstance(v, int) for v in value):
        found += [[min(value)] * len(value), [max(value)] * len(value)]
    return [f for f in found if f]


def _text(value: Any) -> str:
    return str(list(value)) if isinstance(value, (list, tuple)) else str(value)


# Dtypes


def _dtypes(draft: Draft) -> Iterator[Change]:
    import torch

    dtypes = {i.dtype for i in _tensors(draft)} | {t.dtype for t in values(draft.unit.main)}
    found = ", ".join(sorted(str(d).removeprefix("torch.") for d in dtypes))
    floating = {d for d in dtypes if d.is_floating_point}
    for dtype in (torch.float32, torch.float16, torch.int32):
        if dtypes == {dtype}:
            continue
        yield _all_dtypes("every tensor", found, dtype, lambda _: True)
        if floating and floating != dtypes and dtype.is_floating_point and floating != {dtype}:
            some = ", ".join(sorted(str(d).removeprefix("torch.") for d in floating))
            yield _all_dtypes(
                "every float tensor", some, dtype, lambda i: bool(i.dtype.is_floating_point)
            )
    if torch.int64 in dtypes and torch.int32 not in dtypes:
        yield _all_dtypes(
            "every integer tensor", "int64", torch.int32, lambda i: i.dtype == torch.int64
        )


def _all_dtypes(name: str, found: str, dtype: Any, which: Callable[[Input], bool]) -> Change:
    import torch

    def cast(changed: Draft) -> None:
        for one in _tensors(changed):
            if which(one):
                one.data = None if one.data is None else one.data.to(dtype)
                one.dtype = dtype
        main = changed.unit.main
        args, kwargs = changed.arguments_of(main)
        if any(isinstance(a, torch.dtype) for a in (*args, *kwargs.values())):
            changed.arguments[main.name] = torch.fx.node.map_aggregate(
                (args, kwargs), lambda a: dtype if isinstance(a, torch.dtype) else a
            )

    return Change("dtype", name, found, str(dtype).removeprefix("torch."), cast)


# Constants instead of computed tensors


def _constants(draft: Draft) -> Iterator[Change]:
    computed = activations(draft)
    if len(computed) < 2:
        return
    names = _argument_names(draft)
    for one in computed[1:]:

        def hold(changed: Draft, name: str = one.name) -> None:
            changed.inputs[name].kind = "parameter"

        yield Change("constant", names.get(one.name, one.name), "computed", "a constant", hold)
    if len(computed) > 2:

        def hold_all(changed: Draft) -> None:
            for other in activations(changed)[1:]:
                other.kind = "parameter"

        yield Change("constant", "all inputs but the first", "computed", "constants", hold_all)


def _argument_names(draft: Draft) -> dict[str, str]:
    """What the operator's schema calls each node that it reads."""
    main = draft.unit.main
    found = overload(main.target)
    names = {}
    if found is not None:
        for argument, value in zip(found._schema.arguments, main.args, strict=False):
            if hasattr(value, "name"):
                names[value.name] = str(argument.name)
    return names


# Memory format


def _memory_formats(draft: Draft) -> Iterator[Change]:
    four = [i for i in _tensors(draft) if len(i.sizes) == 4]
    channels_last = (0, 2, 3, 1)
    if any(i.order != tuple(range(len(i.order))) for i in _tensors(draft)):

        def contiguous(changed: Draft) -> None:
            for one in _tensors(changed):
                one.order = tuple(range(len(one.sizes)))

        orders = ", ".join(sorted({str(list(i.order)) for i in _tensors(draft) if i.order}))
        yield Change("memory format", "every tensor", orders, "contiguous", contiguous)
    if four and any(i.order != channels_last for i in four):

        def last(changed: Draft) -> None:
            for one in _tensors(changed):
                if len(one.sizes) == 4:
                    one.order = channels_last

        found = ", ".join(sorted({str(list(i.order)) for i in four}))
        yield Change("memory format", "every tensor", found, "channels last", last)


# Quantization


def _quantization(draft: Draft) -> Iterator[Change]:
    if draft.unit.quantized:
        if _per_tensor_weight(draft) is not None:
            yield Change(
                "quantization",
                "the weight's scale",
                "one for the tensor",
                "one for each output channel",
                _per_channel,
            )
        yield Change("quantization", "the unit", _scheme(draft), "not quantized", _float)
    elif not (is_quantize(draft.unit.main) or is_dequantize(draft.unit.main)):
        yield Change("quantization", "the unit", "not quantized", "quantized to int8", _quantize)


def _scheme(draft: Draft) -> str:
    dynamic = any(is_choose(n) for n in draft.unit.nodes)
    return "quantized dynamically" if dynamic else "quantized"


def _float(changed: Draft) -> None:
    """Leaves quantize and dequantize nodes out; floats of the same sizes stand for their inputs."""
    import torch

    for node in changed.unit.nodes:
        if node is changed.unit.main:
            continue
        if is_dequantize(node):
            source = node.args[0]
            while is_quantize(source) and source in changed.unit.nodes:
                source = source.args[0]
            if source.name in changed.inputs:
                one = changed.inputs[source.name]
                one.dtype, one.data = torch.float32, None
                changed.replaced[node.name] = source.name
        elif is_quantize(node):
            changed.replaced[node.name] = node.args[0]
    for node in changed.unit.nodes:  # what only chose scales
        alone = all(u.name in changed.replaced for u in node.users if u in changed.unit.nodes)
        if is_choose(node) or (alone and any(is_choose(n) for n in node.all_input_nodes)):
            changed.replaced[node.name] = node.all_input_nodes[0]


def _per_tensor_weight(draft: Draft) -> Any:
    for node in draft.unit.nodes:
        if (
            is_dequantize(node)
            and "per_tensor.default" in str(getattr(node.target, "__name__", ""))
            and draft.inputs.get(node.args[0].name, Input("", "")).kind not in {"", "activation"}
        ):
            return node
    return None


def _per_channel(changed: Draft) -> None:
    import torch
    from executorch.exir.dialects._ops import ops

    node = _per_tensor_weight(changed)
    scale, zero, low, high, dtype = node.args[1:6]
    weight = changed.inputs[node.args[0].name]
    count = hint(weight.sizes[0])
    scales = torch.full((count,), float(scale))
    zeros = torch.full((count,), int(zero), dtype=torch.int64)
    names = []
    for name, data in (("per_channel_scales", scales), ("per_channel_zeros", zeros)):
        changed.inputs[name] = Input(name, "buffer", data.dtype, (count,), (0,), data=data)
        names.append(Reference(name))
    changed.targets[node.name] = ops.edge.quantized_decomposed.dequantize_per_channel.default
    arguments = (node.args[0], *names, 0, low, high, dtype)
    changed.arguments[node.name] = (arguments, {})


def _quantize(changed: Draft) -> None:
    """Puts dequantize nodes before the operator and a quantize node behind it."""
    changed.quantized = True


# Rank, batch, size


def _ranks(draft: Draft) -> Iterator[Change]:
    ranks = {len(i.sizes) for i in _tensors(draft)}
    rank = max(ranks, default=0)
    for other in (4, 3, 2, 5):
        if rank and other != rank:
            for at in ("front", "middle"):

                def reshape(changed: Draft, other: int = other, at: str = at) -> None:
                    _change_rank(changed, rank, other, at)

                yield Change("rank", "the tensors' rank", str(rank), str(other), reshape)


def _change_rank(changed: Draft, rank: int, other: int, at: str) -> None:
    for one in _tensors(changed):
        if len(one.sizes) != rank:
            continue
        sizes = list(one.sizes)
        place = 0 if at == "front" else min(2, len(sizes))
        while len(sizes) > other:
            del sizes[min(place, len(sizes) - 1)]
        while len(sizes) < other:
            sizes.insert(place, 1)
        one.sizes, one.order, one.data = tuple(sizes), tuple(range(other)), None
    main = changed.unit.main
    args, kwargs = changed.arguments_of(main)

    def fit(value: Any, key: str) -> Any:
        if not isinstance(value, (list, tuple)) or _has_nodes(value) or not value:
            return value
        if key == "dim":
            return [v + other - rank if v >= 0 else v for v in value]
        if len(value) == rank - 2 and other > 2:
            grown = [*value, *([value[-1]] * other)]
            return grown[: other - 2]
        if len(value) == rank:
            return list(range(other)) if sorted(value) == list(range(rank)) else value
        return value

    found = overload(main.target)
    names = [a.name for a in found._schema.arguments] if found else []
    new = tuple(fit(a, names[n] if n < len(names) else "") for n, a in enumerate(args))
    changed.arguments[main.name] = (new, kwargs)


def _batch(draft: Draft) -> Iterator[Change]:
    first = [i.sizes[0] for i in activations(draft) if len(i.sizes) > 1]
    if not first or all(isinstance(s, int) and s == 1 for s in first):
        return

    def one_batch(changed: Draft) -> None:
        for one in activations(changed):
            if (
                len(one.sizes) > 1
                and one.sizes[0] is not None
                and str(one.sizes[0]) == str(first[0])
            ):
                one.sizes = (1, *one.sizes[1:])

    yield Change("batch", "the batch size", str(first[0]), "1", one_batch)


def _sizes(draft: Draft) -> Iterator[Change]:
    sizes = {s for i in _tensors(draft) for s in i.sizes if isinstance(s, int)}
    if sizes and 0 in sizes:

        def filled(changed: Draft) -> None:
            _map_sizes(changed, lambda s: s or 1)

        yield Change("size", "the empty dimension", "0", "at least 1", filled)
    largest = max(sizes, default=0)
    for limit in (4096, 64, 8):
        if largest > limit:

            def smaller(changed: Draft, limit: int = limit) -> None:
                _map_sizes(changed, lambda s: min(s, limit))

            yield Change("size", "the largest size", str(largest), f"at most {limit}", smaller)


def _map_sizes(changed: Draft, new: Callable[[int], int]) -> None:
    for one in _tensors(changed):
        sizes = tuple(new(s) if isinstance(s, int) else s for s in one.sizes)
        if sizes != one.sizes:
            one.sizes, one.data = sizes, None


def copied(draft: Draft) -> Draft:
    """A draft that can be changed without changing this one."""
    return replace(
        draft,
        inputs={name: replace(one) for name, one in draft.inputs.items()},
        arguments=dict(draft.arguments),
        targets=dict(draft.targets),
        replaced=dict(draft.replaced),
    )


def describe(draft: Draft) -> str:
    """The unit in one line, equal for equal units: what is read, and the operator's arguments."""
    import torch

    parts = [str(n.target) for n in draft.unit.nodes]
    parts += [
        f"{one.kind} {one.dtype} {list(map(str, one.sizes))} {list(one.order)}"
        if one.kind != "number"
        else f"number {type(one.number).__name__}"
        for one in draft.inputs.values()
    ]
    order = {name: f"#{index}" for index, name in enumerate(draft.inputs)}

    def known(node: Any) -> str:
        return order.get(node.name, "inside")

    args = torch.fx.node.map_arg((draft.unit.main.args, draft.unit.main.kwargs), known)
    made = [
        f"{dtype_name(t)}{list(map(str, t.shape))}"
        for t in tensors(draft.unit.main.meta.get("val"))
    ]
    return "; ".join([*parts, str(args), *made])
