"""EXECUTE: user procedures, system procedures, the node's schema ``twin``, text. Arguments in, outputs and status out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aglab.core.sqltypes import INT, SqlType, TableValue, nvarchar
from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.convert import converter
from aglab.tsql.effects import Done, EnvChange
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.memory import ATOMIC_LEVELS
from aglab.tsql.execute.table_parameters import TableParameterMixin
from aglab.tsql.host import AdapterProcedure
from aglab.tsql.messages import TsqlError, error, info
from aglab.tsql.permissions import need_object
from aglab.tsql.runtime import MAX_NESTING, Runtime, Variables
from aglab.tsql.store.database import Database, Module
from aglab.tsql.store.table import Table


@dataclass
class Argument:
    """One argument of a call. ``result`` is set by the callee where the argument is an output."""

    name: str  # with @, or ""
    value: Any
    type: SqlType | None
    output: bool = False
    variable: str = ""
    default: bool = False
    result: Any = None
    result_type: SqlType | None = None
    assigned: bool = False
    cursor: Any = None  # a cursor variable's: what it holds, and what the callee gives it
    holds_cursor: bool = False

    def set(self, value: Any, sql_type: SqlType) -> None:
        """Give the output parameter its value."""
        self.result, self.result_type, self.assigned = value, sql_type, True


class Arguments:
    """Arguments by name or position, for procedures written in Python."""

    def __init__(self, procedure: str, items: list[Argument]) -> None:
        self.procedure = procedure
        self.items = items

    def find(self, name: str, position: int) -> Argument | None:
        """The argument called ``name``, or the one at ``position``."""
        for item in self.items:
            if item.name.lower() == name.lower():
                return item
        if position < len(self.items) and not self.items[position].name:
            return self.items[position]
        return None

    def value(self, name: str, position: int, default: Any = None) -> Any:
        """Its value, or the default."""
        item = self.find(name, position)
        return default if item is None or item.default else item.value

    def required(self, name: str, position: int) -> Any:
        """Its value; error 201 when it is missing."""
        item = self.find(name, position)
        if item is None:
            raise error(201, self.procedure, name)
        return item.value

    def output(self, name: str, position: int, value: Any, sql_type: SqlType) -> None:
        """Set an output parameter if the caller gave one."""
        item = self.find(name, position)
        if item is not None:
            item.set(value, sql_type)


class CallMixin(TableParameterMixin):
    """EXECUTE."""

    def _execute(self, s: st.Execute) -> Effects[Any]:
        self.session.command = "EXECUTE"
        if s.text is not None:
            text = yield from self.evaluate(s, s.text, nvarchar())
            yield from self.run_text(text or "", Variables())
            return None
        name = s.name
        if s.variable:
            from aglab.tsql.functions.names import split_name

            key = s.variable.lower()
            if key not in self.runtime.variables.types:
                raise error(137, s.variable, line=s.line)
            name = tuple(split_name(str(self.runtime.variables.values.get(key) or "")))
        arguments: list[Argument] = []
        for argument_name, node, output in s.args:
            if node is None:
                arguments.append(Argument(argument_name, None, None, default=True))
                continue
            if isinstance(node, ast.Variable) and node.name.lower() in self.runtime.cursor_variables:
                key = node.name.lower()
                held = self.runtime.cursor_variables[key]
                if held is not None and output:
                    raise error(16951, node.name, line=s.line)
                arguments.append(Argument(argument_name, None, None, output, key, cursor=held, holds_cursor=True))
                continue
            table = self.runtime.variables.tables.get(node.name.lower()) if isinstance(node, ast.Variable) else None
            if table is not None:
                if output:
                    raise error(102, "OUTPUT", line=s.line)
                arguments.append(Argument(argument_name, table, SqlType("table")))
                continue
            value = yield from self.evaluate(s, node)
            variable = node.name.lower() if isinstance(node, ast.Variable) and not node.name.startswith("@@") else ""
            sql_type = (
                self.runtime.variables.types.get(variable) if variable else node.type if isinstance(node, ast.Literal) else None
            )
            if output and not variable:
                raise error(179, line=s.line)
            arguments.append(Argument(argument_name, value, sql_type, output, variable))
        status = yield from self.call(name, arguments, s.line)
        variables = self.runtime.variables
        for argument in arguments:
            if argument.holds_cursor:
                if argument.output:
                    self.runtime.cursor_variables[argument.variable] = argument.cursor
            elif argument.output and argument.assigned:
                change = converter(argument.result_type, variables.types[argument.variable], None, False)
                value = argument.result
                variables.values[argument.variable] = value if value is None or change is None else change(value)
        if s.status:
            if s.status.lower() not in variables.types:
                raise error(137, s.status, line=s.line)
            variables.values[s.status.lower()] = status if status is not None else 0
        return None

    def call(self, name: tuple[str, ...], arguments: list[Argument], line: int) -> Effects[int | None]:
        """Call a procedure by name and return its status."""
        from aglab.tsql.procedures.registry import find_system_procedure

        if self.runtime.nesting >= MAX_NESTING:
            raise error(217, line=line)
        bare, schema = name[-1], (name[-2] if len(name) > 1 else "")
        if schema.lower() == "twin":
            adapter = self.runtime.host.adapter(bare.lower())
            if adapter is None:
                raise error(2812, ".".join(name), line=line)
            return (yield from self._adapter(adapter, arguments, line))
        found = self._find_procedure(name)
        if found is not None:
            module, database = found
            if not self.session.is_sysadmin and not self.runtime.procedure_id:
                need_object(self.runtime.instance, self.session, database, "EXECUTE", module.schema, module.name)
            return (yield from self._user_procedure(module, database, arguments, line))
        system = find_system_procedure(bare) if schema.lower() in ("", "sys", "dbo") else None
        if system is None:
            raise error(2812, ".".join(name), line=line)
        if isinstance(system, Module):
            return (yield from self._user_procedure(system, self._target(name, line), arguments, line))
        nested = self.nested(bare)
        nested.runtime.caller = self.runtime
        nested.target = self._target(name, line)
        try:
            status = yield from system(nested, Arguments(bare, arguments))
        except TsqlError as problem:
            problem.procedure = problem.procedure or bare
            raise
        return status if status is not None else 0

    def _target(self, name: tuple[str, ...], line: int) -> Any:
        """The database that a system procedure is called in; one of msdb's is nowhere else (2812)."""
        from aglab.tsql.procedures.registry import IN_MSDB

        target = self.runtime.database
        if len(name) > 2 and name[-3]:
            target = self.runtime.instance.database(name[-3]) or target
        if name[-1].lower() in IN_MSDB and target.system != "msdb":
            raise error(2812, name[-1], line=line)
        return target

    def nested(self, procedure: str, procedure_id: int = 0, variables: Variables | None = None) -> Any:
        """An executor for a called procedure."""
        runtime = Runtime(
            self.runtime.host,
            self.session,
            variables or Variables(),
            procedure,
            procedure_id,
            self.runtime.nesting + 1,
            list(self.runtime.catching),
        )
        return self.interpreter.executor(runtime)

    def _find_procedure(self, name: tuple[str, ...]) -> tuple[Module, Database] | None:
        instance = self.runtime.instance
        database = self.runtime.database
        if len(name) > 2 and name[-3]:
            found = instance.database(name[-3])
            if found is None:
                raise error(2812, ".".join(name))
            database = found
        item = database.find(name[-2] if len(name) > 1 else "", name[-1])
        if item is None and name[-1].lower().startswith("sp_"):
            master = instance.database("master")
            assert master is not None
            found_in_master = master.find("", name[-1])
            if isinstance(found_in_master, Module) and found_in_master.kind == "procedure":
                return found_in_master, database
        if isinstance(item, Module) and item.kind == "procedure":
            return item, database
        return None

    # --- user procedures ----------------------------------------------------------------------------------------------------

    def _user_procedure(self, module: Module, database: Database, arguments: list[Argument], line: int) -> Effects[int | None]:
        definition = module.definition
        variables = Variables()
        bound = bind(module, definition.parameters, arguments)
        for parameter in definition.parameters:
            key = parameter.name.lower()
            if parameter.type.name == "cursor":
                continue
            argument = bound.get(key)
            if parameter.table is not None:
                yield from self.bind_table(variables, parameter.name, parameter.table, argument)
                continue
            variables.types[key] = parameter.type
            if argument is None or argument.default:
                if parameter.default is None:
                    raise error(201, module.name, parameter.name)
                default = yield from self.evaluate(definition, parameter.default, parameter.type, f"default{key}")
                variables.values[key] = default
                continue
            variables.values[key] = to_parameter(argument, parameter.type)
        nested = self.nested(module.name, module.object_id, variables)
        handed = [p.name.lower() for p in definition.parameters if p.type.name == "cursor"]
        nested.runtime.cursor_variables.update(dict.fromkeys(handed))
        nested.runtime.text, nested.runtime.text_start = module.text, definition.start
        declare(definition.body, variables)
        before = self.session.trancount
        saved_database, saved_temp = self.session.database, dict(self.session.temp_tables)
        self.session.database = database.name
        loop_depth, self.interpreter.loop_depth = self.interpreter.loop_depth, 0
        nocount, isolation = self.session.options.nocount, self.session.options.isolation
        try:
            if definition.atomic:
                signal = yield from self._atomic(nested, definition)
            else:
                signal = yield from nested.run_body(definition.body)
        finally:
            for key in handed:  # an open cursor goes to the caller's variable, a closed one does not
                held = nested.runtime.cursor_variables.get(key)
                if key in bound and held is not None and held.is_open:
                    bound[key].cursor = held
            nested.drop_local_cursors()
            self.interpreter.loop_depth = loop_depth
            self.session.database = saved_database
            self.session.options.nocount, self.session.options.isolation = nocount, isolation
            if set(self.session.temp_tables) != set(saved_temp):
                kept = {name: table for name, table in self.session.temp_tables.items() if name in saved_temp}
                self.session.temp_tables.clear()
                self.session.temp_tables.update(kept)
                self.session.temp_version += 1
        for parameter in definition.parameters:
            argument = bound.get(parameter.name.lower())
            if argument is not None and argument.output and parameter.type.name != "cursor":
                if not parameter.output:
                    raise error(8162, parameter.name)
                argument.set(variables.values[parameter.name.lower()], parameter.type)
        if self.session.trancount != before and not (self.session.transaction is not None and self.session.transaction.doomed):
            problem = error(266, before, self.session.trancount, line=line)
            problem.procedure = module.name
            raise problem
        return signal[1] if signal is not None and signal[0] == "return" and signal[1] is not None else 0

    def _atomic(self, nested: Any, definition: st.CreateModule) -> Effects[Any]:
        """The ATOMIC block of a natively compiled procedure: an error takes all of it back and goes to the caller."""
        nested.runtime.native = True
        if isinstance(definition.atomic, dict):
            self.session.options.isolation = ATOMIC_LEVELS[definition.atomic["TRANSACTION ISOLATION LEVEL"]]
        self.interpreter.try_depth += 1
        try:
            return (yield from self.in_transaction(lambda: nested.run_body(definition.body)))
        finally:
            self.interpreter.try_depth -= 1

    # --- the node's procedures ----------------------------------------------------------------------------------------------

    def _adapter(self, adapter: AdapterProcedure, arguments: list[Argument], line: int) -> Effects[int | None]:
        values: dict[str, Any] = {}
        names = {parameter.name.lower(): parameter for parameter in adapter.parameters}
        for position, argument in enumerate(arguments):
            if argument.name:
                parameter = names.get(argument.name[1:].lower())
                if parameter is None:
                    raise error(8145, argument.name, adapter.name)
            elif position < len(adapter.parameters):
                parameter = adapter.parameters[position]
            else:
                raise error(8144, adapter.name)
            if parameter.name in values:
                raise error(8143, f"@{parameter.name}")
            if not argument.default:
                values[parameter.name] = to_parameter(argument, parameter.type)
        for parameter in adapter.parameters:
            if parameter.name not in values:
                if parameter.required:
                    raise error(201, adapter.name, f"@{parameter.name}")
                values[parameter.name] = parameter.default
        effects = adapter.call(self.session, **values)
        if effects is None:
            return 0
        if isinstance(effects, list):
            yield from effects
            return 0
        status = yield from effects
        return status if isinstance(status, int) else 0

    # --- text ---------------------------------------------------------------------------------------------------------------

    def run_text(self, text: str, variables: Variables, own_line: bool = True) -> Effects[None]:
        """Run text in a scope of its own (EXEC('...'), sp_executesql)."""
        if self.runtime.nesting >= MAX_NESTING:
            raise error(217)
        body = self.interpreter.parse(text)
        declare(body, variables)
        runtime = Runtime(
            self.runtime.host, self.session, variables, "", 0, self.runtime.nesting + 1, list(self.runtime.catching), text=text
        )
        nested = self.interpreter.executor(runtime)
        nested.in_procedure = True
        saved_temp, database = set(self.session.temp_tables), self.session.database
        options = dict(vars(self.session.options))
        loop_depth, self.interpreter.loop_depth = self.interpreter.loop_depth, 0
        try:
            yield from nested.run_body(body)
        finally:
            nested.drop_local_cursors()
            self.interpreter.loop_depth = loop_depth
            vars(self.session.options).update(options)  # "SET Statements": restored when control returns from the text
            if set(self.session.temp_tables) != saved_temp:
                for name in [name for name in self.session.temp_tables if name not in saved_temp]:
                    del self.session.temp_tables[name]
                self.session.temp_version += 1
            if self.session.database != database:
                self.session.database = database
                found = self.runtime.instance.database(database)
                shown = self.runtime.instance.shown(found)[0] if found is not None else database
                yield EnvChange("database", shown, "")
                yield info(5701, shown)


