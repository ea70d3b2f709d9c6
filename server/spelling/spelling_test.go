package spelling_test

import (
	"strings"
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/spelling"
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
