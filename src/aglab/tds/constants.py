"""Numbers of MS-TDS: packets (2.2.3.1), tokens (2.2.4.2), DONE bits (2.2.7.6), ENVCHANGE types (2.2.7.9)."""

from __future__ import annotations

HEADER_BYTES = 8

# Packet types.
SQL_BATCH = 1
RPC = 3
TABULAR_RESULT = 4
ATTENTION = 6
BULK_LOAD = 7
TRANSACTION_MANAGER = 14
LOGIN7 = 16
PRELOGIN = 18
TLS_HANDSHAKE_RECORD = 0x16  # not TDS: the first byte of a TLS connection, so of a strict client

# Packet status bits.
END_OF_MESSAGE = 0x01
IGNORE_MESSAGE = 0x02
RESET_CONNECTION = 0x08
RESET_CONNECTION_SKIP_TRAN = 0x10

# Tokens.
TOKEN_RETURNSTATUS = 0x79
TOKEN_COLMETADATA = 0x81
TOKEN_TABNAME = 0xA4
TOKEN_COLINFO = 0xA5
TOKEN_ORDER = 0xA9
TOKEN_ERROR = 0xAA
TOKEN_INFO = 0xAB
TOKEN_RETURNVALUE = 0xAC
TOKEN_LOGINACK = 0xAD
TOKEN_FEATUREEXTACK = 0xAE
TOKEN_ROW = 0xD1
TOKEN_NBCROW = 0xD2
TOKEN_ENVCHANGE = 0xE3
TOKEN_DONE = 0xFD
TOKEN_DONEPROC = 0xFE
TOKEN_DONEINPROC = 0xFF

# DONE status bits.
DONE_MORE = 0x01
DONE_ERROR = 0x02
DONE_COUNT = 0x10
DONE_ATTN = 0x20
DONE_RPCINBATCH = 0x80

# ENVCHANGE types.
ENV_DATABASE = 1
ENV_LANGUAGE = 2
ENV_PACKET_SIZE = 4
ENV_COLLATION = 7
ENV_BEGIN_TRAN = 8
ENV_COMMIT_TRAN = 9
ENV_ROLLBACK_TRAN = 10
ENV_RESET_ACK = 18
ENV_ROUTING = 20

# PRELOGIN encryption answers.
ENCRYPT_OFF = 0
ENCRYPT_ON = 1
ENCRYPT_NOT_SUP = 2
ENCRYPT_REQ = 3

# LOGIN7 versions as the DWORD of the message.
TDS72 = 0x72090002
TDS73A = 0x730A0003
TDS73B = 0x730B0003
TDS74 = 0x74000004
TDS80 = 0x08000000

FEATURE_UTF8 = 0x0A

# SQL_Latin1_General_CP1_CI_AS: LCID 0x0409, ignore case, kana and width, sort id 52.
COLLATION = bytes((0x09, 0x04, 0xD0, 0x00, 0x34))

# DONE.CurCmd, as drivers read it; anything else is sent as 0xFD.
COMMANDS = {
    "SELECT": 0xC1,
    "INSERT": 0xC3,
    "DELETE": 0xC4,
    "UPDATE": 0xC5,
    "EXECUTE": 0xE0,
    "BULK INSERT": 0xF0,
    "MERGE": 0x117,
}
COMMAND_OTHER = 0xFD

# RPC numbers (2.2.6.6).
PROCEDURES = {
    1: "sp_cursor",
    2: "sp_cursoropen",
    3: "sp_cursorprepare",
    4: "sp_cursorexecute",
    5: "sp_cursorprepexec",
    6: "sp_cursorunprepare",
    7: "sp_cursorfetch",
    8: "sp_cursoroption",
    9: "sp_cursorclose",
    10: "sp_executesql",
    11: "sp_prepare",
    12: "sp_execute",
    13: "sp_prepexec",
    14: "sp_prepexecrpc",
    15: "sp_unprepare",
}

TRANSACTION_KINDS = {5: "begin", 7: "commit", 8: "rollback", 9: "save"}
