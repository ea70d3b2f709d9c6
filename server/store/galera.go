package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/moderato-live/moderato/server/store/prepared"
)

// unpreparedOnGalera is a connector whose connections to a node of a Galera cluster prepare
// no statements. A node rolls a transaction back if it conflicts with one of another node,
// and reports that to the next command. If this is PREPARE, some errors are lost (MariaDB
// 10.11): the statements that follow are then committed one by one.
type unpreparedOnGalera struct{ driver.Connector }

// Connect opens a connection.
func (c unpreparedOnGalera) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	isGalera, err := isGalera(ctx, conn)
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("ask for wsrep_on: %w", err)
	}
	if isGalera {
		prepared.RunUnprepared(ctx)
	}
	return conn, nil
}

// isGalera reports whether a connection leads to a node of a Galera cluster.
func isGalera(ctx context.Context, conn driver.Conn) (bool, error) {
	rows, err := conn.(driver.QueryerContext).QueryContext(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name = 'wsrep_on' AND Value = 'ON'", nil)
	if err != nil {
		return false, err
	}
	err = rows.Next(make([]driver.Value, len(rows.Columns())))
	isGalera := err == nil
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return isGalera, errors.Join(err, rows.Close())
}
