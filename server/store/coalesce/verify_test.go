package coalesce_test

import (
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/store/coalesce"
)

func TestVerifyAcceptsSelectsOfColumns(t *testing.T) {
	for _, query := range []string{
		"SELECT 1",
		"\n\t\tSELECT\n id FROM channels",
		"select id from channels where id = ?",
		"SELECT COUNT(DISTINCT id), c.* FROM channels c STRAIGHT_JOIN users u ON u.id = c.id",
		"SELECT id FROM bans FORCE INDEX (ban_index) WHERE a = ? ORDER BY at DESC, id DESC LIMIT 21",
		"SELECT a, COUNT(*) FROM (SELECT DISTINCT a FROM t UNION ALL SELECT b FROM t ORDER BY 1) r GROUP BY a, b HAVING COUNT(*) > 1 ORDER BY a LIMIT 3",
		"SELECT 'it''s; -- no UNION', \"a /* b\" FROM t WHERE x IN (1, 2)",
		"SELECT a FROM t ORDER BY a + 1, COALESCE(b, 2) LIMIT 3 OFFSET 6",
	} {
		if err := coalesce.Verify(query); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestVerifyRejectsQueriesThatCoalescingWouldChange(t *testing.T) {
	for query, want := range map[string]string{
		"":                                          "begin with SELECT",
		"SELECT":                                    "begin with SELECT",
		"WITH x AS (SELECT 1) SELECT * FROM x":      "begin with SELECT",
		"UPDATE users SET name = ''":                "begin with SELECT",
		"SELECT DISTINCT id FROM follows":           "DISTINCT after SELECT",
		"SELECT SQL_NO_CACHE id FROM follows":       "SQL_NO_CACHE after SELECT",
		"SELECT * FROM follows":                     "* after SELECT",
		"SELECT 1 UNION ALL SELECT 2":               "UNION outside",
		"SELECT id FROM channels FOR UPDATE":        "FOR outside",
		"SELECT id FROM t LOCK IN SHARE MODE":       "LOCK outside",
		"SELECT 1; DELETE FROM users":               "; outside",
		"SELECT id FROM t ORDER BY id":              "ORDER BY without LIMIT",
		"SELECT id, a FROM t ORDER BY 1 LIMIT 2":    "ORDER BY a column's number",
		"SELECT id, a FROM t ORDER BY a, 2 LIMIT 2": "ORDER BY a column's number",
		"SELECT id, SUM(a) FROM t GROUP BY 1":       "GROUP BY a column's number",
		"SELECT id FROM t LIMIT ?":                  "LIMIT that is no number",
		"SELECT a FROM (SELECT a FROM t LIMIT ?) r": "LIMIT that is no number",
		"SELECT (1":                                 "open parenthesis",
		"SELECT 1) UNION (SELECT 2":                 "not open",
		"SELECT 'a FROM t":                          "without its end",
		"SELECT 1 -- one":                           "comment",
		"SELECT /* one */ 1":                        "comment",
		"SELECT 1 # one":                            "comment",
	} {
		if err := coalesce.Verify(query); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", query, err, want)
		}
	}
}
