"""Clauses, exchanged files and addresses of endpoints, without a cluster."""

from __future__ import annotations

import pytest

from aglab.tsql import TsqlError
from aglab.tsql.lexer import tokenize
from aglab.twin.clauses import Clauses
from aglab.twin.endpoints import SHARE_VARIABLE, SHARED_FOLDER, Files, Trust, node_of_host, parsed_url

NODES = ["sql1", "sql2"]


def reader(text):
    """A reader of clauses over a text."""
    return Clauses(tokenize(text)[:-1])


@pytest.mark.parametrize("text", ["WITH", "x", "(", "(A", "(A = )", "(A = ON", "(A = ON) more"])
def test_clauses_that_do_not_fit_are_error_102(text):
    """Whatever is missing, the error is a syntax error and never another."""
    with pytest.raises(TsqlError) as caught:
        one = reader(text)
        one.options({"A": Clauses.switch}, "SET")
        one.end()
    assert caught.value.number == 102


def test_an_unknown_option_is_error_155_and_quoted_words_are_names():
    """The option is named; a keyword in brackets is an identifier."""
    with pytest.raises(TsqlError, match="'B' is not a recognized SET option"):
        reader("(B = 1)").options({"A": Clauses.number}, "SET")
    assert reader("[WITH]").name() == "WITH" and not reader("[WITH]").at("WITH")
    assert reader("0xABC").binary() == b"\x0a\xbc" and reader("(A = 1, A = 2)").options({"A": Clauses.number}, "S") == {"A": 2}


def test_files_lie_on_their_node_or_in_the_shared_folder():
    """A file is seen where it was written; below the shared folder by every node; it is never overwritten."""
    files = Files()
    assert files.write("sql1", "/data/a.cer", {"kind": "certificate"}) and not files.write("sql1", "/data/a.cer", {})
    assert files.read("sql1", "/data/a.cer") and files.read("sql2", "/data/a.cer") is None
    assert files.write("sql1", SHARED_FOLDER + "a.cer", {"kind": "certificate"})
    assert files.read("sql2", SHARED_FOLDER + "a.cer") == {"kind": "certificate"}
    assert not files.write("sql1", "  ", {})


def test_a_shared_folder_that_exists_is_read_from_the_disk(tmp_path, monkeypatch):
    """In containers the folder is real: what others remove there is gone, what is no certificate is none."""
    monkeypatch.setenv(SHARE_VARIABLE, "1")
    monkeypatch.setattr("aglab.twin.endpoints.SHARED_FOLDER", f"{tmp_path}/")
    files = Files()
    path = f"{tmp_path}/a.cer"
    assert files.read("sql1", path) is None
    assert files.write("sql1", path, {"kind": "certificate"}) and not files.write("sql2", path, {})
    assert files.read("sql2", path) == {"kind": "certificate"} and not files.kept
    (tmp_path / "a.cer").write_text("-----BEGIN", encoding="utf-8")
    assert files.read("sql2", path) is None
    (tmp_path / "a.cer").unlink()
    assert files.write("sql2", path, {"kind": "key"})
    assert not files.write("sql2", f"{tmp_path}/no/such/a.cer", {})


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("TCP://sql1:5022", ("sql1", 5022)),
        ("tcp://SQL2.lab.local:1433/", ("sql2.lab.local", 1433)),
        ("tcp://[::1]:5022", ("[::1]", 5022)),
        ("sql1:5022", None),
        ("tcp://sql1", None),
        ("tcp://sql1:0", None),
        ("tcp://sql1:70000", None),
        ("http://sql1:5022", None),
    ],
)
def test_endpoint_urls(url, place):
    """TCP://host:port and nothing else."""
    assert parsed_url(url) == place


def test_hosts_and_trust():
    """A node answers to its name with a domain or a suffix; what an instance trusts survives being kept."""
    assert [node_of_host(host, NODES) for host in ("SQL1", "sql2-ag", "sql2.lab.local", "sql22", "other")] == [
        "sql1",
        "sql2",
        "sql2",
        None,
        None,
    ]
    trust = Trust(master_key=True, granted={"a": True})
    assert trust.new_thumbprint("sql1", "c") != trust.new_thumbprint("sql1", "c")
    assert Trust.from_dict(trust.to_dict()) == trust
