// The list of checks through System.Data.SqlClient: one JSON line each. See test_clients.py for the list and the expected values.
// One program for two runtimes: Mono keeps the classes in System.Data.dll, .NET Core in System.Data.SqlClient.dll. So it names only
// the base classes of ADO.NET; what SqlClient adds (error numbers, bulk copy, typed parameters) goes through dynamic.
using System;
using System.Collections.Generic;
using System.Data;
using System.Data.Common;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;

class Check {
    static readonly string Password = Environment.GetEnvironmentVariable("CLIENT_PASSWORD");
    static Assembly library;
    static DbProviderFactory factory;
    static TextWriter output;

    static string Query(string name) {
        string all = Environment.GetEnvironmentVariable("CLIENT_QUERIES");
        string text = Regex.Match(all, "\"" + name + "\": \"((?:[^\"\\\\]|\\\\.)*)\"").Groups[1].Value;
        return Regex.Replace(text, "\\\\u([0-9a-f]{4})", m => ((char)Convert.ToInt32(m.Groups[1].Value, 16)).ToString());
    }

    static string Address(string mode, string more = "Pooling=false") {
        return "Server=tcp:" + Environment.GetEnvironmentVariable("CLIENT_HOST") + "," + Environment.GetEnvironmentVariable("CLIENT_PORT")
            + ";Database=master;User ID=sa;TrustServerCertificate=true;Connect Timeout=60;Encrypt=" + mode + ";" + more;
    }

    static DbConnection Open(string address, string password = null) {
        DbConnection c = factory.CreateConnection();
        c.ConnectionString = address + ";Password=" + (password ?? Password);
        c.Open();
        return c;
    }

    /** A wish for several results at a time: the node has none, so the client itself refuses the second until the first is closed. */
    static object Mars() {
        using (DbConnection c = Open(Address("true") + ";MultipleActiveResultSets=true")) {
            string refused = "";
            using (DbDataReader r = Command(c, Query("Rows")).ExecuteReader()) {
                r.Read();
                try {
                    Command(c, "SELECT 2").ExecuteReader().Dispose();
                } catch (InvalidOperationException problem) {
                    refused = problem.Message;
                }
            }
            return new List<object> { refused, First(c, "SELECT 2")[0] };
        }
    }

    static object Plain(object v) {
        if (v is DBNull) return null;
        if (v is bool) return (bool)v ? "1" : "0";
        if (v is byte[]) return string.Concat(((byte[])v).Select(b => b.ToString("x2")));
        if (v is DateTime) return ((DateTime)v).ToString("yyyy-MM-dd'T'HH:mm:ss.fff", CultureInfo.InvariantCulture);
        return Convert.ToString(v, CultureInfo.InvariantCulture);
    }

    static DbCommand Command(DbConnection c, string text, params object[] values) {
        DbCommand command = c.CreateCommand();
        command.CommandText = text;
        for (int i = 0; i < values.Length; i++) {
            DbParameter p = command.CreateParameter();
            p.ParameterName = "@p" + i;
            p.Value = values[i];
            command.Parameters.Add(p);
        }
        return command;
    }

    static List<object> Sets(DbCommand command) {
        var sets = new List<object>();
        using (DbDataReader r = command.ExecuteReader()) {
            do {
                var rows = new List<object>();
                while (r.Read()) {
                    var row = new List<object>();
                    for (int i = 0; i < r.FieldCount; i++) {
                        object v = Plain(r.GetValue(i));
                        row.Add(r.GetDataTypeName(i) == "date" ? ((string)v)?.Substring(0, 10) : v);
                    }
                    rows.Add(row);
                }
                if (r.FieldCount > 0) sets.Add(rows);
            } while (r.NextResult());
        }
        return sets;
    }

    static List<object> First(DbConnection c, string text, DbTransaction within = null) {
        DbCommand command = Command(c, text);
        command.Transaction = within;
        return (List<object>)((List<object>)Sets(command)[0])[0];
    }

    static int Run(DbConnection c, string text) { return Command(c, text).ExecuteNonQuery(); }

    static string Json(object v) {
        if (v == null) return "null";
        if (v is bool) return (bool)v ? "true" : "false";
        if (v is int) return v.ToString();
        var list = v as IEnumerable<object>;
        if (list != null) return "[" + string.Join(",", list.Select(Json)) + "]";
        var text = new StringBuilder("\"");
        foreach (char c in v.ToString()) text.Append(c == '"' || c == '\\' || c < 32 ? "\\u" + ((int)c).ToString("x4") : c.ToString());
        return text.Append('"').ToString();
    }

