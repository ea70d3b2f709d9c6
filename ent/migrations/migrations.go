// Package migrations holds the SQL that brings a database to this version, one
// directory for the MySQL family and one for SQLite. A file is never changed
// once it is released; CONTRIBUTING tells how to add one.
//
// MySQL commits each statement that changes a table by itself, so there a file
// is one statement: whatever is interrupted goes on where it stopped.
package migrations

import "embed"

// FS has the directories mysql and sqlite.
//
//go:embed mysql/*.sql sqlite/*.sql
var FS embed.FS
