package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// schema has a table of channels, two whose rows belong to a channel, and a global one.
const schema = `-- +goose Up
CREATE TABLE channels (id binary(16) NOT NULL, title varchar(20), PRIMARY KEY (id));
CREATE TABLE bans (channel_id binary(16) NOT NULL, user_id binary(16) NOT NULL, PRIMARY KEY (channel_id, user_id));
CREATE TABLE events (id binary(16) NOT NULL, channel_id binary(16) NOT NULL, PRIMARY KEY (id));
CREATE TABLE users (id binary(16) NOT NULL, PRIMARY KEY (id));
-- +goose Down
DROP TABLE users;
`

func newTestChecker(t *testing.T) (c *checker, migrations string) {
	t.Helper()
	migrations = t.TempDir()
	if err := os.WriteFile(filepath.Join(migrations, "00001_create.sql"), []byte(schema), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := newChecker(migrations)
	if err != nil {
		t.Fatal(err)
	}
	return c, migrations
}

func TestStatementsThatConcernOneChannel(t *testing.T) {
	c, _ := newTestChecker(t)
	for _, s := range []statement{
		{Text: "SELECT 1 FROM bans WHERE user_id = ? AND (channel_id = ?)", Args: []int{1, 2}},
		{Text: "SELECT 1 FROM bans WHERE (user_id, channel_id) = (?, ?)", Args: []int{1, 2}},
		{Text: "SELECT 1 FROM bans WHERE (channel_id, user_id) IN ((?, ?), (?, ?))", Args: []int{1, 2, 1, 3}},
		{Text: "SELECT 1 FROM bans WHERE channel_id = ? AND user_id > ? OR channel_id = ? AND user_id < ?", Args: []int{1, 2, 1, 3}},
		{Text: "SELECT 1 FROM channels c JOIN bans b ON b.channel_id = c.id WHERE c.id = ?", Args: []int{1}},
		{Text: "SELECT 1 FROM channels c, bans b WHERE c.id = ? AND b.channel_id = c.id", Args: []int{1}},
		{Text: "SELECT 1 FROM users u LEFT JOIN bans b ON b.channel_id = ? AND b.user_id = u.id", Args: []int{1}},
		{Text: "SELECT 1 FROM channels c LEFT JOIN bans b ON b.channel_id = c.id WHERE c.id = ?", Args: []int{1}},
		{Text: "SELECT 1 FROM channels c WHERE c.id = ? AND EXISTS (SELECT 1 FROM bans WHERE channel_id = c.id)", Args: []int{1}},
		{Text: "SELECT (SELECT COUNT(*) FROM bans WHERE channel_id = c.id) FROM channels c WHERE c.id = ?", Args: []int{1}},
		{Text: "SELECT 1 FROM (SELECT channel_id AS c FROM bans WHERE channel_id = ?) k JOIN events e ON e.channel_id = k.c", Args: []int{1}},
		{Text: "SELECT 1 FROM bans WHERE channel_id = ? UNION ALL SELECT 1 FROM bans WHERE channel_id = ?", Args: []int{1, 2}},
		{Text: "INSERT INTO bans (user_id, channel_id) VALUES (?, ?), (?, ?)", Args: []int{1, 2, 3, 2}},
		{Text: "INSERT INTO events (id, channel_id) SELECT id, ? FROM users", Args: []int{1}},
		{Text: "UPDATE bans SET user_id = ? WHERE channel_id = ?", Args: []int{1, 2}},
		{Text: "DELETE FROM bans WHERE channel_id = ? AND user_id IN (?, ?)", Args: []int{1, 2, 3}},
	} {
		f, err := c.check(s)
		if err != nil || len(f.loose) > 0 || !f.isConfined {
			t.Errorf("%s: %+v, %v, want one channel", s.Text, f, err)
		}
	}
}

func TestStatementsThatConcernSeveralChannels(t *testing.T) {
	c, _ := newTestChecker(t)
	for want, s := range map[string]statement{
		"SELECT bans by user_id":                      {Text: "SELECT 1 FROM bans WHERE user_id = ?", Args: []int{1}},
		"SELECT bans by none":                         {Text: "SELECT 1 FROM bans WHERE channel_id = ? OR user_id = ?", Args: []int{1, 2}},
		"SELECT channels by none":                     {Text: "SELECT 1 FROM channels c LEFT JOIN bans b ON b.channel_id = c.id AND c.id = ?", Args: []int{1}},
		"SELECT channels by title":                    {Text: "SELECT 1 FROM channels c WHERE title = ? AND EXISTS (SELECT 1 FROM bans b WHERE b.channel_id = c.id AND b.channel_id = ?)", Args: []int{1, 2}},
		"SELECT several channels of bans, events":     {Text: "SELECT 1 FROM bans b JOIN events e ON e.id = b.user_id WHERE b.channel_id = ? AND e.channel_id = ?", Args: []int{1, 2}},
		"INSERT several channels of bans":             {Text: "INSERT INTO bans (channel_id, user_id) VALUES (?, ?), (?, ?)", Args: []int{1, 2, 3, 2}},
		"INSERT events by none":                       {Text: "INSERT INTO events (id, channel_id) SELECT id, id FROM users"},
		"UPDATE events by id":                         {Text: "UPDATE events SET channel_id = ? WHERE id = ?", Args: []int{1, 2}},
		"DELETE bans by channel_id+user_id":           {Text: "DELETE FROM bans WHERE channel_id IN (?, ?) AND user_id = ?", Args: []int{1, 2, 3}},
		"DELETE events by none":                       {Text: "DELETE FROM events WHERE channel_id <> ?", Args: []int{1}},
		"SELECT bans by user_id, SELECT events by id": {Text: "SELECT 1 FROM bans b JOIN users u ON u.id = b.user_id JOIN events e ON e.id = ?", Args: []int{1}},
	} {
		f, err := c.check(s)
		if got := strings.Join(f.loose, ", "); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", s.Text, got, err, want)
		}
	}
}

