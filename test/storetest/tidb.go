package storetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/testdb"
)

// The tests that do not run on TiDB, as package and name. All others must pass there.
var (
	// testsOfMySQL are of what only MySQL and MariaDB have.
	testsOfMySQL = map[string]string{
		"cli.TestDumpUnderLoad": "mariadb-dump rolls back to a savepoint that TiDB has ended: TiDB has its own tools",
	}
	// faultsOfEmbeddedStore are tests that fail because of the embedded store of the tidb-server.
	// A read by a secondary index, concurrent with writes, finds the entry of an index and not its
	// row (error 8133), or no entry. On a cluster, these tests run and must pass.
	faultsOfEmbeddedStore = map[string]string{
		"histories.TestHistoriesAreLinearizable":           indexFault,
		"histories.TestHistoriesWithKillsAreLinearizable":  indexFault,
		"moderation.TestChangesOfManyUsersRunConcurrently": indexFault,
		"moderation.TestNoMessageSurvivesConcurrentBan":    indexFault,
		"watch.TestChatReachesListenersOfOtherServers":     indexFault,
		"watch.TestNoMessageFollowsItsDeletion":            indexFault,
	}
)

const indexFault = "reads by an index fail while others write, on the embedded store"

// NeedTriggers skips a test on TiDB, which has no triggers.
func NeedTriggers(t testing.TB, s *store.Store) {
	t.Helper()
	if IsTiDB(t, s) {
		t.Skip("TiDB has no triggers")
	}
}

// skipOnTiDB skips a test that does not run on a server.
func (s *server) skipOnTiDB(t testing.TB) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	name = strings.TrimSuffix(filepath.Base(os.Args[0]), ".test") + "." + name
	reason := ""
	switch s.name {
	case testdb.EmbeddedTiDB:
		reason = testsOfMySQL[name] + faultsOfEmbeddedStore[name]
	case testdb.TiDB:
		reason = testsOfMySQL[name]
	}
	if reason != "" {
		t.Skip(reason)
	}
}
