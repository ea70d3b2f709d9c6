package gateway

import (
	"net/url"
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

func BenchmarkQuery(b *testing.B) {
	values, err := url.ParseQuery("channelId=0198c0de-0000-7000-8000-000000000001&limit=20&cursor=4uoVtik9QSd7IkF0IjoxNzcyNzM0ODMxMDA3fQ")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var request moderatov1.ListFollowersRequest
		if err := (queryParser{}).Parse(&request, values, nil); err != nil {
			b.Fatal(err)
		}
	}
}