func TestStatementsOfGlobalTables(t *testing.T) {
	c, _ := newTestChecker(t)
	f, err := c.check(statement{Text: "SELECT 1 FROM users WHERE id = ?", Args: []int{1}})
	if err != nil || f.isConfined || len(f.loose) > 0 || len(f.global) != 1 {
		t.Errorf("got %+v, %v, want a global table alone", f, err)
	}
	c.global = map[string]string{"bans": "a reason"}
	if f, err = c.check(statement{Text: "SELECT 1 FROM bans"}); err != nil || len(f.loose) > 0 || len(f.global) != 1 {
		t.Errorf("got %+v, %v, want that the list decides what is global", f, err)
	}
}

// runOn checks recorded statements with a list of exceptions.
func runOn(t *testing.T, exceptions string, complete bool, statements ...statement) (string, error) {
	t.Helper()
	_, migrations := newTestChecker(t)
	dir := t.TempDir()
	var lines bytes.Buffer
	for _, s := range statements {
		if err := json.NewEncoder(&lines).Encode(s); err != nil {
			t.Fatal(err)
		}
	}
	lines.WriteString(`{"from":"server/killed","text":"SEL`)
	list := filepath.Join(dir, "exceptions.txt")
	for file, text := range map[string]string{list: exceptions, filepath.Join(dir, "a.test.1.jsonl"): lines.String()} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	err := run(&out, dir, migrations, list, complete)
	return out.String(), err
}

func TestOnlyListedStatementsMayConcernSeveralChannels(t *testing.T) {
	byUser := statement{From: "server/domain/erasure", Text: "DELETE FROM bans WHERE user_id = ?", Args: []int{1}}
	for _, c := range []struct {
		exceptions string
		statement  statement
		want       string // a part of the output if the check fails
	}{
		{"", byUser, "server/domain/erasure: DELETE bans by user_id\n    DELETE FROM bans"},
		{"server/domain/chat: DELETE bans by user_id\n  a reason\n", byUser, "server/domain/erasure: DELETE bans by user_id"},
		{"server/domain/erasure: SELECT bans by any\n  a reason\n", byUser, "server/domain/erasure: DELETE bans by user_id"},
		{"# a comment\n\nserver/domain/erasure: DELETE bans by user_id\n  a reason\n", byUser, ""},
		{"server/domain/erasure: DELETE bans by any\nserver/domain/chat: DELETE bans by any\n  a reason\n", byUser, ""},
		{"from server/domain/erasure\n  a reason\n", byUser, ""},
		{"", statement{Text: "SELECT 1 FROM users"}, "the table users belongs to no channel"},
		{"global users\n  a reason\n", statement{Text: "SELECT 1 FROM users"}, ""},
		{"", statement{Text: "SELECT 1 FROM bans WHERE FROM"}, "TiDB's parser refuses"},
	} {
		out, err := runOn(t, c.exceptions, false, c.statement)
		if (err != nil) != (c.want != "") || !strings.Contains(out, c.want) {
			t.Errorf("%q, exceptions %q: %v, %s\nwant %q", c.statement.Text, c.exceptions, err, out, c.want)
		}
	}
}

func TestExceptionsNeedAReason(t *testing.T) {
	if _, err := runOn(t, "global users\n", false); err == nil || !strings.Contains(err.Error(), "no reason") {
		t.Errorf("got %v, want an error", err)
	}
}

func TestACompleteRecordHasStatements(t *testing.T) {
	if _, err := runOn(t, "", true); err == nil {
		t.Error("an empty record was accepted")
	}
	out, err := runOn(t, "from server/domain/chat\n  a reason\n", true, statement{Text: "SELECT 1 FROM bans WHERE channel_id = 1"})
	if err != nil || !strings.Contains(out, "not needed: from server/domain/chat") || !strings.Contains(out, "1 concern one channel alone") {
		t.Errorf("got %v, %s", err, out)
	}
}

// TestMigrationsParse checks that TiDB's parser accepts the project's own migrations, and
// that the tables are those that the list of exceptions names.
func TestMigrationsParse(t *testing.T) {
	c, err := newChecker("../../ent/migrations/mysql")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("exceptions.txt")
	if err != nil {
		t.Fatal(err)
	}
	e, err := parseExceptions(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for table := range e.global {
		if len(c.columns[table]) == 0 {
			t.Errorf("the list names %s, which is no table", table)
		}
	}
	c.global = e.global
	for table := range c.columns {
		if c.shardKey(table) == "" && e.global[table] == "" {
			t.Errorf("%s has no channel and is not in the list", table)
		}
	}
}
