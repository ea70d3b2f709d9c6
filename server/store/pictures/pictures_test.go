package pictures_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/store/pictures"
)

const url = "https://cdn.example.com/a.png?x=1&y=2"

func TestEmptyPicturesAreFilled(t *testing.T) {
	t.Parallel()
	response := &moderatov1.ListCategoriesResponse{Rows: []*moderatov1.Category{{}, {ImageUrl: "https://img.example.com/b.png"}}}
	clips := &moderatov1.ListClipsResponse{Rows: []*moderatov1.Clip{{Creator: &moderatov1.ContentUser{}, Category: &moderatov1.ContentCategory{}}}}
	live, offline := &moderatov1.GetStreamInfoResponse{IsLive: true}, &moderatov1.GetStreamInfoResponse{}
	f := pictures.New(url)
	f.Fill(response)
	f.Fill(clips)
	f.Fill(live)
	f.Fill(offline)
	clip := clips.GetRows()[0]
	for what, c := range map[string][2]string{
		"a category":            {response.GetRows()[0].GetImageUrl(), url},
		"a category with one":   {response.GetRows()[1].GetImageUrl(), "https://img.example.com/b.png"},
		"a creator":             {clip.GetCreator().GetAvatarUrl(), url},
		"a category of a clip":  {clip.GetCategory().GetImageUrl(), url},
		"the preview of a clip": {clip.GetPreviewImgUrl(), ""},
		"a live stream":         {live.GetPreviewImgUrl(), url},
		"an offline channel":    {offline.GetPreviewImgUrl(), ""},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: got %q, want %q", what, c[0], c[1])
		}
	}
	if clip.GetChannel() != nil {
		t.Error("a message that was not set is set")
	}
}

func TestPayloadsAreFilled(t *testing.T) {
	t.Parallel()
	const text = `{"message":"\"avatarUrl\":\"\"","a":{"avatarUrl":""},"b":{"avatarUrl":"https://img.example.com/b.png"}}`
	const want = `{"message":"\"avatarUrl\":\"\"","a":{"avatarUrl":"https://cdn.example.com/a.png?x=1\u0026y=2"},"b":{"avatarUrl":"https://img.example.com/b.png"}}`
	if got := string(pictures.New(url).FillJSON([]byte(text))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := string(pictures.New("").FillJSON([]byte(text))); got != text {
		t.Errorf("without a picture: got %s", got)
	}
}

// BenchmarkFill fills a list of 100 users who have pictures already, and a response that has
// no place for any.
func BenchmarkFill(b *testing.B) {
	users := make([]*moderatov1.UserSummary, 100)
	for i := range users {
		users[i] = &moderatov1.UserSummary{AvatarUrl: "https://img.example.com/b.png"}
	}
	f := pictures.New(url)
	for name, m := range map[string]proto.Message{"users": &moderatov1.ListUsersResponse{Users: users}, "none": &moderatov1.GetStatsResponse{}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.Fill(m)
			}
		})
	}
}