    static void Check1(string name, Func<object> body) {
        string outcome;
        try { outcome = "\"value\":" + Json(body()); }
        catch (Exception problem) { outcome = "\"error\":" + Json(problem.ToString()); }
        output.WriteLine("{\"check\":" + Json(name) + "," + outcome + "}");
    }

    static void On(string name, Func<DbConnection, object> body) {
        Check1(name, () => { using (DbConnection c = Open(Address("true"))) return body(c); });
    }

    static object Number(Action body) {
        try { body(); }
        catch (DbException problem) { return new List<object> { (int)((dynamic)problem).Number, problem.Message }; }
        return "no error";
    }

    static object Parameters(DbConnection c) {
        object[] values = { 9007199254740991L, true, 2.5, "Grüße 漢字 😀", new string('x', 9000), new byte[] { 1, 2, 255 }, DBNull.Value,
            new Guid("6F9619FF-8B86-D011-B42D-00C04FC964FF"), new DateTime(2026, 1, 2, 3, 4, 5, 678) };
        DbCommand command = Command(c, "SELECT " + string.Join(", ", values.Select((v, i) => "@p" + i)), values);
        foreach (DbParameter p in command.Parameters) { // Prepare demands explicit types and sizes
            string text = p.Value as string;
            p.DbType = p.Value is DateTime ? DbType.DateTime2 : text != null || p.Value is DBNull ? DbType.String : p.DbType;
            p.DbType = p.Value is long ? DbType.Int64 : p.Value is bool ? DbType.Boolean : p.Value is double ? DbType.Double
                : p.Value is Guid ? DbType.Guid : p.Value is byte[] ? DbType.Binary : p.DbType;
            p.Size = text != null && text.Length > 4000 ? -1 : 4000;
            if (p.Value is DateTime) p.Scale = 3;
        }
        object plain = Sets(command)[0];
        command.Prepare(); // sp_prepexec, then sp_execute
        Sets(command);
        object again = Sets(command)[0];
        return Json(plain) == Json(again) ? ((List<object>)again)[0] : Json(plain);
    }

    static object Transaction(DbConnection c) {
        const string Name = "OLTP.dbo.clients_dotnet";
        Run(c, "DROP TABLE IF EXISTS " + Name + "; CREATE TABLE " + Name + " (id int NOT NULL PRIMARY KEY, word nvarchar(20) NULL)");
        var counts = new List<object>();
        foreach (bool keep in new[] { false, true }) {
            using (DbTransaction t = c.BeginTransaction(IsolationLevel.Serializable)) {
                DbCommand insert = Command(c, "INSERT INTO " + Name + " (id, word) VALUES (@p0, @p1), (2, NULL)", 1, "漢");
                insert.Transaction = t;
                insert.ExecuteNonQuery();
                counts.Add(First(c, "SELECT COUNT(*), @@TRANCOUNT FROM " + Name, t));
                if (keep) t.Commit(); else t.Rollback();
            }
            counts.Add(First(c, "SELECT COUNT(*), @@TRANCOUNT FROM " + Name));
        }
        Run(c, "DROP TABLE " + Name);
        return counts;
    }

    static object Cancel(DbConnection c) {
        string session = (string)First(c, "SELECT @@SPID")[0];
        DbCommand slow = Command(c, Query("Slow"));
        slow.CommandTimeout = 1;
        var timed = Number(() => slow.ExecuteNonQuery()) as List<object>;
        // Cancel beside a command that waits in the same way as this one is sent only after its end: this SqlClient's own limit
        // on Linux. Awaited commands have no such limit.
        var cancelled = Number(() => {
            using (var source = new CancellationTokenSource(500))
                Command(c, Query("Slow")).ExecuteNonQueryAsync(source.Token).GetAwaiter().GetResult();
        }) as List<object>;
        bool both = timed != null && (int)timed[0] == -2 && cancelled != null && ((string)cancelled[1]).Contains("cancelled by user");
        return new List<object> { both, (string)First(c, "SELECT @@SPID")[0] == session };
    }

    const int BulkRows = 5000;

    /// Rows from a number on; the second has NULL for a column with a default.
    static DataTable Rows(int from, int to) {
        var table = new DataTable();
        table.Columns.Add("id", typeof(int));
        table.Columns.Add("word", typeof(string));
        table.Columns.Add("n", typeof(double));
        for (int id = from; id <= to; id++) table.Rows.Add(id, "漢", id == 2 ? (object)DBNull.Value : 1.0);
        return table;
    }

