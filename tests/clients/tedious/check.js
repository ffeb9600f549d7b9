// The list of checks through tedious: one JSON line each. See test_clients.py for the list and the expected values.
import { readFileSync } from 'node:fs';
import { Connection, Request, TYPES } from 'tedious';

const { CLIENT_HOST, CLIENT_PORT, CLIENT_PASSWORD, CLIENT_CERTIFICATE, CLIENT_QUERIES } = process.env;
const queries = JSON.parse(CLIENT_QUERIES);

function open(encrypt, password = CLIENT_PASSWORD) {
  const trust = encrypt === 'strict'
    ? { trustServerCertificate: false, serverName: 'localhost', cryptoCredentialsDetails: { ca: readFileSync(CLIENT_CERTIFICATE) } }
    : { trustServerCertificate: true };
  const connection = new Connection({
    server: CLIENT_HOST,
    authentication: { type: 'default', options: { userName: 'sa', password } },
    options: { port: +CLIENT_PORT, database: 'master', encrypt, requestTimeout: 20000, ...trust },
  });
  return new Promise((resolve, reject) => {
    connection.on('infoMessage', () => {});
    connection.on('errorMessage', (token) => { connection.lastError = token; });
    connection.connect((problem) => (problem ? reject(Object.assign(problem, { token: connection.lastError })) : resolve(connection)));
  });
}

function plain({ value, metadata }) {
  if (value === null) return null;
  if (value === true || value === false) return value ? '1' : '0';
  if (Buffer.isBuffer(value)) return value.toString('hex');
  if (value instanceof Date) return metadata.type.name === 'Date' ? value.toISOString().slice(0, 10) : value.toISOString().slice(0, 23);
  return String(value);
}

/** Every result set of a batch, or of a call when there are parameters: [name, type, value]. */
function ask(connection, text, parameters, watch = () => {}) {
  return new Promise((resolve, reject) => {
    const sets = [];
    const request = new Request(text, (problem) => (problem ? reject(problem) : resolve(sets)));
    for (const [name, type, value] of parameters ?? []) request.addParameter(name, type, value);
    request.on('columnMetadata', () => sets.push([]));
    request.on('row', (row) => { sets.at(-1).push(row.map(plain)); watch(request); });
    if (parameters) connection.execSql(request);
    else connection.execSqlBatch(request);
    if (watch.started) watch.started(request);
  });
}

const first = async (connection, text, parameters) => (await ask(connection, text, parameters))[0][0];
const step = (connection, method) => new Promise((resolve, reject) => {
  connection[method]((problem) => (problem ? reject(problem) : resolve()));
});
const fails = (promise) => promise.then(() => { throw new Error('there was no error'); }, (problem) => problem);

async function check(name, body) {
  let outcome;
  try {
    outcome = { value: await body() };
  } catch (problem) {
    outcome = { error: String(problem.stack ?? problem) };
  }
  console.log(JSON.stringify({ check: name, ...outcome }));
}

/** A check on a connection of its own. */
const on = (name, body, mode = true) => check(name, async () => {
  const connection = await open(mode);
  try {
    return await body(connection);
  } finally {
    connection.close();
  }
});

