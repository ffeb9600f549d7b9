"""The engine's kernels in C: the same source, translated function by function, compiled by the system's C compiler.

A second version written by hand would be out of date after the next change of a mechanism; this one cannot be. What is
translated is the subset the kernels keep to for Numba: scalars, flat arrays, loops, conditions. Arrays become ``restrict``
pointers with the strides of :mod:`aglab.engine.layout`, functions ``static inline``, so the compiler knows more of the C
version than Numba is told. Floating point keeps its order (no fast-math, no contraction): results are the same bits.
"""

from __future__ import annotations

import ast
import ctypes
import hashlib
import inspect
import shutil
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from aglab.engine import layout as at
from aglab.engine.counting import COUNTERS
from aglab.engine.jit import plain

FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-shared", "-fPIC")
# strides of the arrays with more than one index, by the name that every kernel gives them
STRIDES: dict[str, tuple[int, ...]] = {
    "hw": (at.HW_SIZE, 1),
    "st": (at.ST_SIZE, 1),
    "seg": (2 * at.SEGMENTS, at.SEGMENTS, 1),
    "tot": (at.TOT_SIZE, 1),
    "last": (at.TOT_SIZE, 1),
    "jb": (at.SLOTS * at.JOB_SIZE, at.JOB_SIZE, 1),
    "heap": (3, 1),
    "user": (2, 1),
    "block": (2, 1),
}
_ARRAYS = {"Array": "double", "Floats": "double", "Ints": "int64_t"}
_SCALARS = {"float": "double", "int": "int64_t", "bool": "int64_t", "None": "void"}
_OPERATORS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "/",  # of whole numbers that are never negative
    ast.Mod: "%",
    ast.BitAnd: "&",
    ast.RShift: ">>",
    ast.LShift: "<<",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.And: "&&",
    ast.Or: "||",
    ast.USub: "-",
    ast.Not: "!",
}
_MATH = {"exp": "exp", "floor": "floor", "pow": "pow", "sqrt": "sqrt", "log": "log", "isnan": "isnan", "fabs": "fabs"}


