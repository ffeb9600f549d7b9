// The list of checks through mssql-jdbc: one JSON line each. See test_clients.py for the list and the expected values.

import com.microsoft.sqlserver.jdbc.SQLServerBulkCopy;
import com.microsoft.sqlserver.jdbc.SQLServerBulkCopyOptions;
import com.microsoft.sqlserver.jdbc.SQLServerConnectionPoolDataSource;
import com.microsoft.sqlserver.jdbc.SQLServerDataTable;
import com.microsoft.sqlserver.jdbc.SQLServerException;
import com.microsoft.sqlserver.jdbc.SQLServerPreparedStatement;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.rowset.CachedRowSet;
import javax.sql.rowset.RowSetMetaDataImpl;
import javax.sql.rowset.RowSetProvider;

public class Check {
    interface Body {
        Object run() throws Exception;
    }

    interface Work {
        Object run(Connection connection) throws Exception;
    }

    static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    static final String PASSWORD = System.getenv("CLIENT_PASSWORD");

    static String query(String name) {
        Matcher found = Pattern.compile("\"" + name + "\": \"((?:[^\"\\\\]|\\\\.)*)\"").matcher(System.getenv("CLIENT_QUERIES"));
        if (!found.find()) throw new IllegalArgumentException(name);
        Matcher code = Pattern.compile("\\\\u([0-9a-f]{4})").matcher(found.group(1));
        return code.replaceAll(m -> String.valueOf((char) Integer.parseInt(m.group(1), 16)));
    }

    static String url(String mode) {
        String tail = mode.equals("strict")
            ? ";serverCertificate=" + System.getenv("CLIENT_CERTIFICATE") : ";trustServerCertificate=true";
        return "jdbc:sqlserver://" + System.getenv("CLIENT_HOST") + ":" + System.getenv("CLIENT_PORT")
            + ";databaseName=master;encrypt=" + mode + tail;
    }

    static Connection open(String mode) throws SQLException {
        return DriverManager.getConnection(url(mode), "sa", PASSWORD);
    }

