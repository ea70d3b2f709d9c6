// Package fsck checks a whole database against the rules that every transaction
// maintains, from outside those transactions.
package fsck

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/server/domain"
	"github.com/moderato-live/moderato/server/domains"
	"github.com/moderato-live/moderato/server/eventtype"
	"github.com/moderato-live/moderato/server/store"
)

// maxFindings is the maximum number of findings that one check reports.
const maxFindings = 100

// Finding is a violation of a rule.
type Finding struct {
	// Check is the violated rule.
	Check string
	// What describes the violation.
	What string
}

// String returns the finding in one line.
func (f Finding) String() string { return f.Check + ": " + f.What }

// Run runs every check. It calls progress with the name of each check before the check,
// and found with each finding.
func Run(ctx context.Context, s *store.Store, keep eventtype.Retention, progress func(check string), found func(Finding)) error {
	now, err := s.Clock.Now(ctx, s.Read)
	if err != nil {
		return err
	}
	at := domain.CheckTime{Now: now, Retention: keep}
	for _, c := range checks() {
		progress(c.Name)
		if err := run(ctx, s, c, at, found); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

func run(ctx context.Context, s *store.Store, c domain.Check, at domain.CheckTime, found func(Finding)) error {
	var args []any
	if c.Args != nil {
		args = c.Args(at)
	}
	n := 0
	return store.QueryEach(ctx, s.Read, c.Query+fmt.Sprintf(" LIMIT %d", maxFindings), args, func(scan func(...any) error) error {
		var id, what string
		err := scan(&id, &what)
		if n++; n == maxFindings {
			what += " (there may be more)"
		}
		found(Finding{Check: c.Name, What: id + " " + what})
		return err
	})
}

// checks returns the checks of all tables, and then the checks of their references.
func checks() []domain.Check {
	var rules, references []domain.Check
	for _, table := range domains.Tables() {
		rules = append(rules, table.Checks...)
		for _, r := range table.References {
			references = append(references, checkReference(table.Name, r))
		}
	}
	return append(rules, references...)
}

// checkReference returns the check that the row named by a reference exists. References to
// rows that are being erased are skipped.
func checkReference(table string, r domain.Reference) domain.Check {
	return domain.Check{
		Name: fmt.Sprintf("%s.%s names one of %s", table, r.Column, r.Table),
		Query: fmt.Sprintf(`SELECT %s, 'is named by %s.%s and is not there' FROM %s r
			WHERE NOT EXISTS (SELECT 1 FROM %s x WHERE x.id = r.%s) AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.id = r.%[6]s)`,
			domain.Hex("r."+r.Column), table, r.Column, table, r.Table, r.Column),
	}
}