class _Function:
    """One kernel, statement by statement."""

    def __init__(self, python: Any, unit: _Unit) -> None:
        self.unit = unit
        self.globals = python.__globals__
        tree = ast.parse(textwrap.dedent(inspect.getsource(python))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        self.tree = tree
        self.kinds: dict[str, str] = {}
        self.arrays: dict[str, tuple[int, ...]] = {}
        heads = []
        for argument in tree.args.args:
            note = ast.unparse(argument.annotation) if argument.annotation else "float"
            if note in _ARRAYS:
                self.kinds[argument.arg] = _ARRAYS[note]
                self.arrays[argument.arg] = self.strides(argument.arg)
                heads.append(f"{_ARRAYS[note]} *restrict {argument.arg}")
            else:
                self.kinds[argument.arg] = _SCALARS[note]
                heads.append(f"{_SCALARS[note]} {argument.arg}")
        self.heads = heads
        result = ast.unparse(tree.returns) if tree.returns else "None"
        self.result = _SCALARS.get(result, f"struct doubles{result.count('float')}")
        self.locals: dict[str, str] = {}
        self.body = self.block(tree.body)

    def strides(self, name: str) -> tuple[int, ...]:
        """Strides of a parameter; the kernels that look at one machine call its row ``hw`` too."""
        if name == "values" and self.tree.name == "advance":
            return (self.unit.nodes * COUNTERS, 1)
        wide = STRIDES.get(name, (1,))
        if name == "hw" and not any(self.is_table(node) for node in ast.walk(self.tree)):
            return (1,)
        return wide

    def is_table(self, node: ast.AST) -> bool:
        """Whether a node uses ``hw`` as the table of all machines."""
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "hw.shape":
            return True
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "hw":
            return not ast.unparse(node.slice).startswith("at.")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.globals:
            callee = plain(self.globals[node.func.id])
            if not inspect.isfunction(callee):
                return False
            names = list(inspect.signature(callee).parameters)
            places = [i for i, one in enumerate(node.args) if ast.unparse(one) == "hw"]
            return any(self.unit.function(callee).arrays[names[i]] != (1,) for i in places)
        return False

    def text(self) -> str:
        variables = "".join(f"  {kind} {name};\n" for name, kind in self.locals.items())
        return f"{self.signature()} {{\n{variables}{self.body}}}\n"

    def signature(self) -> str:
        return f"static inline {self.result} {self.tree.name}({', '.join(self.heads)})"

    # --- statements

    def block(self, body: list[ast.stmt]) -> str:
        return "".join(self.statement(one) for one in body)

    def statement(self, one: ast.stmt) -> str:
        match one:
            case ast.Expr(value=ast.Constant()):
                return ""
            case ast.Expr(value=value):
                return f"{self.value(value)};\n"
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=value):
                made = f"  {{ struct doubles{len(names)} many = {self.value(value)};\n"
                for index, name in enumerate(names):
                    made += f"    {self.place(name, 'double')} = many.v[{index}];\n"
                return made + "  }\n"
            case ast.Assign(targets=[target], value=value):
                return self.assign(target, value)
            case ast.AugAssign(target=target, op=op, value=value):
                return f"{self.value(target)} {_OPERATORS[type(op)]}= {self.value(value)};\n"
            case ast.If(test=test, body=body, orelse=orelse):
                other = f" else {{\n{self.block(orelse)}}}" if orelse else ""
                return f"if ({self.value(test)}) {{\n{self.block(body)}}}{other}\n"
            case ast.While(test=test, body=body):
                return f"while ({self.value(test)}) {{\n{self.block(body)}}}\n"
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=args), body=body):
                low, high = ("0", args[0]) if len(args) == 1 else (self.value(args[0]), args[1])
                self.locals[name] = self.kinds[name] = "int64_t"
                end = f"end_{name}"  # range() looks at its limits once
                inner = f"for ({name} = {low}; {name} < {end}; {name}++) {{\n{self.block(body)}}}\n"
                return f"{{ int64_t {end} = {self.value(high)};\n{inner}}}\n"
            case ast.Return(value=None):
                return "return;\n"
            case ast.Return(value=ast.Tuple(elts=values)):
                inner = ", ".join(self.value(value) for value in values)
                return f"return (struct doubles{len(values)}){{{{{inner}}}}};\n"
            case ast.Return(value=value):
                return f"return {self.value(value)};\n"
            case ast.Break():
                return "break;\n"
            case ast.Continue():
                return "continue;\n"
        raise NotImplementedError(ast.unparse(one))

    def assign(self, target: ast.expr, value: ast.expr) -> str:
        if isinstance(target, ast.Name) and isinstance(value, ast.Call) and ast.unparse(value.func) == "np.zeros":
            size = self.value(value.args[0])
            self.kinds[target.id], self.arrays[target.id] = "double", (1,)
            return f"  double {target.id}[{size}]; memset({target.id}, 0, sizeof {target.id});\n"
        if isinstance(target, ast.Name) and self.strides_of(value):
            self.kinds[target.id] = self.kind(value)
            self.arrays[target.id] = self.strides_of(value)
            return f"  {self.kind(value)} *{target.id} = {self.value(value)};\n"
        return f"{self.place(target, self.kind(value))} = {self.value(value)};\n"

    def place(self, target: ast.expr, kind: str) -> str:
        if isinstance(target, ast.Name) and target.id not in self.kinds:
            self.kinds[target.id] = self.locals[target.id] = kind
        return self.value(target)

    # --- expressions

    def strides_of(self, one: ast.expr) -> tuple[int, ...]:
        """Strides left of an expression that is (part of) an array; none for a number."""
        if isinstance(one, ast.Name):
            return self.arrays.get(one.id, ())
        if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name) and one.value.id in self.arrays:
            return self.arrays[one.value.id][len(_indices(one)) :]
        return ()

    def kind(self, one: ast.expr) -> str:
        match one:
            case ast.Constant(value=value):
                return "double" if isinstance(value, float) else "int64_t"
            case ast.Name(id=name):
                return self.kinds[name] if name in self.kinds else _kind_of(self.globals[name])
            case ast.Attribute():
                return "int64_t"
            case ast.Subscript(value=ast.Name(id=name)):
                return self.kinds.get(name, "int64_t")
            case ast.Subscript() | ast.Compare():
                return "int64_t"
            case ast.BinOp(left=left, op=op, right=right):
                whole = {self.kind(left), self.kind(right)} == {"int64_t"}
                return "int64_t" if whole and not isinstance(op, ast.Div) else "double"
            case ast.UnaryOp(operand=operand):
                return self.kind(operand)
            case ast.BoolOp():
                return "int64_t"
            case ast.IfExp(body=body, orelse=orelse):
                return "int64_t" if {self.kind(body), self.kind(orelse)} == {"int64_t"} else "double"
            case ast.Call(func=ast.Name(id=name), args=args):
                if name in ("int", "bool"):
                    return "int64_t"
                if name in ("min", "max", "abs"):
                    return "int64_t" if {self.kind(arg) for arg in args} == {"int64_t"} else "double"
                if name == "float":
                    return "double"
                return self.unit.function(plain(self.globals[name])).result
            case ast.Call():
                return "double"
        raise NotImplementedError(ast.unparse(one))

    def value(self, one: ast.expr) -> str:
        match one:
            case ast.Constant(value=value):
                return _literal(value)
            case ast.Name(id=name):
                return name if name in self.kinds else _literal(self.globals[name])
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in self.globals:
                return _literal(getattr(self.globals[module], name))
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=axis)):
                return self.unit.shape(name, int(axis))
            case ast.Subscript(value=ast.Name(id=name), slice=place) if name not in self.kinds:
                return f"{self.unit.table(name, self.globals[name])}[{self.value(place)}]"
            case ast.Subscript(value=ast.Name(id=name)):
                indices = _indices(one)
                strides = self.arrays[name]
                offset = " + ".join(
                    f"({self.value(index)})" + (f" * {stride}" if stride != 1 else "")
                    for index, stride in zip(indices, strides, strict=False)
                )
                return f"{name}[{offset}]" if len(indices) == len(strides) else f"({name} + {offset})"
            case ast.BinOp(left=left, op=op, right=right):
                first = f"(double)({self.value(left)})" if isinstance(op, ast.Div) else self.value(left)
                return f"({first} {_OPERATORS[type(op)]} {self.value(right)})"
            case ast.UnaryOp(op=op, operand=operand):
                return f"({_OPERATORS[type(op)]}{self.value(operand)})"
            case ast.BoolOp(op=op, values=values):
                return "(" + f" {_OPERATORS[type(op)]} ".join(self.value(value) for value in values) + ")"
            case ast.Compare(left=left, ops=ops, comparators=others):
                left_sides = [left, *others[:-1]]
                pairs = [
                    f"({self.value(a)} {_OPERATORS[type(op)]} {self.value(b)})"
                    for a, op, b in zip(left_sides, ops, others, strict=True)
                ]
                return "(" + " && ".join(pairs) + ")"
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return f"({self.value(test)} ? {self.value(body)} : {self.value(orelse)})"
            case ast.Call(func=ast.Name(id=name), args=args):
                return self.call(name, args, self.kind(one))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr=name), args=args):
                return f"{_MATH[name]}({', '.join(self.value(arg) for arg in args)})"
        raise NotImplementedError(ast.unparse(one))

    def call(self, name: str, args: list[ast.expr], kind: str) -> str:
        inner = ", ".join(self.value(arg) for arg in args)
        if name in ("min", "max"):
            return f"{name}_{kind}({inner})"
        if name in ("int", "float"):
            return f"(({kind})({inner}))"
        if name == "bool":
            return f"(({inner}) != 0)"
        if name == "abs":
            return f"fabs({inner})"
        return f"{self.unit.function(plain(self.globals[name])).tree.name}({inner})"


