package requests_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/sessions"
	"github.com/moderato-live/moderato/test/servertest"
)

// result is the result of a call over either transport.
type result struct {
	code          string // of the response; OK for a success
	status        string // of HTTP or gRPC
	requiredScope string
}

// arguments returns valid arguments of an operation, which name an id.
func (s *scene) arguments(t *testing.T, in *section, o operation, c *caller, column string) servertest.Args {
	t.Helper()
	owner, raider := servertest.Owner.String(), servertest.Raider.String()
	args := map[string]servertest.Args{
		"AddModerator": {"userId": raider}, "RemoveModerator": {"userId": raider}, "AddVip": {"userId": raider}, "RemoveVip": {"userId": raider},
		"AddOg": {"userId": raider}, "RemoveOg": {"userId": raider}, "RevertModerator": {"moderatorId": raider, "since": "2026-01-01T00:00:00Z"},
		"BanUser": {"banUserId": raider}, "RemoveBan": {"banUsername": "lootgoblin77"}, "MuteUser": {"mutedUserId": raider},
		"RemoveMute": {"mutedUserId": raider}, "BanUsers": {"users": []servertest.Args{{"userId": raider}}},
		"PreviewSweep": {"phrase": "free gems", "withinSeconds": 600},
		"CommitSweep":  {"sweepToken": servertest.Nobody.String()}, "GetUser": {"userId": raider}, "UpdateInfo": {"title": "a", "lang": "en"},
		"ListVotes": {"epoch": "all"}, "ListUsers": {"userId": []string{owner}}, "RevokeGrant": {"clientId": "nobodys-dashboard"},
		"CreateWebhook":        {"url": "https://hooks.example.com/" + uid.New().String(), "type": []string{o.eventType}},
		"WatchEvents":          {"type": []string{o.eventType}},
		"CreateSubscription":   {"type": o.eventType, "version": "1", "condition": servertest.Args{}},
		"PostMessage":          {"channelId": owner, "message": "hello"},
		"ServerReflectionInfo": {"listServices": ""},
		"UpdateChatRules":      {"put": []servertest.Args{{"name": "Links", "kind": "links", "action": "flag", "mode": "all"}}},
		"PreviewChatRules":     {"texts": []string{"hello"}},
		"RestoreChatRules":     {"version": 0},
		"UpdateShield":         {"active": true},
		"UpdateShieldPreset":   {"settings": servertest.Args{}},
		"ClaimHeldMessages":    {"messageIds": []string{servertest.Nobody.String()}},
		"DecideHeldMessages":   {"decisions": []servertest.Args{{"messageId": servertest.Nobody.String(), "decision": "deny"}}},

		"ListSessionSubscriptions": {"sessionId": servertest.Nobody.String()},
	}[o.rpc[strings.LastIndex(o.rpc, "/")+1:]]
	if args == nil || strings.HasPrefix(o.rpc, "moderato.platform.") {
		args = unknown(o)
	}
	id, isNamed := c.named(column)
	switch {
	case strings.HasSuffix(o.rpc, "/CreateSubscription"):
		args["sessionId"] = s.session(t)
		if isNamed {
			args["condition"] = servertest.Args{"channelId": id.String()}
		}
	case strings.HasSuffix(o.rpc, "v1.ChatService/DeleteMessage"):
		clear(args)
		s.deleteArguments(t, args, in, c, column)
	case in.title == "One webhook" && isNamed:
		args["webhookId"] = s.webhook(t, c, column)
	case in.title == "One subscription" && isNamed:
		args["id"] = s.subscription(t, c, column)
	case isNamed:
		field := map[string]string{
			"The caller's own": "userId", "The user of the token": "userId",
			"The sender of a message": "senderId", "The sender of a message, with the scope of moderators": "senderId",
		}[in.title]
		if field == "" {
			field = "channelId"
		}
		args[field] = id.String()
	}
	return args
}

// unknown returns arguments of an operation that name a batch, an event and a message that do
// not exist, if its request can name one.
func unknown(o operation) servertest.Args {
	args := servertest.Args{}
	found, _ := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.ReplaceAll(o.rpc, "/", ".")))
	rpc, isPublic := found.(protoreflect.MethodDescriptor)
	if !isPublic || strings.HasPrefix(o.rpc, "moderato.platform.") {
		return args
	}
	for _, name := range []string{"batchId", "eventId", "messageId"} {
		if rpc.Input().Fields().ByJSONName(name) != nil {
			args[name] = servertest.Nobody.String()
		}
	}
	return args
}

