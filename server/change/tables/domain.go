// Package tables describes the parts of Moderato that own tables: which records are
// imported into a table, what remains of a deleted user or channel in it, what an export of a
// user has of it, which rules its rows follow, and what expires. The import, the eraser, the
// export and fsck work through these descriptions.
package tables

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// Table describes a table of the database.
type Table struct {
	// Name is the name of the table.
	Name string
	// Channel is the column with the channel to which a row belongs. The rows of a
	// deleted channel are removed. Empty if rows belong to no channel.
	Channel string
	// Users lists the columns with a user's id or name, and what erasure does with them.
	Users []UserColumn
	// Impersonal lists the other columns with ids or text. They say nothing about a
	// user.
	Impersonal []string
	// Erase holds the further steps of an erasure, for what a column cannot express.
	Erase Erasure
	// Export says what an export of a user has of the table, beyond the rows whose Users
	// have the user's id and, in a table without Users, those of the user's channel.
	Export Export
	// Imports are the kinds of record that are stored in the table.
	Imports []Import
	// References lists the columns that must name an existing row of another table.
	References []Reference
	// Checks are the further rules that fsck checks.
	Checks []Check
	// Expire returns the job that ends or removes the rows whose time has come; nil if
	// there is none.
	Expire func(Env) jobs.Job
	// Remove returns the job that removes the rows that have ended some time ago, of a table
	// whose Expire ends them; nil if there is none.
	Remove func(Env) jobs.Job
}

// Env is what the jobs of a server work with.
type Env struct {
	// Store is the database.
	Store *store.Store
	// Log receives what a job reports.
	Log *slog.Logger
	// Retention is how long events are kept.
	Retention eventtype.Retention
	// MessageRetention is how long messages are kept; 0 is forever.
	MessageRetention time.Duration
	// Webhooks disables the webhooks whose user lost the right to them. It is the part of
	// the server that sends to webhooks, because it counts and logs those that it
	// disables.
	Webhooks Sweeper
	// IsElsewhere reports whether another server does what one server is to do.
	IsElsewhere func() bool
	// Tables are all tables of the database.
	Tables []Table
}

// Sweeper checks rows in rounds.
type Sweeper interface {
	// Sweep checks the next batch of rows.
	Sweep(ctx context.Context) error
}

// Erasure holds steps of erasures, by what is deleted.
type Erasure struct {
	// Channel are the steps of the erasure of a channel.
	Channel []Step
	// User are the steps of the erasure of a user. They follow those of the user's
	// channel.
	User []Step
}

// Export says what an export of a user has of a table.
type Export struct {
	// Where is the condition for rows about the user that no column with an id finds.
	Where string
	// Args returns the arguments of Where.
	Args func(*ent.User) []any
	// Secrets are the columns of text that no export has. It never has digests and other
	// bytes.
	Secrets []string
	// OnlyOf names columns about one of several persons, with the column that has the
	// person's id. They are left out of the export of the others.
	OnlyOf map[string]string
}

// ByID returns the arguments of a condition on the user's id.
func ByID(u *ent.User) []any { return []any{u.ID} }

// Step erases one kind of row.
type Step struct {
	// Name describes the step in errors.
	Name string
	// Do handles at most EraseBatch rows in a transaction and returns their number. Fewer
	// than EraseBatch means that no rows are left.
	Do StepFunc
	// Search, if not nil, replaces Do for rows that no index finds. It reads the table in pages,
	// outside a transaction. For each page it yields the function that handles the rows found
	// in it, even if it found none: the transaction extends the claim.
	Search func(ctx context.Context, s *store.Store, id uid.ID) iter.Seq2[StepFunc, error]
}

// StepFunc handles rows of an erasure in a transaction and returns their number.
type StepFunc func(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error)

// LastErasure is how long after the request the eraser runs for the last time. A call that saw
// the user or channel before the deletion may store a row shortly after it. LastErasure is
// longer than a call may take.
const LastErasure = 2 * time.Minute

