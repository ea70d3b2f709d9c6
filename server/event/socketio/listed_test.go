package socketio_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestSubscriptionsOfSessionAreListed subscribes as a client does that names no version, and
// lists the session as its owner, as others, and before anybody owns it.
func TestSubscriptionsOfSessionAreListed(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		c, moderator, channel := connect(t, s), s.As(t, servertest.Moderator), servertest.Owner.String()
		list := func(as servertest.Credentials, session string) string {
			r := s.REST(t, as, http.MethodGet, "/v1/events/"+session+"/subscriptions?sessionId="+uid.New().String(), "")
			if r.Status == http.StatusOK {
				return strings.TrimPrefix(r.Body, `{"success":true,"message":"success","data":`)
			}
			return servertest.ReasonOf(t, r)
		}
		if got := list(moderator, c.Session); got != "[]}" {
			t.Errorf("a session of nobody: got %s", got)
		}
		want := ""
		for _, one := range []struct{ kind, condition string }{
			{"channel.ban", `{"channelId":"` + channel + `"}`},
			{"stream.online", `{"channelId":"` + channel + `","userId":"` + servertest.Viewer.String() + `"}`},
		} {
			body := fmt.Sprintf(`{"type":%q,"condition":%s,"sessionId":%q}`, one.kind, one.condition, c.Session)
			r := s.REST(t, moderator, http.MethodPost, "/v1/events/subscriptions", body)
			if row := fmt.Sprintf(`"type":%q,"version":"1","condition":%s`, one.kind, one.condition); !strings.Contains(r.Body, row+",") {
				t.Errorf("%s: got %s, want %s", body, r.Body, row)
			} else {
				want += ",{" + row + "}"
			}
		}
		if got := list(moderator, strings.ToUpper(c.Session)); got != "["+want[1:]+"]}" {
			t.Errorf("got  %s\nwant [%s]}", got, want[1:])
		}
		for _, test := range []struct {
			name    string
			as      servertest.Credentials
			session string
			want    string
		}{
			{"another user", s.As(t, servertest.Viewer), c.Session, "AUTH_CONTEXT_MISMATCH"},
			{"an app", s.AsApp(t), c.Session, "AUTH_CONTEXT_MISMATCH"},
			{"an unknown session", moderator, uid.New().String(), "SESSION_NOT_FOUND"},
			{"no id", moderator, "x", "INVALID_ARGUMENT"},
			{"no segment", moderator, "", "PATH_NOT_FOUND"},
			{"two segments", moderator, c.Session + "/x", "PATH_NOT_FOUND"},
			{"an encoded slash", moderator, c.Session + "%2Fx", "PATH_NOT_FOUND"},
		} {
			if got := list(test.as, test.session); got != test.want {
				t.Errorf("%s: got %s, want %s", test.name, got, test.want)
			}
		}
	})
}
