package gateway_test

import (
	"testing"

	"github.com/moderato-live/moderato/test/servertest"
)

func TestQueryParameters(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	id := servertest.Owner.String()
	for _, c := range []struct {
		name, query string
		fields      []string
	}{
		{"the field", "channelId=" + id, nil},
		{"percent-encoded field", "channel%49d=%30" + id[1:], nil},
		{"additional unknown parameters", "x=1&channelId=" + id + "&y&=&userId=7&limits.x=x", nil},
		{"repeated unknown parameter", "x=1&x=2&channelId=" + id, nil},
		{"empty parts", "&&channelId=" + id + "&", nil},
		{"additional snake case parameter", "channel_id=x&channelId=" + id, []string{"channel_id"}},
		{"additional array parameter", "channelId[]=x&channelId=" + id, []string{"channelId[]"}},
		{"additional parameter with a key", "channelId[0]=x&channelId=" + id, []string{"channelId[0]"}},
		{"additional parameter with a suffix", "channelId.x=y&channelId=" + id, nil},
		{"none", "", []string{"channelId"}},
		{"empty", "channelId=", []string{"channelId"}},
		{"no value", "channelId", []string{"channelId"}},
		{"snake case instead", "channel_id=" + id, []string{"channel_id"}},
		{"capitals", "channelID=" + id, []string{"channelID"}},
		{"as an array instead", "channelId[]=" + id, []string{"channelId[]"}},
		{"as an array in percent-encoding", "channelId%5B%5D=" + id, []string{"channelId[]"}},
		{"repeated field", "channelId=" + id + "&channelId=" + id, []string{"channelId"}},
		{"repeated field, once empty", "channelId=&channelId=" + id, []string{"channelId"}},
		{"thrice", "channelId=1&channelId=2&channelId=3", []string{"channelId"}},
		{"not UTF-8", "channelId=%ff", []string{"channelId"}},
		{"a space around", "channelId=+" + id, []string{"channelId"}},
		{"a NUL", "channelId=%00" + id, []string{"channelId"}},
		{"broken percent-encoding", "channelId=%zz", []string{""}},
		{"invalid percent-encoding of another parameter", "x=%z&channelId=" + id, []string{""}},
		{"broken percent-encoding of a name", "%=1&channelId=" + id, []string{""}},
		{"percent-encoding broken off", "channelId=" + id + "&x=%4", []string{""}},
		{"a semicolon between", "x=1;channelId=" + id, []string{""}},
		{"a semicolon after", "channelId=" + id + ";", []string{""}},
		{"a semicolon in percent-encoding", "channelId=" + id + "&x=%3B", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := exchange(t, s, head(s, owner, "GET", moderatorsPath+"?"+c.query)+"Connection: close\r\n\r\n")
			if c.fields == nil {
				wantOK(t, r)
			} else {
				wantViolations(t, r, c.fields...)
			}
		})
	}
}

func TestReadIgnoresBody(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	for _, contentType := range []string{"application/x-www-form-urlencoded", "application/json"} {
		body := "channelId=" + servertest.Owner.String()
		if contentType == "application/json" {
			body = args("channelId", servertest.Owner.String())
		}
		r := s.Request(t, owner, "GET", moderatorsPath, body)
		r.Header.Set("Content-Type", contentType)
		wantViolations(t, s.Do(t, r), "channelId")
	}
}
