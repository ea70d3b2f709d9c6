package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/index"
)

// Pardon exempts a user from the afterglow of a sweep: the user was unbanned while it ran. It
// is removed with the sweep.
type Pardon struct{ ent.Schema }

// Fields of Pardon.
func (Pardon) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The row's id."),
		requiredDigest("sweep_id", "The sweep."),
		requiredUUID("channel_id", "The channel of the sweep."),
		requiredUUID("user_id", "The user."),
	}
}

// Indexes of Pardon: its key, and those of a channel or user who is erased.
func (Pardon) Indexes() []ent.Index {
	return []ent.Index{index.Fields("sweep_id", "user_id").Unique(), index.Fields("channel_id"), index.Fields("user_id")}
}

// Annotations of Pardon.
func (Pardon) Annotations() []schema.Annotation { return []schema.Annotation{table("pardons")} }
