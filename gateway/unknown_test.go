package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestUnknownModerationFieldIsRejected sends fields without which a request would mean
// something else: a ban would be permanent, and a dry run would ban.
func TestUnknownModerationFieldIsRejected(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	channel, viewer := servertest.Owner.String(), servertest.Viewer.String()
	ban := args("channelId", channel, "banUserId", viewer)
	mute := args("channelId", channel, "mutedUserId", viewer)
	batch := `{"channelId":"` + channel + `","users":[{"userId":"` + viewer + `"}]}`
	preview := `{"channelId":"` + channel + `","phrase":"x","withinSeconds":60}`
	commit := args("channelId", channel, "sweepToken", "x")
	undo := args("channelId", channel, "batchId", viewer)
	for _, c := range []struct{ method, path, body, field, want string }{
		{"POST", banPath, ban, "reson", "unknown field reson; did you mean reason?"},
		{"POST", banPath, ban, "banReason", "unknown field banReason; did you mean reason?"},
		{"POST", banPath, ban, "durationSecs", "unknown field durationSecs; did you mean durationSeconds?"},
		{"POST", banPath, ban, "duration", "duration is not supported by this operation; did you mean durationSeconds?"},
		{"POST", banPath, ban, "permanent", "permanent is not supported by this operation; the known fields are channelId, banUserId, banUsername, reason, durationSeconds, replace."},
		{"POST", banPath, ban, "expiresIn", "expiresIn is not a known field; the known fields are channelId, banUserId, banUsername, reason, durationSeconds, replace."},
		{"POST", banPath, ban, "timeoutMinutes", "timeoutMinutes is not a known field; the known fields are channelId, banUserId, banUsername, reason, durationSeconds, replace."},
		{"POST", banPath, ban, "length", "length is not a known field; the known fields are channelId, banUserId, banUsername, reason, durationSeconds, replace."},
		{"POST", banPath, ban, "ends_at", "ends_at is not a known field; the known fields are channelId, banUserId, banUsername, reason, durationSeconds, replace."},
		{"POST", mutePath, mute, "reson", "unknown field reson; did you mean reason?"},
		{"POST", mutePath, mute, "seconds", "unknown field seconds; did you mean durationSeconds?"},
		{"DELETE", banPath, ban, "restoreMesages", "unknown field restoreMesages; did you mean restoreMessages?"},
		{"DELETE", mutePath, mute, "reson", "unknown field reson; did you mean reason?"},
		{"POST", bansPath, batch, "dryrum", "unknown field dryrum; did you mean dryRun?"},
		{"POST", bansPath, batch, "note", "note is not a known field; the known fields are channelId, users, reason, durationSeconds, dryRun."},
		{"DELETE", bansPath, undo, "restoreMesages", "unknown field restoreMesages; did you mean restoreMessages?"},
		{"DELETE", bansPath, undo, "x", "x is not a known field; the known fields are channelId, batchId, restoreMessages."},
		{"POST", sweepsPath, preview, "followedWithin", "unknown field followedWithin; did you mean followedWithinSeconds?"},
		{"POST", sweepsPath, preview, "exemptSubs", "unknown field exemptSubs; did you mean exemptSubscribers?"},
		{"POST", sweepsPath + "/commit", commit, "afterglow", "unknown field afterglow; did you mean afterglowSeconds?"},
		{"POST", sweepsPath + "/commit", commit, "x", "x is not a known field; the known fields are channelId, sweepToken, reason, durationSeconds, afterglowSeconds."},
	} {
		for _, value := range []string{`"x"`, "null", "{}"} {
			r := s.REST(t, owner, c.method, c.path, `{"`+c.field+`":`+value+`,`+c.body[1:])
			if got := wantViolations(t, r, c.field).Message; got != c.want {
				t.Errorf("%s %s: got the message %q, want %q", c.path, c.field, got, c.want)
			}
		}
	}
	if r := s.REST(t, owner, "GET", "/v1/channels/banned-users", ""); !strings.Contains(r.Body, `"rows":[]`) {
		t.Errorf("somebody is banned: %s", r.Body)
	}
}

// TestUnrelatedFieldOfBanIsIgnored sends what the clients of the interface document may
// send: the document's operations ignore fields that mean nothing to them.
func TestUnrelatedFieldOfBanIsIgnored(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	more := `"x":1,"moderatorId":"x","username":"x","user":{},"channel":{"reason":1},"note":"x","region":"eu","version":1,"sessionId":"x","type":"ban",`
	channel, viewer := servertest.Owner.String(), servertest.Viewer.String()
	wantOK(t, s.REST(t, owner, "POST", banPath, "{"+more+args("channelId", channel, "banUserId", viewer)[1:]))
	wantOK(t, s.REST(t, owner, "POST", mutePath, "{"+more+args("channelId", channel, "mutedUserId", viewer)[1:]))
	wantOK(t, s.REST(t, owner, "DELETE", banPath, "{"+more+args("channelId", channel, "banUserId", viewer)[1:]))
}

