package erasure

import (
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// Tables describes the table of erasures. The id in it is what is being erased. The eraser
// removes the row last.
var Tables = []tables.Table{{
	Name:   "erasures",
	Expire: func(env tables.Env) jobs.Job { return NewEraser(env.Store, env.Log, env.Tables).Job() },
}}
