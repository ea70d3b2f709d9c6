// Package migrations holds the SQL that brings a database to this version, with one
// directory for the MySQL family and one for SQLite. A released file is never
// changed; CONTRIBUTING describes how to add one.
//
// MySQL implicitly commits each statement that changes a table, so a MySQL file has
// one statement: an interrupted migration resumes where it stopped.
package migrations

import "embed"

// FS holds the directories mysql and sqlite.
//
//go:embed mysql/*.sql sqlite/*.sql
var FS embed.FS
