package tracing

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// maxText is the maximum length in bytes of the text of a statement in a span. Longer ones
// consist of placeholders.
const maxText = 2 << 10

// Database starts the spans of transactions and statements. Without a Tracer it starts
// none.
type Database struct {
	Tracer *Tracer
	// System is the name of the database's kind.
	System string
}

// Transaction starts the span of an attempt to run a transaction.
func (d Database) Transaction(ctx context.Context) (context.Context, Span) {
	ctx, span := d.Tracer.Start(ctx, Internal, "transaction")
	if span.IsRecording() {
		span.Set(attribute.String("db.system.name", d.System))
	}
	return ctx, span
}

// Named starts the span of a statement that has a name.
func (d Database) Named(ctx context.Context, name string) (context.Context, Span) {
	ctx, span := d.Tracer.Start(ctx, Client, name)
	if span.IsRecording() {
		span.Set(attribute.String("db.system.name", d.System), attribute.String("db.query.summary", name))
	}
	return ctx, span
}

// Statement starts the span of a statement. The text has placeholders for its parameters.
func (d Database) Statement(ctx context.Context, text string) (context.Context, Span) {
	if d.Tracer == nil {
		return ctx, Span{}
	}
	ctx, span := d.Tracer.Start(ctx, Client, "statement")
	if span.IsRecording() {
		name := summary(text)
		span.span.SetName(name)
		span.Set(
			attribute.String("db.system.name", d.System),
			attribute.String("db.query.summary", name),
			attribute.String("db.query.text", text[:min(len(text), maxText)]),
		)
	}
	return ctx, span
}

// summary returns the operation of a statement and its first table, such as INSERT events.
func summary(text string) string {
	words := strings.Fields(text[:min(len(text), maxText)])
	if len(words) == 0 {
		return "statement"
	}
	operation := strings.ToUpper(words[0])
	before := map[string]string{"SELECT": "FROM", "DELETE": "FROM", "INSERT": "INTO", "REPLACE": "INTO", "UPDATE": "UPDATE", "WITH": "FROM"}[operation]
	for i := range len(words) - 1 {
		if before != "" && strings.EqualFold(words[i], before) {
			if table := tableOf(words[i+1]); table != "" {
				return operation + " " + table
			}
		}
	}
	return operation
}

// tableOf returns the name of a table without its quotes; empty if a word is no such name.
func tableOf(word string) string {
	name := strings.Trim(word, "`\"(),;")
	if name == "" || strings.ContainsAny(word[:1], "(") {
		return ""
	}
	name, _, _ = strings.Cut(name, "(")
	return strings.Trim(name, "`\"")
}

// Rows ends the span of a statement when its rows are closed.
func (s Span) Rows(rows driver.Rows, err error) (driver.Rows, error) {
	if err != nil || !s.IsRecording() {
		s.EndWith(err)
		return rows, err
	}
	return &tracedRows{rows, s}, nil
}

// tracedRows are the rows of a traced statement.
type tracedRows struct {
	driver.Rows

	span Span
}

// Next reads a row.
func (r *tracedRows) Next(to []driver.Value) error {
	err := r.Rows.Next(to)
	if err != nil && !errors.Is(err, io.EOF) {
		r.span.Fail("error")
	}
	return err //nolint:wrapcheck // database/sql compares it with io.EOF
}

// Close closes the rows.
func (r *tracedRows) Close() error {
	defer r.span.End()
	return r.Rows.Close() //nolint:wrapcheck // it is the driver's
}