def bind(module: Module, parameters: list[st.Parameter], arguments: list[Argument]) -> dict[str, Argument]:
    """Arguments by parameter name. Errors 8143, 8144, 8145, 8146."""
    bound: dict[str, Argument] = {}
    known = {parameter.name.lower() for parameter in parameters}
    if arguments and not parameters:
        raise error(8146, module.name)
    for position, argument in enumerate(arguments):
        if argument.name:
            key = argument.name.lower()
            if key not in known:
                raise error(8145, argument.name, module.name)
        else:
            if position >= len(parameters):
                raise error(8144, module.name)
            key = parameters[position].name.lower()
        if key in bound:
            raise error(8143, argument.name or parameters[position].name)
        bound[key] = argument
    return bound


def to_parameter(argument: Argument, target: SqlType) -> Any:
    """An argument's value in a parameter's type; error 8114 where it does not convert."""
    value = argument.value
    if value is None:
        return None
    if isinstance(value, (Table, TableValue)):
        raise error(206, value.type_name.rpartition(".")[2] or "table", target.name)
    source = argument.type or type_of(value)
    try:
        change = converter(source, target, None, False)
        return value if change is None else change(value)
    except TsqlError as problem:
        if problem.number in (245, 241, 8114, 206, 257):
            raise error(8114, source.name, target.name) from None
        raise