// EraseBatch is how many rows one transaction of an erasure handles at most.
const EraseBatch = 500

// UserColumn is a column with a user's id or name.
type UserColumn struct {
	// Name is the name of the column.
	Name string
	// Erase says what an erasure of the user does with the column.
	Erase ColumnErasure
}

// ColumnErasure says what an erasure does with a column.
type ColumnErasure int

// What an erasure does with a column that has the user's id or name.
const (
	// RemoveRow removes the row. The column must have the user's id.
	RemoveRow ColumnErasure = iota + 1
	// ReplaceID replaces the id with users.Deleted and keeps the row.
	ReplaceID
	// WithRow leaves the column to the erasure of another column of the same row, to
	// the table's own steps, or to the transaction that deletes the user.
	WithRow
)

// Reference is a column that must name an existing row.
type Reference struct {
	// Column is the name of the column.
	Column string
	// Table is the name of the table whose id the column holds.
	Table string
}

// Check is a rule, given as a statement that returns an id and a text for each
// violation. One statement sees the state of one instant, so a check may run while
// servers run.
type Check struct {
	// Name states the rule.
	Name string
	// Query is the statement.
	Query string
	// QueryOn, if not nil, returns the statement for a database instead of Query.
	QueryOn func(*store.Dialect) string
	// Args returns the arguments of the statement; nil for none.
	Args func(CheckTime) []any
	// Fix repairs the violation whose id the statement returned, in one transaction, and
	// says what it changed; it returns an empty text if the rule is not violated any more.
	// Fix is nil if what is right does not follow from other rows.
	Fix func(ctx context.Context, s *store.Store, id string) (did string, err error)
}

// Import stores the records of one kind.
type Import struct {
	// Field is the field of moderato.platform.v1.Record that holds the record.
	Field protoreflect.FieldDescriptor
	// Put stores a record.
	Put func(ctx context.Context, tx feed.Tx, rec *platformv1.Record) error
	// Channel returns the channel whose row a record may change; empty if there is none.
	Channel func(rec *platformv1.Record) string
}

// ImportOf returns the Import of the records that get returns. channel is nil if the
// records change no channel's row.
func ImportOf[R proto.Message](get func(*platformv1.Record) R, put func(context.Context, feed.Tx, R) error, channel func(R) string) Import {
	var zero R
	i := Import{
		Field:   fieldOf(zero.ProtoReflect().Descriptor()),
		Put:     func(ctx context.Context, tx feed.Tx, rec *platformv1.Record) error { return put(ctx, tx, get(rec)) },
		Channel: func(*platformv1.Record) string { return "" },
	}
	if channel != nil {
		i.Channel = func(rec *platformv1.Record) string { return channel(get(rec)) }
	}
	return i
}

// fieldOf returns the field of a Record that holds a kind of message.
func fieldOf(message protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	fields := Kinds()
	for i := range fields.Len() {
		if field := fields.Get(i); field.Message() == message {
			return field
		}
	}
	panic("moderato.platform.v1.Record has no " + message.FullName())
}

// Kinds returns the fields of the kinds of record, in the order of the contract.
func Kinds() protoreflect.FieldDescriptors {
	return (*platformv1.Record)(nil).ProtoReflect().Descriptor().Oneofs().ByName("kind").Fields()
}

// IgnoreRow returns an import function for a function that also returns the stored row.
func IgnoreRow[R proto.Message, Row any](put func(context.Context, feed.Tx, R) (Row, error)) func(context.Context, feed.Tx, R) error {
	return func(ctx context.Context, tx feed.Tx, rec R) error {
		_, err := put(ctx, tx, rec)
		return err
	}
}

// Exec runs a statement and returns the number of rows that it affected.
func Exec(ctx context.Context, tx *ent.Tx, statement string, args ...any) (int, error) {
	result, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}
