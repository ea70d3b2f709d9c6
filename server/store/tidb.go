package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// tidbDialect is MySQL's dialect, apart from the plans of statements.
type tidbDialect struct{ mysqlDialect }

// page selects the page in a subquery. TiDB may join with a hash table of all rows, whatever the
// order of a join and its hints say. Of a subquery it knows that its rows are few, so it looks up
// the rows to join by key.
func (tidbDialect) page(p Page) (from, end string) {
	return "(SELECT * FROM " + p.from() + p.end() + ") " + p.Table, " ORDER BY " + p.Order
}

// tidbSettings are the settings that TiDB must have, and the reasons.
var tidbSettings = []struct{ name, value, why string }{
	{"tidb_txn_mode", "pessimistic", "a transaction must wait for the locks of another"},
	{"tidb_enable_shared_lock_promotion", "ON", "without it, TiDB refuses shared locks"},
}

// checkTiDB returns ErrUnsupported unless TiDB has its settings.
func (s *Store) checkTiDB(ctx context.Context) error {
	for _, must := range tidbSettings {
		var name, value string
		err := QueryRow(ctx, s.Read, "SHOW GLOBAL VARIABLES LIKE '"+must.name+"'", nil, &name, &value)
		switch {
		case errors.Is(err, ErrNoRows):
			return fmt.Errorf("%w: this TiDB is too old: it has no setting %s", ErrUnsupported, must.name)
		case err != nil:
			return fmt.Errorf("read a setting of TiDB: %w", err)
		case !strings.EqualFold(value, must.value):
			return fmt.Errorf("%w: the setting %s of TiDB is %q, but %s; run: SET GLOBAL %s = '%s'",
				ErrUnsupported, must.name, value, must.why, must.name, must.value)
		}
	}
	return nil
}

// tidbRetryCause is retryCause for the errors that only TiDB returns.
func tidbRetryCause(e *mysql.MySQLError) string {
	switch e.Number {
	case 8002, 8022, 8028, 9007: // try again, COMMIT failed, the schema changed, write conflict
		return "deadlock"
	case 9001, 9002, 9003, 9004, 9005, 9006: // a part of the cluster does not answer, after TiDB's own retries
		return "server"
	case 1105: // the number of all errors without one
		if strings.Contains(e.Message, "pessimistic lock retry limit reached") {
			return "deadlock"
		}
	}
	return ""
}
