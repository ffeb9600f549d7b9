// The list of checks through go-mssqldb: one JSON line each. See test_clients.py for the list and the expected values.
package main

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

var queries struct {
	Types, Nulls, Dmv, Rows, Slow, Dirty, State, BulkNew, BulkSeen, TableNew, TableTake string
}

func address(mode string, extra ...string) string {
	q := url.Values{"encrypt": {mode}, "database": {"master"}, "TrustServerCertificate": {"true"}}
	if mode == "strict" {
		q.Set("TrustServerCertificate", "false")
		q.Set("certificate", os.Getenv("CLIENT_CERTIFICATE"))
		q.Set("hostNameInCertificate", "localhost")
	}
	for i := 0; i+1 < len(extra); i += 2 {
		q.Set(extra[i], extra[i+1])
	}
	host := os.Getenv("CLIENT_HOST") + ":" + os.Getenv("CLIENT_PORT")
	u := url.URL{Scheme: "sqlserver", User: url.UserPassword("sa", os.Getenv("CLIENT_PASSWORD")), Host: host, RawQuery: q.Encode()}
	return u.String()
}

// plain is a value in the spelling that all clients share: text, or nil for NULL.
func plain(v any, declared string) any {
	switch x := v.(type) {
	case nil:
		return nil
	case bool:
		return map[bool]string{true: "1", false: "0"}[x]
	case time.Time:
		if declared == "DATE" {
			return x.Format("2006-01-02")
		}
		return x.Format("2006-01-02T15:04:05.000")
	case []byte:
		switch declared {
		case "UNIQUEIDENTIFIER":
			var u mssql.UniqueIdentifier
			if err := u.Scan(x); err != nil {
				panic(err)
			}
			return u.String()
		case "DECIMAL":
			return string(x)
		}
		return hex.EncodeToString(x)
	}
	return fmt.Sprint(v)
}

type asker interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

