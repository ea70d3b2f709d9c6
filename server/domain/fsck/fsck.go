// Package fsck checks a whole database against the rules that every transaction
// maintains, from outside those transactions.
package fsck

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/domain/domains"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
)

// maxFindings is the maximum number of findings that one check reports.
const maxFindings = 100

// maxFixes is the maximum number of findings that are in memory to be repaired.
const maxFixes = 10_000

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
	return eachCheck(ctx, s, keep, progress, func(c tables.Check, at tables.CheckTime) error {
		_, err := find(ctx, s, c, at, maxFindings, func(_ string, f Finding) { found(f) })
		return err
	})
}

// Fix is Run, and repairs the findings whose data follow from other rows: it calls fixed
// with each of these and what it did, and found with the others. Each repair is one
// transaction. Servers may run at the same time, but no other call of Fix.
func Fix(ctx context.Context, s *store.Store, keep eventtype.Retention, progress func(check string), found func(Finding), fixed func(f Finding, did string)) error {
	return eachCheck(ctx, s, keep, progress, func(c tables.Check, at tables.CheckTime) error {
		if c.Fix == nil {
			_, err := find(ctx, s, c, at, maxFindings, func(_ string, f Finding) { found(f) })
			return err
		}
		for {
			isLast, err := fixSome(ctx, s, c, at, fixed)
			if err != nil || isLast {
				return err
			}
		}
	})
}

func eachCheck(ctx context.Context, s *store.Store, keep eventtype.Retention, progress func(check string), run func(tables.Check, tables.CheckTime) error) error {
	now, err := s.Clock.Now(ctx, s.Read)
	if err != nil {
		return err
	}
	at := tables.CheckTime{Now: now, Retention: keep}
	for _, c := range checks() {
		progress(c.Name)
		if err := run(c, at); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

// fixSome repairs some findings of a check, and reports whether there were no more.
func fixSome(ctx context.Context, s *store.Store, c tables.Check, at tables.CheckTime, fixed func(Finding, string)) (isLast bool, err error) {
	type violation struct {
		id string
		Finding
	}
	var violations []violation
	n, err := find(ctx, s, c, at, maxFixes, func(id string, f Finding) { violations = append(violations, violation{id, f}) })
	if err != nil {
		return false, err
	}
	for _, v := range violations {
		did, err := c.Fix(ctx, s, v.id)
		if err != nil {
			return false, fmt.Errorf("fix %s: %w", v.What, err)
		}
		if did != "" {
			fixed(v.Finding, did)
		}
	}
	return n < maxFixes, nil
}

// find runs a check, and calls found with the id and the finding of up to limit violations.
// It returns their number.
func find(ctx context.Context, s *store.Store, c tables.Check, at tables.CheckTime, limit int, found func(id string, f Finding)) (n int, err error) {
	var args []any
	if c.Args != nil {
		args = c.Args(at)
	}
	query := c.Query
	if c.QueryOn != nil {
		query = c.QueryOn(s.Dialect)
	}
	err = store.QueryEach(ctx, s.Read, query+fmt.Sprintf(" LIMIT %d", limit), args, func(scan func(...any) error) error {
		var id, what string
		err := scan(&id, &what)
		if n++; n == maxFindings && limit == maxFindings {
			what += " (there may be more)"
		}
		found(id, Finding{Check: c.Name, What: id + " " + what})
		return err
	})
	return n, err
}

// checks returns the checks of all tables, and then the checks of their references.
func checks() []tables.Check {
	var rules, references []tables.Check
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
func checkReference(table string, r tables.Reference) tables.Check {
	return tables.Check{
		Name: fmt.Sprintf("%s.%s names one of %s", table, r.Column, r.Table),
		Query: fmt.Sprintf(`SELECT %s, 'is named by %s.%s and is not there' FROM %s r
			WHERE NOT EXISTS (SELECT 1 FROM %s x WHERE x.id = r.%s) AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.id = r.%[6]s)`,
			tables.Hex("r."+r.Column), table, r.Column, table, r.Table, r.Column),
	}
}
