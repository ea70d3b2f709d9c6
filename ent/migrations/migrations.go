// Package migrations holds the SQL that brings a database to this version, with one
// directory for the MySQL family and one for SQLite. A released file is never
// changed; CONTRIBUTING describes how to add one.
//
// The initial migration creates all tables. It has the number 200: a database with a lower
// version is from before the first release, and is refused.
//
// MySQL implicitly commits each statement that changes a table. The initial migration can
// therefore be repeated, and every other MySQL file has one statement: an interrupted
// migration resumes where it stopped.
package migrations

import "embed"

// FS holds the directories mysql and sqlite.
//
//go:embed mysql/*.sql sqlite/*.sql
var FS embed.FS