// deleteArguments sets the arguments of the deletion of a message.
func (s *scene) deleteArguments(t *testing.T, args servertest.Args, in *section, c *caller, column string) {
	t.Helper()
	id, isNamed := c.named(column)
	if in.title == "Deletion of an own message" {
		args["channelId"] = servertest.Owner.String()
		switch column {
		case "own":
			args["messageId"] = s.message(t, servertest.Owner, c.id)
		case "another's":
			args["messageId"] = s.message(t, servertest.Owner, servertest.Raider)
		case "absent":
			args["messageId"] = uid.New().String()
		}
		return
	}
	args["messageId"] = uid.New().String()
	if isNamed {
		args["channelId"] = id.String()
		if id == servertest.Owner || id == servertest.Other {
			args["messageId"] = s.message(t, id, servertest.Raider)
		}
	}
}

// must makes a call that has to succeed, and returns its response.
func (s *scene) must(t *testing.T, c servertest.Credentials, method, path string, args servertest.Args) protoreflect.Message {
	t.Helper()
	response, outcome := s.CallGRPC(t, c, method, path, args)
	if outcome.Reason != "OK" {
		t.Fatalf("%s %s: %+v", method, path, outcome)
	}
	return response.ProtoReflect()
}

// text returns the value of a field of a response.
func text(m protoreflect.Message, field protoreflect.Name) string {
	return m.Get(m.Descriptor().Fields().ByName(field)).String()
}

// message posts a message and returns its id.
func (s *scene) message(t *testing.T, channel, sender uid.ID) string {
	t.Helper()
	s.unban(t, sender)
	return text(s.must(t, s.AsService(t), "POST", "/v1/chats/messages", servertest.Args{
		"channelId": channel.String(), "senderId": sender.String(), "message": "hello",
	}), "message_id")
}

// unban lifts the bans and mutes of Raider, whom permitted calls ban and mute.
func (s *scene) unban(t *testing.T, user uid.ID) {
	t.Helper()
	if user != servertest.Raider {
		return
	}
	for _, channel := range []uid.ID{servertest.Owner, servertest.Other} {
		backend := s.AsService(t)
		backend.ActingUser = channel
		for path, field := range map[string]string{"/v1/moderation/ban": "banUserId", "/v1/moderation/mute": "mutedUserId"} {
			s.CallGRPC(t, backend, "DELETE", path, servertest.Args{"channelId": channel.String(), field: user.String()})
		}
	}
}

// restore undoes a permitted call on which the result of others depends: a channel has a
// limit of webhooks, and a user one of sessions.
func (s *scene) restore(t *testing.T, o operation) {
	t.Helper()
	var tables []string
	switch name := o.rpc[strings.LastIndex(o.rpc, "/")+1:]; name {
	case "CreateWebhook":
		tables = []string{"webhooks"}
	case "CreateSubscription", "DeleteSubscription":
		tables = []string{"event_sessions", "event_subscriptions"}
	case "DeleteWebhook":
	default:
		return
	}
	for _, table := range tables {
		if _, err := s.Store.DB().ExecContext(t.Context(), "DELETE FROM "+table); err != nil {
			t.Fatal(err)
		}
	}
	clear(s.made)
}