def type_of(value: Any) -> SqlType:
    """The T-SQL type that fits a Python value."""
    import datetime
    import uuid
    from decimal import Decimal

    if isinstance(value, bool):
        return SqlType("bit")
    if isinstance(value, int):
        return INT if -(2**31) <= value < 2**31 else SqlType("bigint")
    if isinstance(value, float):
        return SqlType("float")
    if isinstance(value, Decimal):
        exponent = -int(value.as_tuple().exponent) if isinstance(value.as_tuple().exponent, int) else 0
        return SqlType("numeric", precision=38, scale=max(exponent, 0))
    if isinstance(value, (bytes, bytearray)):
        return SqlType("varbinary", length=-1)
    if isinstance(value, datetime.datetime):
        return SqlType("datetime2", scale=7)
    if isinstance(value, datetime.date):
        return SqlType("date")
    if isinstance(value, datetime.time):
        return SqlType("time", scale=7)
    if isinstance(value, uuid.UUID):
        return SqlType("uniqueidentifier")
    return nvarchar()


def declare(body: list[Any], variables: Variables) -> None:
    """Enter every DECLARE of a body: in T-SQL a variable's scope is the batch, from its declaration on. Error 134."""
    for statement in body:
        if isinstance(statement, st.Declare):
            for name, sql_type, _ in statement.items:
                key = name.lower()
                if key in variables.types:
                    raise error(134, name, line=statement.line)
                variables.types[key] = sql_type
                variables.values[key] = None
        elif isinstance(statement, st.DeclareTable):
            if statement.name.lower() in variables.types:
                raise error(134, statement.name, line=statement.line)
        elif isinstance(statement, st.Block):
            declare(statement.body, variables)
        elif isinstance(statement, st.If):
            declare([s for s in (statement.then, statement.otherwise) if s is not None], variables)
        elif isinstance(statement, st.While):
            declare([statement.body], variables)
        elif isinstance(statement, st.TryCatch):
            declare(statement.body, variables)
            declare(statement.handler, variables)


_ = (Done, Table)
