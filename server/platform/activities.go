package platform

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/jsonapi"
)

const maxActivityKey = 64

// describe is info and action of an activity as they are stored: info names the
// user, with what the record leaves out filled in.
func describe(user *ent.User, r *platformv1.ActivityRecord) (info, action string) {
	full, _ := proto.Clone(r.GetInfo()).(*structpb.Struct)
	for name, value := range map[string]string{"displayName": user.DisplayName, "slug": user.Slug} {
		if full.GetFields()[name] == nil {
			full.Fields[name] = structpb.NewStringValue(value)
		}
	}
	full.Fields["userId"] = structpb.NewStringValue(user.ID.String())
	action = "{}"
	if r.GetAction() != nil {
		action = string(jsonapi.Marshal(r.GetAction()))
	}
	return string(jsonapi.Marshal(full)), action
}
