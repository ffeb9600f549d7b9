"""Administrative statements: databases, backup, availability groups, logins, DBCC, CHECKPOINT, RECONFIGURE, KILL."""

from __future__ import annotations

from typing import Any

from aglab.tsql import ast_statements as st
from aglab.tsql.lexer import END, NAME, OPERATOR, QUOTED, STATEMENT_WORDS, VARIABLE
from aglab.tsql.messages import not_implemented
from aglab.tsql.parser.databases import DatabaseParser

# Statements that only a node can carry out: first words -> the command's name and how many words the target follows.
NODE_OBJECTS = (
    "AVAILABILITY GROUP",
    "ENDPOINT",
    "CERTIFICATE",
    "LOGIN",
    "USER",
    "SERVER ROLE",
    "ROLE",
    "MASTER KEY",
    "RESOURCE POOL",
    "WORKLOAD GROUP",
    "RESOURCE GOVERNOR",
    "EVENT SESSION",
    "SERVER CONFIGURATION",
    "DATABASE ENCRYPTION KEY",
    "CREDENTIAL",
    "SERVER AUDIT",
)


class AdminParser(DatabaseParser):
    """Reads administration."""

    # --- small ones ---------------------------------------------------------------------------------------------------------

    def _do_checkpoint(self, line: int) -> st.Statement:
        self.advance()
        duration = None
        if self.token.kind in (5, VARIABLE):
            duration = self._primary()
        return st.Checkpoint(line, duration)

    def _do_reconfigure(self, line: int) -> st.Statement:
        self.advance()
        override = False
        if self.at("WITH") and self.peek().upper == "OVERRIDE":
            self.advance()
            self.advance()
            override = True
        return st.Reconfigure(line, override)

    def _do_kill(self, line: int) -> st.Statement:
        self.advance()
        kill = st.Kill(line, self._unary())
        if self.at("WITH") and self.peek().upper == "STATUSONLY":
            raise not_implemented("KILL ... WITH STATUSONLY", line)
        return kill

    def _do_shutdown(self, line: int) -> st.Statement:
        start = self.advance()
        options: dict[str, Any] = {}
        if self.at("WITH") and self.peek().upper == "NOWAIT":
            self.advance()
            self.advance()
            options["NOWAIT"] = True
        return self._node_statement(line, "SHUTDOWN", "", options, start.start)

    def _do_dbcc(self, line: int) -> st.Statement:
        self.advance()
        command = self.any_word()
        args: list[Any] = []
        if self.accept("("):
            while not self.at(")"):
                if self.at("-"):
                    args.append(self.integer())
                elif self.token.kind in (5, 6):
                    args.append(int(float(self.advance().value)))
                elif self.token.kind == END or (self.token.kind == OPERATOR and not self.at(",")):
                    raise self.syntax_error()
                elif self.token.kind == VARIABLE:
                    args.append(self._primary())
                elif self.at(","):
                    raise self.syntax_error()
                else:
                    args.append(self.advance().value)
                if not self.accept(","):
                    break
            self.expect(")")
        options: set[str] = set()
        if self.at("WITH"):
            self.advance()
            while True:
                options.add(self.any_word())
                if self.accept("="):
                    self.integer()
                if not self.accept(","):
                    break
        return st.Dbcc(line, command, args, options)

    # --- databases ----------------------------------------------------------------------------------------------------------

    def admin_create(self, line: int) -> st.Statement | None:
        """CREATE DATABASE and the node's objects."""
        if self.at("DATABASE") and self.peek().upper not in ("ENCRYPTION", "SCOPED", "AUDIT"):
            self.advance()
            return self._create_database(line)
        return self._node_object("CREATE", line)

    def admin_alter(self, line: int) -> st.Statement | None:
        """ALTER DATABASE and the node's objects."""
        if self.at("DATABASE") and self.peek().upper == "SCOPED":
            return self._scoped_configuration(line)
        if self.at("DATABASE") and self.peek().upper not in ("ENCRYPTION", "AUDIT"):
            self.advance()
            return self._alter_database(line)
        if self.at("AUTHORIZATION"):
            return self._generic(line, "ALTER AUTHORIZATION")
        return self._node_object("ALTER", line)

    # --- backup -------------------------------------------------------------------------------------------------------------

    def _do_backup(self, line: int) -> st.Statement:
        return self._backup(line, "BACKUP")

    def _do_restore(self, line: int) -> st.Statement:
        return self._backup(line, "RESTORE")

    def _backup(self, line: int, verb: str) -> st.Statement:
        start = self.advance().start
        what = self.expect(
            "DATABASE",
            "LOG",
            "HEADERONLY",
            "FILELISTONLY",
            "LABELONLY",
            "VERIFYONLY",
            "CERTIFICATE",
            "SERVICE",
            "MASTER",
            "TRANSACTION",
        ).upper
        if what in ("CERTIFICATE", "SERVICE", "MASTER"):
            return self._generic(line, f"{verb} {what}", start)
        what = "LOG" if what == "TRANSACTION" else what
        target = ""
        if what in ("DATABASE", "LOG"):
            target = self.variable() if self.token.kind == VARIABLE else self.name()
        options: dict[str, Any] = {"DEVICES": []}
        while self.at("FILE", "FILEGROUP", "PAGE", "READ_WRITE_FILEGROUPS"):
            part = self.advance().upper
            if part == "READ_WRITE_FILEGROUPS":
                options[part] = True
            else:
                self.expect("=")
                said = self._primary() if self.token.kind == VARIABLE else self.string()
                options.setdefault(f"{part}S", []).append(said)
            self.accept(",")
        if self.at("TO", "FROM"):
            self.advance()
            options["DEVICES"] = self._devices()
            while self.at("MIRROR"):
                self.advance()
                self.expect("TO")
                options.setdefault("MIRROR", []).append(self._devices())
        if self.at("WITH"):
            self.advance()
            self._backup_options(options)
        return self._node_statement(line, f"{verb} {what}", target, options, start)

    def _devices(self) -> list[tuple[str, Any]]:
        devices: list[tuple[str, Any]] = []
        while True:
            if self.at("DISK", "URL", "TAPE"):
                kind = self.advance().upper
                self.expect("=")
                if self.token.kind == VARIABLE:
                    devices.append((kind, self._primary()))
                else:
                    devices.append((kind, self.string()))
            else:
                devices.append(("DEVICE", self.name()))
            if not self.accept(","):
                return devices

    def _backup_options(self, options: dict[str, Any]) -> None:
        while True:
            word = self.any_word()
            if word == "MOVE":
                source = self.string()
                self.expect("TO")
                options.setdefault("MOVE", {})[source] = self.string()
            elif word == "ENCRYPTION" and self.at("("):
                options[word] = self._balanced()
            elif word == "COMPRESSION" and self.at("("):
                self._balanced()  # (ALGORITHM = ...): one cost of compression is known
                options[word] = True
            elif self.accept("="):
                options[word] = self._primary() if self.token.kind == VARIABLE else self._option_scalar()
            else:
                options[word] = True
            if not self.accept(","):
                return

    # --- what only a node can do --------------------------------------------------------------------------------------------

    def admin_drop(self, line: int) -> st.Statement | None:
        """DROP of the node's objects (logins and users too)."""
        return self._node_object("DROP", line)

    def _do_grant(self, line: int) -> st.Statement:
        return self._generic(line, "GRANT", self.advance().start)

    def _do_deny(self, line: int) -> st.Statement:
        return self._generic(line, "DENY", self.advance().start)

    def _do_revoke(self, line: int) -> st.Statement:
        return self._generic(line, "REVOKE", self.advance().start)

    def _do_revert(self, line: int) -> st.Statement:
        return self._generic(line, "REVERT", self.advance().start)

    def _node_object(self, verb: str, line: int) -> st.Statement | None:
        for words in NODE_OBJECTS:
            parts = words.split()
            if self.at_sequence(*parts):
                start = self.tokens[self.position - 1].start
                for _ in parts:
                    self.advance()
                return self._generic(line, f"{verb} {words}", start)
        return None

    def _generic(self, line: int, name: str, start: int | None = None) -> st.Statement:
        """The rest of a statement whose clauses the node reads itself: its tokens go along."""
        start = self.token.start if start is None else start
        target = ""
        if self.token.kind in (NAME, QUOTED) and self.token.upper not in ("WITH", "IF"):
            target = self.token.value
        first = self.position
        depth = 0
        while self.token.kind != END:
            if self.at("("):
                depth += 1
            elif self.at(")"):
                depth -= 1
                if depth < 0:
                    raise self.syntax_error()
            elif depth == 0 and (self.at(";") or (self.position > first and self._starts_statement(name))):
                break
            self.advance()
        if depth > 0:
            raise self.syntax_error()
        tokens = self.tokens[first : self.position]
        return self._node_statement(line, name, target, {"TOKENS": tokens}, start)

    def _starts_statement(self, name: str) -> bool:
        token = self.token
        if token.kind != NAME or token.upper not in STATEMENT_WORDS:
            return False
        previous = self.tokens[self.position - 1]
        if name == "EXECUTE AS" and token.upper == "REVERT" and previous.upper == "NO":
            return False
        if name == "ALTER AVAILABILITY GROUP" and self._grants_create(previous):
            return False
        if token.upper in ("WITH", "SET", "ADD", "FETCH") or previous.upper == "WITH":
            return False
        if token.upper == "DROP" and name.endswith("ROLE"):
            return self.peek().upper != "MEMBER"
        if token.upper in ("ALTER", "CREATE", "EXECUTE", "SELECT", "INSERT", "UPDATE", "DELETE", "BACKUP", "DROP"):
            clause = name.startswith(("GRANT", "DENY", "REVOKE")) and (
                previous.upper in ("GRANT", "DENY", "REVOKE", ",", "FOR") or previous.upper == ""
            )
            inside = previous.upper in ("GRANT", "DENY", ",", "FOR", "ON") or clause
            return not inside and not (name.startswith("ALTER EVENT SESSION") and token.upper == "DROP")
        return token.upper not in ("MODIFY",)

    def _grants_create(self, previous: Any) -> bool:
        """Inside GRANT (or DENY) CREATE ANY DATABASE of ALTER AVAILABILITY GROUP."""
        if self.token.upper in ("GRANT", "DENY"):
            return bool(self.peek().upper == "CREATE")
        return bool(self.token.upper == "CREATE" and previous.upper in ("GRANT", "DENY"))

    def _balanced(self) -> str:
        start = self.token.start
        depth = 0
        while True:
            if self.token.kind == END:
                raise self.syntax_error()
            depth += 1 if self.at("(") else -1 if self.at(")") else 0
            token = self.advance()
            if depth == 0:
                return self.text[start : token.end]

    def _node_statement(self, line: int, name: str, target: str, options: dict[str, Any], start: int) -> st.Statement:
        end = self.tokens[max(self.position - 1, 0)].end
        return st.AdminStatement(line, name, target, options, self.text[start:end])
