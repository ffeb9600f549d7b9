// Load on one node through go-mssqldb: each connection repeats one batch. Prints one JSON object.
//
//	wireload -port N -password P [-connections 8] [-seconds 2] [-query "SELECT 1"] [-rows 1] [-connect]
//
// -connect opens and closes a connection each time instead of repeating a batch on one that stays.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"sort"
	"sync"
	"time"

	_ "github.com/microsoft/go-mssqldb"
)

type tally struct {
	took   []float64 // ms
	errors int
	first  string
	rows   int
}

func fetch(ctx context.Context, c *sql.Conn, query string) (int, error) {
	rows, err := c.QueryContext(ctx, query)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return 0, err
	}
	cells, places := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	for i := range cells {
		places[i] = &cells[i]
	}
	count := 0
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return count, err
		}
		count++
	}
	return count, rows.Err()
}

func once(ctx context.Context, db *sql.DB) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	return c.Close()
}

func work(db *sql.DB, query string, wanted int, connect bool, start <-chan struct{}, end time.Time, out *tally) {
	ctx := context.Background()
	var c *sql.Conn
	if !connect {
		var err error
		if c, err = db.Conn(ctx); err != nil {
			out.errors, out.first = 1, err.Error()
			<-start
			return
		}
		defer c.Close()
	}
	<-start
	for time.Now().Before(end) {
		begin := time.Now()
		var err error
		count := wanted
		if connect {
			err = once(ctx, db)
		} else {
			count, err = fetch(ctx, c, query)
		}
		if err == nil && count != wanted {
			err = fmt.Errorf("%d rows instead of %d", count, wanted)
		}
		if err != nil {
			out.errors++
			if out.first == "" {
				out.first = err.Error()
			}
			continue
		}
		out.rows += count
		out.took = append(out.took, float64(time.Since(begin).Microseconds())/1000)
	}
}

func main() {
	port := flag.Int("port", 0, "")
	password := flag.String("password", os.Getenv("WIRELOAD_PASSWORD"), "")
	connections := flag.Int("connections", 1, "")
	seconds := flag.Float64("seconds", 2, "")
	query := flag.String("query", "SELECT 1", "")
	rows := flag.Int("rows", 1, "rows that each answer must have")
	connect := flag.Bool("connect", false, "")
	encrypt := flag.String("encrypt", "true", "")
	flag.Parse()
	q := url.Values{"encrypt": {*encrypt}, "TrustServerCertificate": {"true"}, "database": {"master"}}
	u := url.URL{Scheme: "sqlserver", User: url.UserPassword("sa", *password), Host: fmt.Sprintf("127.0.0.1:%d", *port), RawQuery: q.Encode()}
	db, err := sql.Open("sqlserver", u.String())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if *connect {
		db.SetMaxIdleConns(-1)
	}
	tallies := make([]tally, *connections)
	start := make(chan struct{})
	var group sync.WaitGroup
	ready := time.Duration(float64(*connections)*0.01*float64(time.Second)) + 300*time.Millisecond
	begin := time.Now().Add(ready)
	end := begin.Add(time.Duration(*seconds * float64(time.Second)))
	for i := range tallies {
		group.Add(1)
		go func(out *tally) {
			defer group.Done()
			work(db, *query, *rows, *connect, start, end, out)
		}(&tallies[i])
	}
	time.Sleep(time.Until(begin))
	close(start)
	group.Wait()
	all, failed, total, first := []float64{}, 0, 0, ""
	for _, one := range tallies {
		all, failed, total = append(all, one.took...), failed+one.errors, total+one.rows
		if first == "" {
			first = one.first
		}
	}
	sort.Float64s(all)
	at := func(part float64) float64 {
		if len(all) == 0 {
			return 0
		}
		return all[min(int(part*float64(len(all))), len(all)-1)]
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"per_second": float64(len(all)) / *seconds, "rows_per_second": float64(total) / *seconds, "count": len(all), "errors": failed,
		"first_error": first, "p50_ms": at(0.5), "p99_ms": at(0.99), "max_ms": at(1),
	})
}