// TestEveryUnknownFieldIsNamed checks that one response names all unknown fields, also of
// the elements of a list, up to the bound of violations.
func TestEveryUnknownFieldIsNamed(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	viewer := `{"userId":"` + servertest.Viewer.String() + `"}`
	start := `{"channelId":"` + servertest.Owner.String() + `","users":[`
	r := s.REST(t, owner, "POST", bansPath, start+strings.Repeat(viewer+",", 3)+`{"usernme":"LootGoblin77","x":1}],"dry_run":true,"ttl":60}`)
	body := wantViolations(t, r, "users[3].usernme", "users[3].x", "dry_run", "ttl")
	if want := "unknown field users[3].usernme; did you mean username? There are 3 more violations."; body.Message != want {
		t.Errorf("got the message %q, want %q", body.Message, want)
	}
	if got, want := body.Data.Violations[1].Description, "is not a known field; the known fields are userId, username"; got != want {
		t.Errorf("users[3].x: got %q, want %q", got, want)
	}
	users := make([]string, 1000)
	for i := range users {
		users[i] = fmt.Sprintf(`{"name%d":"x"}`, i)
	}
	body = wantRefused(t, s.REST(t, owner, "POST", bansPath, start+strings.Join(users, ",")+"]}"), http.StatusBadRequest, "INVALID_ARGUMENT")
	if got := len(body.Data.Violations); got != 100 {
		t.Errorf("got %d violations, want 100", got)
	}
}

// TestOnlyTheInterfaceDocumentIgnoresUnknownFields sends an unknown field to every operation that
// has a body. The operations of the interface document ignore it; they declare so.
func TestOnlyTheInterfaceDocumentIgnoresUnknownFields(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	documented := map[string]bool{}
	for _, o := range operations {
		documented[o.rpc] = true
	}
	ignoring, refusing := 0, 0
	for method := range authz.Methods() {
		rule, _ := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
		verb, path := http.MethodPost, rule.GetPost()
		if rule.GetDelete() != "" {
			verb, path = http.MethodDelete, rule.GetDelete()
		}
		if path == "" {
			continue
		}
		r := s.REST(t, owner, verb, path, `{"zzz":1}`)
		if isRefused := strings.Contains(r.Body, `{"field":"zzz",`); isRefused == documented[string(method.FullName())] {
			t.Errorf("%s %s: got %s", verb, path, r.Body)
		} else if isRefused {
			refusing++
		} else {
			ignoring++
		}
	}
	if ignoring != 10 || refusing < 15 {
		t.Errorf("%d operations ignore unknown fields and %d refuse them", ignoring, refusing)
	}
}

// TestNestedMessagesRefuseUnknownFieldsToo checks the contract: where a request refuses
// unknown fields, the messages in it do.
func TestNestedMessagesRefuseUnknownFieldsToo(t *testing.T) {
	t.Parallel()
	const refused = optionsv1.UnknownFields_UNKNOWN_FIELDS_UNSPECIFIED
	var check func(m protoreflect.MessageDescriptor, outer optionsv1.UnknownFields)
	check = func(m protoreflect.MessageDescriptor, outer optionsv1.UnknownFields) {
		rule, _ := proto.GetExtension(m.Options(), optionsv1.E_UnknownFields).(optionsv1.UnknownFields)
		if outer == refused && rule != refused {
			t.Errorf("%s is within a request that refuses unknown fields", m.FullName())
		}
		for i := range m.Fields().Len() {
			if inner := m.Fields().Get(i).Message(); inner != nil && inner.ParentFile().Package() == m.ParentFile().Package() {
				check(inner, rule)
			}
		}
	}
	for method := range authz.Methods() {
		check(method.Input(), optionsv1.UnknownFields_UNKNOWN_FIELDS_REFUSED_IF_SIMILAR)
	}
}

// TestMisspeltParameterOfStreamIsRejected sends parameters without which a stream would
// begin at the present, and lose events. They are no fields of the stream's request.
func TestMisspeltParameterOfStreamIsRejected(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	for query, want := range map[string]string{
		"last_event_id=x":               "unknown parameter last_event_id; did you mean lastEventId?",
		"lastEventID=x":                 "unknown parameter lastEventID; did you mean lastEventId?",
		"lastEventId[]=x":               "unknown parameter lastEventId[]; did you mean lastEventId?",
		"lastEventId=x&last-event-id=x": "unknown parameter last-event-id; did you mean lastEventId?",
		"Ticket=x":                      "unknown parameter Ticket; did you mean ticket?",
		"tickets[0]=x":                  "unknown parameter tickets[0]; did you mean ticket?",
		"channel_id=x":                  "unknown parameter channel_id; did you mean channelId?",
		"types[]=x":                     "unknown parameter types[]; did you mean type[]?",
		"lastEventId=x&lastEventId=x":   "lastEventId must be given once.",
		"lastEventId=&lastEventId=":     "lastEventId must be given once.",
		"ticket=x&ticket=x":             "ticket must be given once.",
	} {
		if r := s.REST(t, owner, http.MethodHead, "/v1/events?"+query, ""); r.Status != http.StatusBadRequest {
			t.Errorf("%s: got %d, want 400", query, r.Status)
			continue // a GET would not end
		}
		r := s.REST(t, owner, http.MethodGet, "/v1/events?"+query, "")
		if got := wantRefused(t, r, http.StatusBadRequest, "INVALID_ARGUMENT").Message; got != want {
			t.Errorf("%s: got the message %q, want %q", query, got, want)
		}
	}
	r := s.REST(t, owner, http.MethodGet, "/v1/events?lastEventIds=x&Ticket=x&ticket=x&ticket=y&cursors=x&last=x", "")
	wantViolations(t, r, "Ticket", "cursors", "lastEventIds", "ticket")
	r = s.REST(t, owner, http.MethodHead, "/v1/events?event=x&last=x&id=x&t=x", "")
	if r.Status != http.StatusOK {
		t.Errorf("other unknown parameters: got %d", r.Status)
	}
}
