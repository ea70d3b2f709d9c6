package cluster

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/moderato-live/moderato/server/store/prepared"
)

const (
	probeInterval = time.Second
	// probeTimeout is how long a member may take to answer. A shorter time would take a
	// primary under load for dead.
	probeTimeout = 4 * time.Second
)

// member is a server of the cluster.
type member struct {
	host      string
	connector driver.Connector

	state // that the last probe found; Connector.mu guards it
}

// state is what a member says about itself.
type state struct {
	problem   error  // why the member cannot be written to; nil if it can
	isInGroup bool   // of MySQL group replication
	begin     string // the statement with which a session begins; empty if there is none
}

var errNotAsked = errors.New("was not asked yet")

// watch probes the member until ctx ends.
func (m *member) watch(ctx context.Context, learn func(*member, state)) {
	var conn prepared.Conn // of the last probe; nil if it failed
	defer func() {
		if conn != nil {
			_ = conn.Close()
		}
	}()
	for {
		var s state
		if conn, s = m.probe(ctx, conn); ctx.Err() != nil {
			return
		}
		learn(m, s)
		select {
		case <-ctx.Done():
			return
		case <-time.After(probeInterval):
		}
	}
}

// probe asks the member for its state, over the connection of the last probe or a new one.
// It returns the connection.
func (m *member) probe(ctx context.Context, conn prepared.Conn) (prepared.Conn, state) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if conn != nil {
		s, err := inspect(ctx, conn)
		if err == nil {
			return conn, s
		}
		_ = conn.Close() // the member may have restarted
	}
	conn, s, err := m.connect(ctx)
	if err != nil && ctx.Err() != nil {
		err = errors.New("does not answer")
	}
	if err != nil {
		return nil, state{problem: err}
	}
	return conn, s
}

// connect opens a connection, and asks for the state of the member.
func (m *member) connect(ctx context.Context) (prepared.Conn, state, error) {
	opened, err := m.connector.Connect(ctx)
	if err != nil {
		return nil, state{}, err
	}
	conn := opened.(prepared.Conn) //nolint:forcetypeassert // the driver is known
	s, err := inspect(ctx, conn)
	if err != nil {
		_ = conn.Close()
		return nil, state{}, err
	}
	return conn, s, nil
}

// inspect asks a member for its state. A secondary of a group is read-only, but a former
// member need not be, and a primary that its group does not reach is not yet. A new primary may
// still have to apply transactions that the former one acknowledged. A session must wait for
// them, or it would read and change outdated rows, and not find what had an unknown outcome.
func inspect(ctx context.Context, conn prepared.Conn) (s state, err error) {
	variables, err := query(ctx, conn, `SHOW GLOBAL VARIABLES WHERE Variable_name IN
		('read_only', 'group_replication_group_name', 'group_replication_consistency', 'wsrep_on')`)
	switch {
	case err != nil:
	case variables["read_only"] != "OFF": // MariaDB has further values, such as NO_LOCK
		s.problem = errors.New("is read-only")
	case variables["group_replication_group_name"] != "":
		s.isInGroup = true
		if variables["group_replication_consistency"] == "EVENTUAL" { // all other levels include the wait
			s.begin = "SET SESSION group_replication_consistency = 'BEFORE_ON_PRIMARY_FAILOVER'"
		}
		s.problem, err = groupProblem(ctx, conn)
	case variables["wsrep_on"] == "ON":
		s.begin = "SET SESSION wsrep_sync_wait = 7" // before reads, updates, deletes and inserts
		s.problem, err = galeraProblem(ctx, conn)
	}
	return s, err
}

// groupProblem returns why a member of a replication group cannot be written to.
func groupProblem(ctx context.Context, conn prepared.Conn) (problem, err error) {
	group, err := query(ctx, conn, `SELECT 'is online', CAST(SUM(MEMBER_ID = @@GLOBAL.server_uuid AND MEMBER_STATE = 'ONLINE')
		AND 2 * SUM(MEMBER_STATE = 'UNREACHABLE') < COUNT(*) AS CHAR) FROM performance_schema.replication_group_members`)
	if err == nil && group["is online"] != "1" {
		problem = errors.New("is not online in the majority of its group")
	}
	return problem, err
}

// galeraProblem returns why a node of a Galera cluster cannot be written to.
func galeraProblem(ctx context.Context, conn prepared.Conn) (problem, err error) {
	status, err := query(ctx, conn, "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_local_state_comment')")
	if state := status["wsrep_local_state_comment"]; err == nil && (state != "Synced" || status["wsrep_ready"] != "ON") {
		problem = fmt.Errorf("is not ready in its Galera cluster (%s)", state)
	}
	return problem, err
}

// query runs a statement whose rows are names and values.
func query(ctx context.Context, conn prepared.Conn, text string) (map[string]string, error) {
	rows, err := conn.QueryContext(ctx, text, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	values := map[string]string{}
	for {
		row := make([]driver.Value, 2)
		if err := rows.Next(row); errors.Is(err, io.EOF) {
			return values, nil
		} else if err != nil {
			return nil, err
		}
		values[fmt.Sprintf("%s", row[0])] = fmt.Sprintf("%s", row[1])
	}
}
