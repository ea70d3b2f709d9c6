package spelling_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/spelling"
)

func TestSuggestFindsIntendedField(t *testing.T) {
	t.Parallel()
	list := (&moderatov1.ListChannelsRequest{}).ProtoReflect().Descriptor()
	for name, want := range map[string]string{
		"slug": "slug", "slugs": "slug", "slug[]": "slug", "slugs[]": "slug", "slug[x]": "slug", "SLUG": "slug",
		"category_id": "categoryId", "categoryID": "categoryId", "category-ids": "categoryId", "CategoryIds[]": "categoryId",
		"limits": "limit", "Cursor": "cursor",
		"": "", "x": "", "slugg": "", "page": "", "[]": "", "channelId": "",
		strings.Repeat("_", 100) + "slug": "",
	} {
		got := ""
		if f := spelling.Suggest(list, name); f != nil {
			got = f.JSONName()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestNearestFindsSimilarField(t *testing.T) {
	t.Parallel()
	batch := (&moderatov1.BanUsersRequest{}).ProtoReflect().Descriptor()
	anyField := func(protoreflect.FieldDescriptor) bool { return true }
	for name, want := range map[string]string{
		"reson": "reason", "reasno": "reason", "raeson": "reason", "banReason": "reason", "Reasons": "reason",
		"duration": "durationSeconds", "durationSecs": "durationSeconds", "duratoinSeconds": "durationSeconds", "secondsDuration": "",
		"dryrum": "dryRun", "isDryRun": "dryRun", "user_ids": "users", "channel": "channelId", "chanelID": "channelId",
		"": "", "x": "", "region": "", "person": "", "session": "", "version": "", "expiresIn": "", "ttl": "", "dry": "",
		strings.Repeat("reason", 20): "",
	} {
		got := ""
		if f := spelling.Nearest(batch, name, anyField); f != nil {
			got = f.JSONName()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if f := spelling.Nearest(batch, "channel", protoreflect.FieldDescriptor.HasPresence); f != nil {
		t.Errorf("channel: got %s, want none of the optional fields", f.JSONName())
	}
}