// ask fetches every result set.
func ask(c asker, text string, parameters ...any) ([][][]any, error) {
	rows, err := c.QueryContext(context.Background(), text, parameters...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	sets := [][][]any{}
	for more := true; more; more = rows.NextResultSet() {
		types, err := rows.ColumnTypes()
		if err != nil {
			return nil, err
		}
		set := [][]any{}
		for rows.Next() {
			row, into := make([]any, len(types)), make([]any, len(types))
			for i := range row {
				into[i] = &row[i]
			}
			if err := rows.Scan(into...); err != nil {
				return nil, err
			}
			for i := range row {
				row[i] = plain(row[i], types[i].DatabaseTypeName())
			}
			set = append(set, row)
		}
		sets = append(sets, set)
	}
	return sets, rows.Err()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func done(err error) { must(0, err) }

func first(c asker, text string, parameters ...any) []any {
	return must(ask(c, text, parameters...))[0][0]
}

func check(name string, body func() any) {
	line := map[string]any{"check": name}
	defer func() {
		if r := recover(); r != nil {
			line["error"] = fmt.Sprint(r)
		}
		fmt.Println(string(must(json.Marshal(line))))
	}()
	line["value"] = body()
}

func number(err error) any {
	var e mssql.Error
	if errors.As(err, &e) {
		return []any{e.Number, e.Message}
	}
	panic(fmt.Sprint("not an error of the server: ", err))
}

const bulkRows = 5000

// load copies rows from a number on in bulk; the second has NULL for a column with a default.
func load(db *sql.DB, from, to int) error {
	conn := must(db.Conn(context.Background()))
	defer conn.Close()
	options := mssql.BulkOptions{CheckConstraints: true, RowsPerBatch: 1000, Tablock: true}
	copying, err := conn.PrepareContext(context.Background(), mssql.CopyIn("dbo.bulk_rows", options, "id", "word", "n"))
	if err != nil {
		return err
	}
	defer copying.Close()
	for id := from; id <= to; id++ {
		var n any = float64(1)
		if id == 2 {
			n = nil
		}
		if _, err := copying.Exec(id, "漢", n); err != nil {
			return err
		}
	}
	_, err = copying.Exec()
	return err
}

type item struct {
	Id   int32
	Word *string
	N    float64
}

// table is a parameter; the driver refuses a slice that is nil.
func table(items ...item) mssql.TVP {
	return mssql.TVP{TypeName: "dbo.some_rows", Value: append([]item{}, items...)}
}

func main() {
	done(json.Unmarshal([]byte(os.Getenv("CLIENT_QUERIES")), &queries))
	for _, mode := range []string{"disable", "false", "true", "strict"} {
		check("connect "+mode, func() any {
			db := must(sql.Open("sqlserver", address(mode)))
			defer db.Close()
			return first(db, "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID")[0]
		})
	}
	check("wrong password", func() any {
		db := must(sql.Open("sqlserver", strings.Replace(address("true"), "sa:", "sa:not", 1)))
		defer db.Close()
		_, err := ask(db, "SELECT 1")
		return number(err)
	})
	db := must(sql.Open("sqlserver", address("true")))
	db.SetMaxOpenConns(1)
	check("version", func() any { return first(db, "SELECT @@VERSION")[0] })
	check("types", func() any { return first(db, queries.Types) })
	check("nulls", func() any { return first(db, queries.Nulls) })
	check("parameters", func() any {
		var guid mssql.UniqueIdentifier
		done(guid.Scan("6F9619FF-8B86-D011-B42D-00C04FC964FF"))
		at := time.Date(2026, 1, 2, 3, 4, 5, 678000000, time.UTC)
		return first(db, "SELECT @p1, @p2, @p3, @p4, @p5, @p6, @p7, @p8, @p9", int64(9007199254740991), true, 2.5,
			"Grüße 漢字 😀", strings.Repeat("x", 9000), []byte{1, 2, 255}, sql.NullString{}, guid, at)
	})
	check("two results", func() any { return must(ask(db, "SELECT 1 AS a SELECT N'two' AS b, 2 AS c")) })
	check("error", func() any {
		_, err := ask(db, "SELECT * FROM dbo.nowhere")
		return []any{number(err), first(db, "SELECT 1")[0]}
	})
	check("transaction", func() any {
		name := "OLTP.dbo.clients_go"
		must(db.Exec("CREATE TABLE " + name + " (id int NOT NULL PRIMARY KEY, word nvarchar(20) NULL)"))
		defer db.Exec("DROP TABLE " + name)
		counts := []any{}
		for _, end := range []func(*sql.Tx) error{(*sql.Tx).Rollback, (*sql.Tx).Commit} {
			tx := must(db.Begin())
			must(tx.Exec("INSERT INTO "+name+" (id, word) VALUES (@p1, @p2), (2, NULL)", 1, "漢"))
			counts = append(counts, first(tx, "SELECT COUNT(*), @@TRANCOUNT FROM "+name))
			done(end(tx))
			counts = append(counts, first(db, "SELECT COUNT(*), @@TRANCOUNT FROM "+name))
		}
		return counts
	})
	check("dmv", func() any { return first(db, queries.Dmv) })
	check("rows", func() any {
		rows := must(db.Query(queries.Rows))
		defer rows.Close()
		var n, sum, a, b int64
		for rows.Next() {
			done(rows.Scan(&a, &b))
			n, sum = n+1, sum+b
		}
		return []any{fmt.Sprint(n), fmt.Sprint(sum)}
	})
	check("cancel", func() any {
		conn := must(db.Conn(context.Background()))
		defer conn.Close()
		spid := first(conn, "SELECT @@SPID")[0]
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(500*time.Millisecond, cancel)
		_, err := conn.ExecContext(ctx, queries.Slow)
		return []any{errors.Is(err, context.Canceled), first(conn, "SELECT @@SPID")[0] == spid}
	})
	check("abandon", func() any {
		rows := must(db.Query(queries.Rows))
		rows.Next()
		done(rows.Close())
		return first(db, "SELECT 1")[0]
	})
	check("bulk", func() any {
		db := must(sql.Open("sqlserver", address("true", "database", "OLTP")))
		defer db.Close()
		must(db.Exec(queries.BulkNew))
		done(load(db, 1, bulkRows))
		loaded := first(db, queries.BulkSeen)
		return []any{loaded, number(load(db, bulkRows, bulkRows+10)), first(db, queries.BulkSeen)}
	})
	check("tables", func() any {
		db := must(sql.Open("sqlserver", address("true", "database", "OLTP")))
		defer db.Close()
		must(db.Exec(queries.TableNew))
		must(db.Exec(queries.TableTake))
		word := "漢"
		_, err := ask(db, "dbo.take_rows", sql.Named("rows", table(item{1, nil, 0}, item{1, nil, 0})))
		some := table(item{1, &word, 0.5}, item{2, nil, 2.5}, item{3, &word, 0})
		return []any{first(db, "dbo.take_rows", sql.Named("rows", some)), first(db, "dbo.take_rows", sql.Named("rows", table())), number(err)}
	})
	check("pool", func() any {
		seen := []any{}
		for range 3 {
			conn := must(db.Conn(context.Background()))
			seen = append(seen, first(conn, queries.State))
			must(conn.ExecContext(context.Background(), queries.Dirty))
			done(conn.Close())
		}
		return seen
	})
	done(db.Close())
}