class _Unit:
    """All kernels that an entry reaches."""

    def __init__(self, entry: Any, nodes: int) -> None:
        self.nodes = nodes
        self.done: dict[Any, _Function] = {}
        self.shapes: dict[str, None] = {}
        self.tables: dict[str, tuple[int, ...]] = {}
        self.entry = self.function(plain(entry))

    def function(self, python: Any) -> _Function:
        if python not in self.done:
            self.done[python] = _Function(python, self)  # callees finish first: the order C wants
        return self.done[python]

    def shape(self, name: str, axis: int) -> str:
        if axis == 1:
            return str(STRIDES[name][0])
        self.shapes[name] = None
        return f"n_{name}"

    def table(self, name: str, values: tuple[int, ...]) -> str:
        """A tuple of whole numbers that kernels look things up in."""
        self.tables[name] = values
        return name

    def text(self) -> str:
        head = "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
        head += "struct doubles4 { double v[4]; };\n"
        for kind in ("double", "int64_t"):
            for name, sign in (("min", "<"), ("max", ">")):
                head += f"static inline {kind} {name}_{kind}({kind} a, {kind} b) {{ return b {sign} a ? b : a; }}\n"
        shapes = "".join(f"static int64_t n_{name};\n" for name in self.shapes)
        for name, values in self.tables.items():
            shapes += f"static const int64_t {name}[] = {{{', '.join(map(str, values))}}};\n"
        bodies = "\n".join(function.text() for function in self.done.values())
        entry = self.entry
        names = ", ".join(argument.arg for argument in entry.tree.args.args)
        extra = "".join(f", int64_t count_{name}" for name in self.shapes)
        sets = "".join(f"  n_{name} = count_{name};\n" for name in self.shapes)
        run = f"{entry.result} run({', '.join(entry.heads)}{extra}) {{\n{sets}  return {entry.tree.name}({names});\n}}\n"
        return head + shapes + bodies + run


