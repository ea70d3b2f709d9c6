package erasure_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/domain/domains"
	"github.com/moderato-live/moderato/server/domain/erasure"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestEveryTableWithUsersIsExported fails for a table that describes columns about users,
// none of which an export could look for.
func TestEveryTableWithUsersIsExported(t *testing.T) {
	for _, table := range domains.Tables() {
		if len(table.Users) > 0 && !erasure.IsExported(table) {
			t.Errorf("no export has the rows of %s about a user: none of its user columns is an id, so it needs an Export.Where", table.Name)
		}
	}
}

// TestExportHasNoSecrets fails for a new column of text with a secret.
func TestExportHasNoSecrets(t *testing.T) {
	for _, table := range domains.Tables() {
		for _, name := range erasure.ExportedColumns(table) {
			if !erasure.IsExported(table) {
				continue
			}
			if strings.Contains(name, "secret") || strings.Contains(name, "token") {
				t.Errorf("an export has %s.%s: add it to Export.Secrets", table.Name, name)
			}
		}
	}
}

// TestExportHasEveryTraceOfUser compares an export with a search of the whole database.
func TestExportHasEveryTraceOfUser(t *testing.T) {
	eachScene(t, func(t *testing.T, s *scene) {
		s.live(walter)
		s.live(vera)
		s.settle()
		want := map[string]int{}
		for _, r := range servertest.Rows(t, s.Store) {
			if isAbout(r, vera) {
				want[r.Table]++
			}
		}
		got, lines := map[string]int{}, []string{}
		u := storetest.Must(s.Store.Read.User.Get(t.Context(), vera.id))
		err := erasure.Export(t.Context(), s.Store, domains.Tables(), u, func(line erasure.Line) error {
			got[line.Table]++
			if _, has := line.Row["evidence"]; has != (line.Row["target_id"] == vera.id.String()) {
				t.Errorf("evidence is of the person who is banned or muted: %v", line)
			}
			text, err := json.Marshal(line)
			lines = append(lines, string(text))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for table, n := range want {
			if got[table] < n {
				t.Errorf("the export has %d rows of %s, want %d", got[table], table, n)
			}
		}
		if len(want) < 18 {
			t.Errorf("rows of %d tables have a trace of the user, which tests little", len(want))
		}
		slices.Sort(lines)
		if n := len(lines); len(slices.Compact(lines)) < n {
			t.Error("the export has a row twice")
		}
		for _, line := range lines {
			if strings.Contains(line, walter.word) && !strings.HasPrefix(line, `{"table":"events"`) {
				t.Errorf("the export has a text of another user: %s", line)
			}
		}
		all := strings.Join(lines, "\n")
		for _, text := range []string{vera.displayName, vera.avatar, vera.address, vera.text(1)[:20]} {
			if !strings.Contains(all, text) {
				t.Errorf("the export does not have %q", text)
			}
		}
		if !regexp.MustCompile(`"sent_at":"20\d\d-`).MatchString(all) {
			t.Error("messages have no time for people")
		}
	})
}

// isAbout reports whether a row is about a person. What others left in the person's channel is
// not.
func isAbout(r servertest.Row, p person) bool {
	isOwnChannel := false
	var rest servertest.Row
	for i, value := range r.Values {
		switch name := r.Columns[i]; {
		case name == "channel_id":
			isOwnChannel = bytes.Equal(value, p.id[:])
		case bytes.Equal(value, p.id[:]):
			return true
		case r.Table == "events" || name == "response": // the persons of an event are in columns of their own
		default:
			rest.Columns, rest.Values = append(rest.Columns, name), append(rest.Values, value)
		}
	}
	return !isOwnChannel && p.traceIn(rest) != ""
}