    static void Load(DbConnection c, DataTable rows) {
        Type options = library.GetType("System.Data.SqlClient.SqlBulkCopyOptions");
        object chosen = Enum.Parse(options, "CheckConstraints, TableLock, FireTriggers");
        using (dynamic copy = Activator.CreateInstance(library.GetType("System.Data.SqlClient.SqlBulkCopy"), c, chosen, null)) {
            copy.DestinationTableName = "dbo.bulk_rows";
            copy.BulkCopyTimeout = 60;
            copy.WriteToServer(rows);
        }
    }

    static object Bulk(DbConnection c) {
        c.ChangeDatabase("OLTP");
        Run(c, Query("BulkNew"));
        Load(c, Rows(1, BulkRows));
        List<object> loaded = First(c, Query("BulkSeen"));
        return new List<object> { loaded, Number(() => Load(c, Rows(BulkRows, BulkRows + 10))), First(c, Query("BulkSeen")) };
    }

    static List<object> Take(DbConnection c, params object[][] rows) {
        DataTable table = Rows(1, 0);
        foreach (object[] row in rows) table.Rows.Add(row);
        DbCommand command = Command(c, "dbo.take_rows", table);
        command.CommandType = CommandType.StoredProcedure;
        dynamic p = command.Parameters[0];
        p.ParameterName = "@rows";
        p.SqlDbType = SqlDbType.Structured;
        p.TypeName = "dbo.some_rows";
        return (List<object>)((List<object>)Sets(command)[0])[0];
    }

    static object Tables(DbConnection c) {
        c.ChangeDatabase("OLTP");
        Run(c, Query("TableNew"));
        Run(c, Query("TableTake"));
        object[] none = { 1, DBNull.Value, 0.0 };
        List<object> some = Take(c, new object[] { 1, "漢", 0.5 }, new object[] { 2, DBNull.Value, 2.5 }, new object[] { 3, "漢", 0.0 });
        return new List<object> { some, Take(c), Number(() => Take(c, none, none)) };
    }

    static object Pool() {
        var seen = new List<object>();
        for (int i = 0; i < 3; i++)
            using (DbConnection c = Open(Address("true", "Min Pool Size=1;Max Pool Size=1;Application Name=pooled"))) {
                seen.Add(First(c, Query("State")));
                Run(c, Query("Dirty"));
            }
        return seen;
    }

    static int Main() {
        output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false)) { AutoFlush = true };
        try { library = Assembly.Load("System.Data.SqlClient"); } // .NET Core
        catch (FileNotFoundException) { library = typeof(DbConnection).Assembly; } // Mono
        factory = (DbProviderFactory)library.GetType("System.Data.SqlClient.SqlClientFactory").GetField("Instance").GetValue(null);
        foreach (string mode in new[] { "false", "true" })
            Check1("connect " + mode, () => {
                using (DbConnection c = Open(Address(mode)))
                    return First(c, "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID")[0];
            });
        Check1("wrong password", () => Number(() => Open(Address("true"), "not" + Password)));
        On("version", c => First(c, "SELECT @@VERSION")[0]);
        On("types", c => First(c, Query("Types")));
        On("nulls", c => First(c, Query("Nulls")));
        On("parameters", Parameters);
        On("two results", c => Sets(Command(c, "SELECT 1 AS a SELECT N'two' AS b, 2 AS c")));
        On("error", c => new List<object> { Number(() => First(c, "SELECT * FROM dbo.nowhere")), First(c, "SELECT 1")[0] });
        On("transaction", Transaction);
        On("dmv", c => First(c, Query("Dmv")));
        On("rows", c => {
            long count = 0, sum = 0;
            using (DbDataReader r = Command(c, Query("Rows")).ExecuteReader())
                for (; r.Read(); count++) sum += r.GetInt32(1);
            return new List<object> { count.ToString(), sum.ToString() };
        });
        On("cancel", Cancel);
        On("abandon", c => {
            using (DbDataReader r = Command(c, Query("Rows")).ExecuteReader()) r.Read();
            return First(c, "SELECT 1")[0];
        });
        Check1("mars", Mars);
        On("bulk", Bulk);
        On("tables", Tables);
        Check1("pool", Pool);
        Check1("smo groups", Smo.Groups);
        Check1("smo objects", Smo.Objects);
        Check1("smo script", Smo.Script);
        return 0;
    }
}
