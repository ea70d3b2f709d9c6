package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// imports is the data set into which follows are imported.
var imports = dataset{name: "imports", users: 10_000_000, channels: 50, categories: 1}

const importedFollows = 10_000_000

// importFollows imports 10 million follows into MariaDB with the program, and
// compares the rate of the last million with that of the first.
func (b *bench) importFollows(ctx context.Context, store string) error {
	if !b.large || store != "mariadb" || !b.wants("import", store, "") {
		return nil
	}
	url, err := b.database(ctx, store, &imports)
	if err != nil {
		return err
	}
	db, err := b.open(store, imports.name)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for _, statement := range []string{"TRUNCATE follows", "UPDATE channels SET follower_count = 0"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	b.say("mariadb: importing %s follows …", thousands(importedFollows))
	c := exec.CommandContext(ctx, filepath.Join(b.dir, "moderato"), "import", "--db", url, "-")
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return err
	}
	importer := &server{name: "import", process: c}
	marks, peak, written := b.writeFollows(in, importer)
	if err := c.Wait(); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	marks = append(marks, time.Now())
	if written != nil {
		return written
	}
	first, last := marks[1].Sub(marks[0]), marks[len(marks)-1].Sub(marks[len(marks)-2])
	const million = 1_000_000
	r := row{
		What: thousands(importedFollows) + " follows imported: rate of the last million against the first", Store: store,
		Value: float64(first) / float64(last), Unit: "× the rate", Target: 0.7,
		Note: fmt.Sprintf("%.0f lines a second in the first, %.0f in the last; at most %.0f MiB", million/first.Seconds(), million/last.Seconds(), peak),
	}
	return b.report(r, nil)
}

// writeFollows writes the lines in an order in which neighbours are unrelated. It
// returns the time at which each million began, and the peak memory of the importer
// in MiB.
func (b *bench) writeFollows(in io.WriteCloser, importer *server) (marks []time.Time, peak float64, err error) {
	const million = 1_000_000
	defer func() { _ = in.Close() }()
	w := bufio.NewWriter(in)
	for n := range importedFollows {
		if n%million == 0 {
			marks = append(marks, time.Now())
			b.say("mariadb: %s follows", thousands(n))
		}
		if n%(million/100) == 0 {
			if now, err := importer.memory(); err == nil {
				peak = max(peak, now)
			}
		}
		const step = 7_368_787 // coprime to the number of users
		user := imports.channels + n*step%(imports.users-imports.channels)
		_, err = fmt.Fprintf(w, `{"follow":{"channelId":%q,"userId":%q,"followedAt":%q}}`+"\n",
			id(n%imports.channels), id(user), time.UnixMilli(firstInstant+int64(n)).UTC().Format(time.RFC3339Nano))
		if err != nil {
			return marks, peak, err
		}
	}
	return marks, peak, w.Flush()
}