const encrypted = 'SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID';
for (const mode of [false, true, 'strict']) await on(`connect ${mode}`, async (c) => (await first(c, encrypted))[0], mode);
await check('wrong password', async () => {
  const { token } = await fails(open(true, `not${CLIENT_PASSWORD}`));
  return [token.number, token.message];
});
await on('version', async (c) => (await first(c, 'SELECT @@VERSION'))[0]);
await on('types', (c) => first(c, queries.Types));
await on('nulls', (c) => first(c, queries.Nulls));
await on('parameters', (c) => first(c, 'SELECT @a, @b, @c, @d, @e, @f, @g, @h, @i', [
  ['a', TYPES.BigInt, '9007199254740991'],
  ['b', TYPES.Bit, true],
  ['c', TYPES.Float, 2.5],
  ['d', TYPES.NVarChar, 'Grüße 漢字 😀'],
  ['e', TYPES.NVarChar, 'x'.repeat(9000)],
  ['f', TYPES.VarBinary, Buffer.from([1, 2, 255])],
  ['g', TYPES.NVarChar, null],
  ['h', TYPES.UniqueIdentifier, '6F9619FF-8B86-D011-B42D-00C04FC964FF'],
  ['i', TYPES.DateTime2, new Date('2026-01-02T03:04:05.678Z')],
]));
await on('two results', (c) => ask(c, "SELECT 1 AS a SELECT N'two' AS b, 2 AS c"));
await on('error', async (c) => {
  const problem = await fails(ask(c, 'SELECT * FROM dbo.nowhere'));
  return [[problem.number, problem.message], (await first(c, 'SELECT 1'))[0]];
});
await on('transaction', async (c) => {
  const name = 'OLTP.dbo.clients_tedious';
  const count = `SELECT COUNT(*), @@TRANCOUNT FROM ${name}`;
  await ask(c, `CREATE TABLE ${name} (id int NOT NULL PRIMARY KEY, word nvarchar(20) NULL)`);
  const counts = [];
  for (const end of ['rollbackTransaction', 'commitTransaction']) {
    await step(c, 'beginTransaction');
    await ask(c, `INSERT INTO ${name} (id, word) VALUES (@id, @word), (2, NULL)`, [['id', TYPES.Int, 1], ['word', TYPES.NVarChar, '漢']]);
    counts.push(await first(c, count));
    await step(c, end);
    counts.push(await first(c, count));
  }
  await ask(c, `DROP TABLE ${name}`);
  return counts;
});
await on('dmv', (c) => first(c, queries.Dmv));
await on('rows', async (c) => {
  const [rows] = await ask(c, queries.Rows);
  return [String(rows.length), String(rows.reduce((sum, row) => sum + Number(row[1]), 0))];
});
await on('cancel', async (c) => {
  const [session] = await first(c, 'SELECT @@SPID');
  const cancel = Object.assign(() => {}, { started: () => setTimeout(() => c.cancel(), 500) });
  const timed = await fails(new Promise((resolve, reject) => {
    const request = new Request(queries.Slow, (problem) => (problem ? reject(problem) : resolve()));
    request.setTimeout(500);
    c.execSqlBatch(request);
  }));
  const cancelled = await fails(ask(c, queries.Slow, undefined, cancel));
  return [timed.code === 'ETIMEOUT' && cancelled.code === 'ECANCEL', (await first(c, 'SELECT @@SPID'))[0] === session];
});
await on('abandon', async (c) => {
  let stopped = false;
  const stop = () => { if (!stopped) { stopped = true; c.cancel(); } };
  await fails(ask(c, queries.Rows, undefined, stop));
  return (await first(c, 'SELECT 1'))[0];
});
const BULK_ROWS = 5000;

/** Rows from a number on in bulk; the second has NULL for a column with a default. */
function load(connection, from, to) {
  return new Promise((resolve, reject) => {
    const options = { checkConstraints: true, lockTable: true };
    const bulk = connection.newBulkLoad('dbo.bulk_rows', options, (problem, count) => (problem ? reject(problem) : resolve(count)));
    bulk.addColumn('id', TYPES.Int, { nullable: false });
    bulk.addColumn('word', TYPES.NVarChar, { length: 20, nullable: true });
    bulk.addColumn('n', TYPES.Float, { nullable: true });
    const rows = [];
    for (let id = from; id <= to; id += 1) rows.push([id, '漢', id === 2 ? null : 1]);
    connection.execBulkLoad(bulk, rows);
  });
}
const known = (problem) => [problem.number, problem.message];
await on('bulk', async (c) => {
  await ask(c, 'USE OLTP');
  await ask(c, queries.BulkNew);
  await load(c, 1, BULK_ROWS);
  const loaded = await first(c, queries.BulkSeen);
  return [loaded, known(await fails(load(c, BULK_ROWS, BULK_ROWS + 10))), await first(c, queries.BulkSeen)];
});
await on('tables', async (c) => {
  await ask(c, 'USE OLTP');
  await ask(c, queries.TableNew);
  await ask(c, queries.TableTake);
  const columns = [{ name: 'id', type: TYPES.Int }, { name: 'word', type: TYPES.NVarChar, length: 20 }, { name: 'n', type: TYPES.Float }];
  const take = (rows) => new Promise((resolve, reject) => {
    const sets = [];
    const request = new Request('dbo.take_rows', (problem) => (problem ? reject(problem) : resolve(sets[0])));
    request.addParameter('rows', TYPES.TVP, { name: 'some_rows', schema: 'dbo', columns, rows });
    request.on('row', (row) => sets.push(row.map(plain)));
    c.callProcedure(request);
  });
  const some = await take([[1, '漢', 0.5], [2, null, 2.5], [3, '漢', 0]]);
  return [some, await take([]), known(await fails(take([[1, null, 0], [1, null, 0]])))];
});
await on('pool', async (c) => {
  const seen = [];
  for (let i = 0; i < 3; i++) {
    if (i) await step(c, 'reset');
    seen.push(await first(c, queries.State));
    await ask(c, queries.Dirty);
  }
  return seen;
});