def _indices(one: ast.Subscript) -> list[ast.expr]:
    return list(one.slice.elts) if isinstance(one.slice, ast.Tuple) else [one.slice]


def _kind_of(value: Any) -> str:
    return "double" if isinstance(value, float) else "int64_t"


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    assert isinstance(value, (int, float)), value
    return repr(value)


def compiler() -> str | None:
    """The system's C compiler, if it has one."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def source(entry: Any, nodes: int = 1) -> str:
    """C text of an entry of the engine and of all kernels below it."""
    return _Unit(entry, nodes).text()


def build(entry: Any, folder: Path, nodes: int = 1) -> Callable[..., int]:
    """Translate, compile and load an entry; the callable takes the same arguments."""
    unit = _Unit(entry, nodes)
    text = unit.text()
    name = f"{unit.entry.tree.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    library = folder / f"{name}.so"
    if not library.exists():
        path = folder / f"{name}.c"
        path.write_text(text)
        subprocess.run([compiler() or "cc", *FLAGS, "-o", str(library), str(path), "-lm"], check=True)
    function = ctypes.CDLL(str(library)).run
    function.restype = ctypes.c_int64
    names = [argument.arg for argument in unit.entry.tree.args.args]

    def call(*arguments: Any) -> int:
        given = dict(zip(names, arguments, strict=True))
        passed = [_passed(value) for value in arguments]
        return int(function(*passed, *(ctypes.c_int64(given[name].shape[0]) for name in unit.shapes)))

    return call


def _passed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(value)
