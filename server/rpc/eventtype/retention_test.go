package eventtype_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/server/rpc/eventtype"
)

func TestRetentionIsParsed(t *testing.T) {
	base := eventtype.Retention{"channel.ban": time.Hour, "channel.follow": time.Minute}
	for text, want := range map[string]eventtype.Retention{
		"":                                base,
		"channel.ban=30d":                 {"channel.ban": 720 * time.Hour, "channel.follow": time.Minute},
		"default=2h, channel.ban=0":       {"channel.ban": 0, "channel.follow": 2 * time.Hour},
		"channel.ban=1h30m,default=0.5d":  {"channel.ban": 12 * time.Hour, "channel.follow": 12 * time.Hour},
		"channel.ban=-1h":                 nil,
		"channel.bans=1h":                 nil,
		"channel.ban":                     nil,
		"channel.ban=a while":             nil,
		"channel.ban=99999999999d":        nil,
		"channel.ban=1h,channel.follow=x": nil,
	} {
		got, err := eventtype.ParseRetention(base, text)
		if (err == nil) != (want != nil) || (err == nil && cmp.Diff(want, got) != "") {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, kind := range eventtype.Types() {
		if eventtype.DefaultRetention()[eventtype.Type(kind)] < 90*24*time.Hour {
			t.Errorf("%s is kept for %s", kind, eventtype.DefaultRetention()[eventtype.Type(kind)])
		}
	}
}
