"""The author's expression with a cure applied, as a diff of the one line."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable


def diff(expression: str, change: Callable[[ast.AST], bool]) -> str | None:
    """A unified diff without headings; None if the change finds nothing in the expression."""
    try:
        tree = ast.parse(expression)
    except SyntaxError:
        return None
    if not change(tree):
        return None
    before = ast.unparse(ast.parse(expression))
    after = ast.unparse(ast.fix_missing_locations(tree))
    lines = list(difflib.unified_diff([before], [after], lineterm="", n=0))[3:]
    return "\n".join(lines)


def keep_dims(tree: ast.AST) -> bool:
    """x.mean(dims) becomes torch.flatten(x.mean(dims, keepdim=True), 1)."""

    def change(call: ast.Call) -> ast.expr | None:
        if _name(call) != "mean" or any(k.arg == "keepdim" for k in call.keywords):
            return None
        call.keywords.append(ast.keyword("keepdim", ast.Constant(True)))
        return _torch("flatten", call, ast.Constant(1))

    return _replace_calls(tree, change)


def spell_out_alpha(tree: ast.AST) -> bool:
    """torch.add(x, y, alpha=a) becomes x + a * y."""

    def change(call: ast.Call) -> ast.expr | None:
        alpha = next((k.value for k in call.keywords if k.arg == "alpha"), None)
        if _name(call) not in ("add", "sub") or alpha is None:
            return None
        both = [*_receiver(call), *call.args]
        if len(both) != 2:
            return None
        sign: ast.operator = ast.Add() if _name(call) == "add" else ast.Sub()
        return ast.BinOp(both[0], sign, ast.BinOp(alpha, ast.Mult(), both[1]))

    return _replace_calls(tree, change)


def multiply_powers(tree: ast.AST) -> bool:
    """torch.pow(x, 3) becomes (p := x) * p * p; x ** 3 too."""

    def product(base: ast.expr, power: ast.expr) -> ast.expr | None:
        count = power.value if isinstance(power, ast.Constant) else None
        if not isinstance(count, int) or count not in (3, 4, 5, 6):
            return None
        name = base if isinstance(base, ast.Name) else ast.Name("p", ast.Load())
        first: ast.expr = base
        if not isinstance(base, ast.Name):
            first = ast.NamedExpr(ast.Name("p", ast.Store()), base)
        result = first
        for _ in range(count - 1):
            result = ast.BinOp(result, ast.Mult(), name)
        return result

    def change(call: ast.Call) -> ast.expr | None:
        both = [*_receiver(call), *call.args]
        return product(*both) if _name(call) == "pow" and len(both) == 2 else None

    class Powers(ast.NodeTransformer):
        done = False

        def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
            self.generic_visit(node)
            new = product(node.left, node.right) if isinstance(node.op, ast.Pow) else None
            self.done |= new is not None
            return new or node

    powers = Powers()
    powers.visit(tree)
    return _replace_calls(tree, change) or powers.done


def reshape_unsqueezed(tree: ast.AST) -> bool:
    """x.unsqueeze(0) becomes x.reshape(1, *x.shape)."""

    def change(call: ast.Call) -> ast.expr | None:
        both = [*_receiver(call), *call.args]
        if _name(call) != "unsqueeze" or len(both) != 2:
            return None
        if not isinstance(both[1], ast.Constant) or both[1].value != 0:
            return None
        base = both[0]
        name = base if isinstance(base, ast.Name) else ast.Name("u", ast.Load())
        first: ast.expr = base
        if not isinstance(base, ast.Name):
            first = ast.NamedExpr(ast.Name("u", ast.Store()), base)
        shape = ast.Starred(ast.Attribute(name, "shape", ast.Load()), ast.Load())
        return ast.Call(ast.Attribute(first, "reshape", ast.Load()), [ast.Constant(1), shape], [])

    return _replace_calls(tree, change)


def _replace_calls(tree: ast.AST, change: Callable[[ast.Call], ast.expr | None]) -> bool:
    class Calls(ast.NodeTransformer):
        done = False

        def visit_Call(self, node: ast.Call) -> ast.AST:
            self.generic_visit(node)
            new = change(node)
            self.done |= new is not None
            return new or node

    calls = Calls()
    calls.visit(tree)
    return calls.done


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _receiver(call: ast.Call) -> list[ast.expr]:
    """What a method is called on; nothing for a function of torch."""
    if not isinstance(call.func, ast.Attribute):
        return []
    owner = call.func.value
    is_module = ast.unparse(owner) in ("torch", "F", "torch.nn.functional")
    return [] if is_module else [owner]


def _torch(name: str, *arguments: ast.expr) -> ast.Call:
    function = ast.Attribute(ast.Name("torch", ast.Load()), name, ast.Load())
    return ast.Call(function, list(arguments), [])
