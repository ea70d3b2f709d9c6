//go:build tools

// Package tidb keeps TiDB's server in the requirements of this module, which is apart from the
// project's own: TiDB needs some 300 modules.
package tidb

import _ "github.com/pingcap/tidb/cmd/tidb-server"
