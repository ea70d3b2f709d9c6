package erasure

import (
	"github.com/moderato-live/moderato/server/domain"
	"github.com/moderato-live/moderato/server/jobs"
)

// Tables describes the table of erasures. The id in it is what is being erased. The eraser
// removes the row last.
var Tables = []domain.Table{{
	Name:   "erasures",
	Expire: func(env domain.Env) jobs.Job { return NewEraser(env.Store, env.Log, env.Tables).Job() },
}}