// session stores a session of Socket.IO and returns its id.
func (s *scene) session(t *testing.T) string {
	t.Helper()
	id := uid.New()
	if err := (sessions.Sessions{Store: s.Store, ServerID: id}).Add(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return id.String()
}

// creator returns who created what a caller names.
func creator(c *caller, column string) (kind string, id, channel uid.ID) {
	switch {
	case column == "own" && !c.id.IsZero():
		return "user", c.id, c.id
	case column == "own":
		return "service", uid.ID{}, servertest.Owner
	}
	return "user", c.another, c.another
}

// webhook returns the id of a webhook for bans.
func (s *scene) webhook(t *testing.T, c *caller, column string) string {
	t.Helper()
	if column == "absent" {
		return servertest.Nobody.String()
	}
	kind, id, channel := creator(c, column)
	key := fmt.Sprint("webhook ", kind, id)
	if known, exists := s.made[key]; exists {
		return known
	}
	by := s.AsService(t)
	by.ActingUser = id
	s.made[key] = text(s.must(t, by, "POST", "/v1/webhooks", servertest.Args{
		"channelId": channel.String(), "url": "https://hooks.example.com/" + uid.New().String(), "type": []string{"channel.ban"},
	}), "id")
	return s.made[key]
}

// subscription returns the id of a subscription of a session.
func (s *scene) subscription(t *testing.T, c *caller, column string) string {
	t.Helper()
	if column == "absent" {
		return servertest.Nobody.String()
	}
	key := fmt.Sprint("subscription ", c.client, c.id, column)
	if known, exists := s.made[key]; exists {
		return known
	}
	by := s.credentials(t, &caller{name: "user " + c.another.String(), kind: "user", id: c.another, client: granted}, "users.read")
	if column == "own" {
		by = s.credentials(t, c, "users.read")
	}
	s.made[key] = text(s.must(t, by, "POST", "/v1/events/subscriptions", servertest.Args{
		"type": "stream.online", "version": "1", "sessionId": s.session(t), "condition": servertest.Args{"channelId": servertest.Owner.String()},
	}), "id")
	return s.made[key]
}

// rest makes a call over REST.
func (s *scene) rest(t *testing.T, as identification, o operation, args servertest.Args) result {
	t.Helper()
	target, body := "http://"+s.HTTPAddr+o.path, ""
	for name, value := range args {
		target = strings.ReplaceAll(target, "{"+name+"}", fmt.Sprint(value))
	}
	if o.method == http.MethodGet {
		target += "?" + query(args)
	} else {
		text, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		body = string(text)
	}
	r, err := http.NewRequestWithContext(t.Context(), o.method, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range map[string]string{"Authorization": as.authorization, "client-id": as.clientID, "acting-user": as.actingUser} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	got := result{code: "OK", status: fmt.Sprint(response.StatusCode)}
	if response.StatusCode == http.StatusOK { // an event stream does not end
		return got
	}
	var failure struct {
		Data struct{ Code, RequiredScope string }
	}
	if err := json.NewDecoder(response.Body).Decode(&failure); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	got.code, got.requiredScope = failure.Data.Code, failure.Data.RequiredScope
	return got
}

func query(args servertest.Args) string {
	values := url.Values{}
	for name, value := range args {
		if list, isList := value.([]string); isList {
			values[name+"[]"] = list
		} else {
			values.Set(name, fmt.Sprint(value))
		}
	}
	return values.Encode()
}

// grpc makes a call over gRPC, and ends a stream after its first message.
func (s *scene) grpc(t *testing.T, as identification, o operation, args servertest.Args) result {
	t.Helper()
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.ReplaceAll(o.rpc, "/", ".")))
	if err != nil {
		t.Fatal(err)
	}
	rpc, _ := found.(protoreflect.MethodDescriptor)
	request, response := servertest.NewMessage(t, rpc.Input()), servertest.NewMessage(t, rpc.Output())
	text, err := json.Marshal(args)
	if err == nil {
		err = protojson.Unmarshal(text, request)
	}
	if err != nil {
		t.Fatalf("%s: %v", o.rpc, err)
	}
	md := metadata.MD{}
	for name, value := range map[string]string{"authorization": as.authorization, "client-id": as.clientID, "acting-user": as.actingUser} {
		if value != "" {
			md.Set(name, value)
		}
	}
	ctx, cancel := context.WithTimeout(metadata.NewOutgoingContext(t.Context(), md), time.Minute)
	defer cancel()
	stream, err := s.Conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: rpc.IsStreamingServer()}, "/"+o.rpc)
	if err == nil {
		err = stream.SendMsg(request)
		_ = stream.CloseSend()
	}
	if err == nil || err == io.EOF { //nolint:errorlint // SendMsg returns it as it is
		err = stream.RecvMsg(response)
	}
	outcome := servertest.OutcomeOf(err)
	return result{code: outcome.Reason, status: status.Code(err).String(), requiredScope: outcome.Metadata["requiredScope"]}
}

var _ = moderatov1.EventsService_WatchEvents_FullMethodName // registers the messages of the contract
