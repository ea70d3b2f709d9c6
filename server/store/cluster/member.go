package cluster

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// kind is how a database server replicates.
type kind int

const (
	// replication is the asynchronous or semi-synchronous replication of MySQL and
	// MariaDB, in which an operator or a tool promotes a replica.
	replication kind = iota
	// group is MySQL group replication.
	group
	galera
)

// report is what a member says about itself.
type report struct {
	kind        kind
	version     string
	consistency string // group_replication_consistency of new sessions
	problem     string // why the member cannot be the primary; empty if it can

	id          string   // of the member in its replication group
	unreachable []string // the ids of the members that the majority of the group does not reach
}

const (
	variables = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'read_only', 'super_read_only'," +
		" 'group_replication_group_name', 'group_replication_consistency', 'wsrep_on')"
	groupMembers = "SELECT MEMBER_STATE, MEMBER_ROLE, MEMBER_ID = @@GLOBAL.server_uuid, MEMBER_ID FROM performance_schema.replication_group_members"
	galeraStatus = "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_cluster_status', 'wsrep_local_state_comment')"
)

// inspect asks a member whether it is the writable primary.
func inspect(ctx context.Context, conn driver.Conn) (report, error) {
	values, err := pairs(ctx, conn, variables)
	if err != nil {
		return report{}, err
	}
	r := report{version: values["version"], consistency: values["group_replication_consistency"]}
	switch {
	case values["group_replication_group_name"] != "":
		r.kind = group
		err = r.inspectGroup(ctx, conn)
	case values["wsrep_on"] == "ON":
		r.kind = galera
		r.problem, err = galeraProblem(ctx, conn)
	}
	if err != nil {
		return report{}, err
	}
	// MariaDB has further values of read_only, such as NO_LOCK.
	if r.problem == "" && (!isOff(values["read_only"]) || !isOff(values["super_read_only"])) {
		r.problem = "is read-only"
	}
	return r, nil
}

func isOff(value string) bool { return value == "" || value == "OFF" }

// inspectGroup reports why a member of a replication group is not its primary. Only a
// member that reaches the majority of its group is: a partitioned primary believes to be
// one until its group expels it.
func (r *report) inspectGroup(ctx context.Context, conn driver.Conn) error {
	rows, err := query(ctx, conn, groupMembers)
	var refused *mysql.MySQLError
	if errors.As(err, &refused) && refused.Number == 1142 {
		r.problem = "needs GRANT SELECT ON performance_schema.replication_group_members for this account"
		return nil
	}
	if err != nil {
		return err
	}
	state, role := "OFFLINE", ""
	for _, row := range rows {
		if row[0] == "UNREACHABLE" {
			r.unreachable = append(r.unreachable, row[3])
		}
		if row[2] == "1" {
			state, role, r.id = row[0], row[1], row[3]
		}
	}
	hasMajority := 2*len(r.unreachable) < len(rows)
	if !hasMajority {
		r.unreachable = nil // the others may well reach each other
	}
	switch {
	case state != "ONLINE":
		r.problem = "has the state " + state + " in its group"
	case !hasMajority:
		r.problem = "does not reach the majority of its group"
	case role != "PRIMARY":
		r.problem = "is a secondary of its group"
	}
	return nil
}

// galeraProblem returns why a node of a Galera cluster cannot be written to.
func galeraProblem(ctx context.Context, conn driver.Conn) (string, error) {
	status, err := pairs(ctx, conn, galeraStatus)
	switch {
	case err != nil:
		return "", err
	case status["wsrep_cluster_status"] != "Primary":
		return "is not in the primary component of its Galera cluster", nil
	case status["wsrep_ready"] != "ON" || status["wsrep_local_state_comment"] != "Synced":
		return "has the state " + status["wsrep_local_state_comment"] + " in its Galera cluster", nil
	}
	return "", nil
}

// settings returns the statements that a session on a member begins with. A new primary
// may still have to apply transactions that the former one acknowledged. A session that
// does not wait for them would read, and change, outdated rows; and it would not find a
// change whose COMMIT had an unknown outcome.
func (r report) settings() []string {
	switch {
	case r.kind == group && r.consistency == "EVENTUAL": // all other levels include this wait
		return []string{"SET SESSION group_replication_consistency = 'BEFORE_ON_PRIMARY_FAILOVER'"}
	case r.kind == galera:
		return []string{"SET SESSION wsrep_sync_wait = 7"} // before reads, updates, deletes and inserts
	}
	return nil
}

// pairs runs a statement whose rows are names and values.
func pairs(ctx context.Context, conn driver.Conn, text string) (map[string]string, error) {
	rows, err := query(ctx, conn, text)
	values := map[string]string{}
	for _, row := range rows {
		values[strings.ToLower(row[0])] = row[1]
	}
	return values, err
}

// query runs a statement and returns its rows as text.
func query(ctx context.Context, conn driver.Conn, text string) ([][]string, error) {
	rows, err := conn.(driver.QueryerContext).QueryContext(ctx, text, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all [][]string
	for {
		values := make([]driver.Value, len(rows.Columns()))
		if err := rows.Next(values); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		row := make([]string, len(values))
		for i, v := range values {
			if b, ok := v.([]byte); ok {
				row[i] = string(b)
			} else {
				row[i] = fmt.Sprint(v)
			}
		}
		all = append(all, row)
	}
}