    static Object plain(Object value) {
        if (value == null) return null;
        if (value instanceof Boolean b) return b ? "1" : "0";
        if (value instanceof byte[] b) return HexFormat.of().formatHex(b);
        if (value instanceof Timestamp t) {
            return t.toLocalDateTime().format(DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS"));
        }
        return value.toString();
    }

    static List<Object> rows(ResultSet set) throws SQLException {
        List<Object> rows = new ArrayList<>();
        while (set.next()) {
            List<Object> row = new ArrayList<>();
            for (int i = 1; i <= set.getMetaData().getColumnCount(); i++) row.add(plain(set.getObject(i)));
            rows.add(row);
        }
        return rows;
    }

    @SuppressWarnings("unchecked")
    static List<Object> first(Connection connection, String text) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return (List<Object>) rows(statement.executeQuery(text)).get(0);
        }
    }

    static void run(Connection connection, String text) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(text);
        }
    }

    static String json(Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) return String.valueOf(value);
        if (value instanceof List<?> list) return "[" + String.join(",", list.stream().map(Check::json).toList()) + "]";
        StringBuilder text = new StringBuilder("\"");
        for (char c : value.toString().toCharArray()) {
            if (c == '"' || c == '\\' || c < 32) text.append(String.format("\\u%04x", (int) c));
            else text.append(c);
        }
        return text.append('"').toString();
    }

    static void check(String name, Body body) {
        String outcome;
        try {
            outcome = "\"value\":" + json(body.run());
        } catch (Exception problem) {
            outcome = "\"error\":" + json(problem.toString());
        }
        OUT.println("{\"check\":" + json(name) + "," + outcome + "}");
    }

    /** A check on a connection of its own. */
    static void on(String name, Work work) {
        check(name, () -> {
            try (Connection connection = open("true")) {
                return work.run(connection);
            }
        });
    }

    static Object number(Body body) throws Exception {
        try {
            return "no error: " + body.run();
        } catch (SQLServerException problem) {
            return List.of(problem.getErrorCode(), problem.getSQLServerError().getErrorMessage());
        }
    }

    static Object parameters(Connection c) throws SQLException {
        try (PreparedStatement p = c.prepareStatement("SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?")) {
            List<Object> seen = null;
            for (int i = 0; i < 3; i++) { // the driver prepares at the second execution and reuses the handle at the third
                p.setLong(1, 9007199254740991L);
                p.setBoolean(2, true);
                p.setDouble(3, 2.5);
                p.setNString(4, "Grüße 漢字 😀");
                p.setString(5, "x".repeat(9000));
                p.setBytes(6, new byte[] {1, 2, (byte) 255});
                p.setNull(7, Types.NVARCHAR);
                p.setObject(8, "6F9619FF-8B86-D011-B42D-00C04FC964FF", microsoft.sql.Types.GUID);
                p.setTimestamp(9, Timestamp.valueOf("2026-01-02 03:04:05.678"));
                seen = rows(p.executeQuery());
            }
            return seen.get(0);
        }
    }

    static Object transaction(Connection c) throws SQLException {
        String name = "OLTP.dbo.clients_jdbc";
        run(c, "CREATE TABLE " + name + " (id int NOT NULL PRIMARY KEY, word nvarchar(20) NULL)");
        String count = "SELECT COUNT(*), @@TRANCOUNT FROM " + name;
        List<Object> counts = new ArrayList<>();
        for (boolean keep : new boolean[] {false, true}) {
            c.setAutoCommit(false);
            try (PreparedStatement p = c.prepareStatement("INSERT INTO " + name + " (id, word) VALUES (?, ?), (2, NULL)")) {
                p.setInt(1, 1);
                p.setNString(2, "漢");
                p.executeUpdate();
            }
            counts.add(first(c, count));
            if (keep) c.commit();
            else c.rollback();
            c.setAutoCommit(true);
            counts.add(first(c, count));
        }
        run(c, "DROP TABLE " + name);
        return counts;
    }

    static Object cancel(Connection c) throws Exception {
        Object session = first(c, "SELECT @@SPID");
        boolean timed = false, cancelled = false;
        try (Statement s = c.createStatement()) {
            s.setQueryTimeout(1);
            s.execute(query("Slow"));
        } catch (SQLException problem) {
            timed = problem.getMessage().contains("timed out");
        }
        try (Statement s = c.createStatement()) {
            Thread thread = new Thread(() -> {
                try {
                    Thread.sleep(500);
                    s.cancel();
                } catch (Exception problem) {
                    problem.printStackTrace();
                }
            });
            thread.start();
            s.execute(query("Slow"));
        } catch (SQLException problem) {
            cancelled = problem.getMessage().contains("canceled");
        }
        return List.of(timed && cancelled, first(c, "SELECT @@SPID").equals(session));
    }

    /** Scrollable and updatable result sets, and selectMethod=cursor, use the server's cursors (sp_cursoropen and its kin). */
    static Object cursors(Connection c) throws SQLException {
        String name = "OLTP.dbo.clients_jdbc_cursor";
        run(c, "CREATE TABLE " + name + " (id int NOT NULL PRIMARY KEY, word varchar(20) NULL)");
        run(c, "INSERT " + name + " VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')");
        List<Object> seen = new ArrayList<>();
        int[][] kinds = {
            {1006, ResultSet.CONCUR_UPDATABLE}, // TYPE_SS_SCROLL_DYNAMIC
            {ResultSet.TYPE_SCROLL_SENSITIVE, ResultSet.CONCUR_UPDATABLE},
            {ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY},
        };
        for (int[] kind : kinds) {
            try (PreparedStatement p = c.prepareStatement("SELECT id, word AS w FROM " + name + " WHERE id > ?", kind[0], kind[1])) {
                p.setInt(1, 0);
                ResultSet set = p.executeQuery();
                StringBuilder walk = new StringBuilder();
                if (set.last()) walk.append(set.getInt(1));
                if (set.first()) walk.append(set.getInt(1));
                if (set.relative(2)) walk.append(set.getInt(1));
                if (set.previous()) walk.append(set.getInt(1));
                if (kind[0] != 1006 && set.absolute(-1)) walk.append(set.getInt(1)).append('/').append(set.getRow());
                seen.add(walk.toString());
                if (kind[1] == ResultSet.CONCUR_READ_ONLY) continue;
                set.first();
                set.updateString("w", "changed");
                set.updateRow();
                set.last();
                set.deleteRow();
                set.moveToInsertRow();
                set.updateInt("id", 4);
                set.updateString("w", "new");
                set.insertRow();
            }
        }
        seen.add(first(c, "SELECT STRING_AGG(CONCAT(id, word), ',') WITHIN GROUP (ORDER BY id) FROM " + name).get(0));
        try (Connection other = DriverManager.getConnection(url("true") + ";selectMethod=cursor", "sa", PASSWORD);
                Statement s = other.createStatement()) {
            s.setFetchSize(2);
            ResultSet set = s.executeQuery("SELECT id FROM " + name);
            int sum = 0;
            while (set.next()) sum += set.getInt(1);
            seen.add(sum);
            seen.add(first(other, "SELECT 1").get(0));
            run(other, "DECLARE @a int = 1; IF @a = 1 SELECT @a; SELECT 2");
        }
        run(c, "DROP TABLE " + name);
        return seen;
    }

    static final int BULK_ROWS = 5000;

    /** Rows from a number on in bulk; the second has NULL for a column with a default. */
    static Object load(Connection c, int from, int to) throws SQLException {
        CachedRowSet rows = RowSetProvider.newFactory().createCachedRowSet();
        RowSetMetaDataImpl shape = new RowSetMetaDataImpl();
        int[] types = {Types.INTEGER, Types.NVARCHAR, Types.DOUBLE};
        shape.setColumnCount(types.length);
        for (int i = 0; i < types.length; i++) {
            shape.setColumnName(i + 1, List.of("id", "word", "n").get(i));
            shape.setColumnType(i + 1, types[i]);
            shape.setPrecision(i + 1, 20);
            shape.setNullable(i + 1, ResultSetMetaData.columnNullable); // or the driver leaves NULL out of its rows
        }
        rows.setMetaData(shape);
        for (int id = to; id >= from; id--) {
            rows.moveToInsertRow();
            rows.updateInt(1, id);
            rows.updateString(2, "漢");
            if (id == 2) rows.updateNull(3);
            else rows.updateDouble(3, 1);
            rows.insertRow();
            rows.moveToCurrentRow();
        }
        rows.beforeFirst();
        SQLServerBulkCopyOptions options = new SQLServerBulkCopyOptions();
        options.setCheckConstraints(true);
        options.setTableLock(true);
        options.setBatchSize(0);
        try (SQLServerBulkCopy copy = new SQLServerBulkCopy(c)) {
            copy.setBulkCopyOptions(options);
            copy.setDestinationTableName("dbo.bulk_rows");
            copy.writeToServer(rows);
        }
        return "loaded";
    }

    static Object bulk(Connection c) throws Exception {
        run(c, "USE OLTP");
        run(c, query("BulkNew"));
        load(c, 1, BULK_ROWS);
        List<Object> loaded = first(c, query("BulkSeen"));
        return List.of(loaded, number(() -> load(c, BULK_ROWS, BULK_ROWS + 10)), first(c, query("BulkSeen")));
    }

    static Object take(Connection c, Object[]... rows) throws SQLException {
        SQLServerDataTable table = new SQLServerDataTable();
        table.addColumnMetadata("id", Types.INTEGER);
        table.addColumnMetadata("word", Types.NVARCHAR);
        table.addColumnMetadata("n", Types.DOUBLE);
        for (Object[] row : rows) table.addRow(row);
        Object seen = null;
        try (SQLServerPreparedStatement p = (SQLServerPreparedStatement) c.prepareStatement("EXEC dbo.take_rows ?")) {
            for (int i = 0; i < 3; i++) { // the driver prepares at the second execution and reuses the handle at the third
                p.setStructured(1, "dbo.some_rows", table);
                try (ResultSet set = p.executeQuery()) {
                    seen = rows(set).get(0);
                }
            }
        }
        return seen;
    }

    static Object tables(Connection c) throws Exception {
        run(c, "USE OLTP");
        run(c, query("TableNew"));
        run(c, query("TableTake"));
        Object some = take(c, new Object[] {1, "漢", 0.5}, new Object[] {2, null, 2.5}, new Object[] {3, "漢", 0.0});
        return Arrays.asList(some, take(c), number(() -> take(c, new Object[] {1, null, 0.0}, new Object[] {1, null, 0.0})));
    }

    static Object pool() throws Exception {
        SQLServerConnectionPoolDataSource source = new SQLServerConnectionPoolDataSource();
        source.setURL(url("true"));
        source.setUser("sa");
        source.setPassword(PASSWORD);
        var pooled = source.getPooledConnection();
        List<Object> seen = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            try (Connection c = pooled.getConnection()) {
                seen.add(first(c, query("State")));
                run(c, query("Dirty"));
            }
        }
        pooled.close();
        return seen;
    }

    public static void main(String[] arguments) {
        String encrypted = "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID";
        for (String mode : List.of("false", "true", "strict")) {
            check("connect " + mode, () -> {
                try (Connection c = open(mode)) {
                    return first(c, encrypted).get(0);
                }
            });
        }
        check("wrong password", () -> number(() -> DriverManager.getConnection(url("true"), "sa", "not" + PASSWORD)));
        on("version", c -> first(c, "SELECT @@VERSION").get(0));
        on("types", c -> first(c, query("Types")));
        on("nulls", c -> first(c, query("Nulls")));
        on("parameters", Check::parameters);
        on("two results", c -> {
            try (Statement s = c.createStatement()) {
                List<Object> sets = new ArrayList<>();
                boolean more = s.execute("SELECT 1 AS a SELECT N'two' AS b, 2 AS c");
                for (; more || s.getUpdateCount() != -1; more = s.getMoreResults()) if (more) sets.add(rows(s.getResultSet()));
                return sets;
            }
        });
        on("error", c -> Arrays.asList(number(() -> first(c, "SELECT * FROM dbo.nowhere")), first(c, "SELECT 1").get(0)));
        on("transaction", Check::transaction);
        on("dmv", c -> first(c, query("Dmv")));
        on("rows", c -> {
            try (Statement s = c.createStatement(); ResultSet set = s.executeQuery(query("Rows"))) {
                long count = 0, sum = 0;
                for (; set.next(); count++) sum += set.getInt(2);
                return List.of("" + count, "" + sum);
            }
        });
        on("cancel", Check::cancel);
        on("abandon", c -> {
            try (Statement s = c.createStatement(); ResultSet set = s.executeQuery(query("Rows"))) {
                set.next();
            }
            return first(c, "SELECT 1").get(0);
        });
        on("cursors", Check::cursors);
        on("bulk", Check::bulk);
        on("tables", Check::tables);
        check("pool", Check::pool);
    }
}
