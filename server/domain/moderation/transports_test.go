package moderation_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

// operation is an operation with its REST route and its gRPC messages.
type operation struct {
	name, method, path string
	request, response  proto.Message
}

// operations are the operations of docs/interface.md, section 4.1.
var operations = struct {
	ListModeratedChannels, ListModerators, AddModerator, RemoveModerator, BanUser, RemoveBan, MuteUser operation
}{
	operation{"ListModeratedChannels", http.MethodGet, "/v1/moderation/channels",
		&moderatov1.ListModeratedChannelsRequest{}, &moderatov1.ListModeratedChannelsResponse{}},
	operation{"ListModerators", http.MethodGet, "/v1/moderation/moderators",
		&moderatov1.ListModeratorsRequest{}, &moderatov1.ListModeratorsResponse{}},
	operation{"AddModerator", http.MethodPost, "/v1/moderation/moderators",
		&moderatov1.AddModeratorRequest{}, &moderatov1.AddModeratorResponse{}},
	operation{"RemoveModerator", http.MethodDelete, "/v1/moderation/moderators",
		&moderatov1.RemoveModeratorRequest{}, &moderatov1.RemoveModeratorResponse{}},
	operation{"BanUser", http.MethodPost, "/v1/moderation/ban",
		&moderatov1.BanUserRequest{}, &moderatov1.BanUserResponse{}},
	operation{"RemoveBan", http.MethodDelete, "/v1/moderation/ban",
		&moderatov1.RemoveBanRequest{}, &moderatov1.RemoveBanResponse{}},
	operation{"MuteUser", http.MethodPost, "/v1/moderation/mute",
		&moderatov1.MuteUserRequest{}, &moderatov1.MuteUserResponse{}},
}

// callArgs holds the arguments of a call by their JSON names.
type callArgs map[string]string

// errorCondition is the form of each error with a reason.
type errorCondition struct {
	http      int
	code      codes.Code
	message   string
	challenge string // WWW-Authenticate
}

const (
	realm      = `Bearer realm="moderato"`
	mustBeUUID = "must be a UUID in its 36-character form"
	mustBeName = "must be 1 to 40 of A-Z a-z 0-9 _ . -"
)

var conditions = map[string]errorCondition{
	"TOKEN_MISSING": {401, codes.Unauthenticated,
		"An access token is required: send the header Authorization: Bearer <token>.", realm},
	"TOKEN_INVALID": {401, codes.Unauthenticated,
		"The access token is not valid: it is damaged, unknown or revoked. Get a new one.",
		realm + `, error="invalid_token", error_description="The access token is damaged, unknown or revoked"`},
	"TOKEN_EXPIRED": {401, codes.Unauthenticated, "The access token has expired. Get a new one.",
		realm + `, error="invalid_token", error_description="The access token expired"`},
	"CLIENT_ID_MISSING": {401, codes.Unauthenticated,
		"A client id is required: send the header client-id.", realm},
	"CLIENT_ID_MISMATCH": {401, codes.Unauthenticated,
		"The access token was issued to another client than the one in client-id: send the id of the token's own client.", realm},
	"TOKEN_KIND_NOT_ACCEPTED": {403, codes.PermissionDenied,
		"This operation does not accept this kind of token. It accepts: {acceptedTokens}.", ""},
	"SCOPE_MISSING": {403, codes.PermissionDenied, "The access token lacks the scope {requiredScope}: get a new token with this scope.", "(by scope)"},
	"GRANT_MISSING": {403, codes.PermissionDenied,
		"The user has not granted the scope {requiredScope} to this client: ask the user to sign in to it and to approve the scope.", ""},
	"NOT_CHANNEL_OWNER": {403, codes.PermissionDenied, "Only the owner of the channel may do this: use a token of the owner.", ""},
	"NOT_CHANNEL_MODERATOR": {403, codes.PermissionDenied,
		"Only the owner of the channel or one of its moderators may do this. The owner adds a moderator with POST /v1/moderation/moderators.", ""},
	"NOT_SELF":          {403, codes.PermissionDenied, "A user token may read only its own user's data here: name the user of the token, or use an app token.", ""},
	"INVALID_ARGUMENT":  {400, codes.InvalidArgument, "(by violation)", ""},
	"CHANNEL_NOT_FOUND": {400, codes.InvalidArgument, "There is no channel with this id; the id of a channel is the user id of its owner.", ""},
	"USER_NOT_FOUND":    {400, codes.InvalidArgument, "There is no such user; check the id or the username.", ""},
	"TARGET_IS_CHANNEL": {400, codes.InvalidArgument, "The operation does not apply to the owner of the channel; name another user.", ""},
	"RESULT_TOO_LARGE":  {400, codes.InvalidArgument, "The list is too long to be returned at once; request it in pages, with limit and cursor.", ""},
	"NOT_BANNED": {404, codes.NotFound,
		"The user is not banned in this channel, so nothing needs to be done; GET /v1/moderation/users shows whether a user is banned.", ""},
	"MUTE_ACTIVE": {409, codes.AlreadyExists,
		"The user is muted already until muteExpiresAt. Send replace to replace the mute, or end it with DELETE /v1/moderation/mute.", ""},
}

// refusal is the error that a call must return on both transports.
type refusal struct {
	reason     string
	violations [][2]string       // field and description
	metadata   map[string]string // requiredScope, acceptedTokens, muteExpiresAt
	retryAfter time.Duration
	text       string // for humans, where it is not that of the reason
}

// backendAlone is the refusal of a service token that acts for no user.
var backendAlone = refusal{
	reason: "TOKEN_KIND_NOT_ACCEPTED", metadata: map[string]string{"acceptedTokens": "user"},
	text: "This operation accepts a service token only on behalf of a user: send the user's id as acting-user.",
}

// message returns the text for humans, which names the first violation.
func (w refusal) message() string {
	if len(w.violations) > 0 {
		text, more := w.violations[0][0]+" "+w.violations[0][1]+".", len(w.violations)-1
		if other, ok := strings.CutPrefix(w.violations[0][1], "must not be given together with "); ok {
			text, more = "Give "+w.violations[0][0]+" or "+other+", not both.", more-1 // the other field's violation
		}
		switch more {
		case 0:
			return text
		case 1:
			return text + " There is 1 more violation."
		default:
			return text + fmt.Sprintf(" There are %d more violations.", more)
		}
	}
	text := cmp.Or(w.text, conditions[w.reason].message)
	for name, value := range w.metadata {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

// check makes a call on both transports and compares the complete responses.
func (w refusal) check(t *testing.T, s *servertest.Server, o operation, caller metadata.MD, args callArgs) {
	t.Helper()
	if _, ok := conditions[w.reason]; !ok {
		t.Fatalf("the test expects %q, which is no condition", w.reason)
	}
	w.checkREST(t, s, o, caller, args)
	w.checkGRPC(t, s, o, caller, args)
}

func (w refusal) checkREST(t *testing.T, s *servertest.Server, o operation, caller metadata.MD, args callArgs) {
	t.Helper()
	condition, id := conditions[w.reason], uid.New().String()
	got := o.overREST(t, s, caller, args, id)
	data := map[string]any{"code": w.reason, "requestId": id}
	if len(w.violations) > 0 {
		violations := []any{}
		for _, v := range w.violations {
			violations = append(violations, map[string]any{"field": v[0], "description": v[1]})
		}
		data["violations"] = violations
	}
	for key, value := range w.metadata {
		data[key] = value
		if key == "acceptedTokens" {
			data[key] = []any{value}
		}
	}
	want := map[string]any{"success": false, "message": w.message(), "data": data}
	var body map[string]any
	if err := json.Unmarshal([]byte(got.Body), &body); err != nil || !reflect.DeepEqual(body, want) {
		wantJSON, _ := json.Marshal(want)
		t.Errorf("%s over REST: got body\n%s\nwant\n%s", o.name, got.Body, wantJSON)
	}
	headers := map[string]string{
		"Content-Type": "application/json", "X-Request-Id": id, "WWW-Authenticate": condition.challenge, "Retry-After": "",
	}
	if w.reason == "SCOPE_MISSING" {
		headers["WWW-Authenticate"] = realm + `, error="insufficient_scope", scope="` + w.metadata["requiredScope"] + `"`
	}
	if w.retryAfter > 0 {
		seconds := (w.retryAfter + time.Second - time.Nanosecond).Truncate(time.Second)
		headers["Retry-After"] = strconv.Itoa(int(seconds.Seconds()))
	}
	for name, value := range headers {
		if g := strings.Join(got.Header.Values(name), " & "); g != value {
			t.Errorf("%s over REST: got the header %s %q, want %q", o.name, name, g, value)
		}
	}
	if got.Status != condition.http {
		t.Errorf("%s over REST: got status %d, want %d", o.name, got.Status, condition.http)
	}
}

func (w refusal) checkGRPC(t *testing.T, s *servertest.Server, o operation, caller metadata.MD, args callArgs) {
	t.Helper()
	condition, id := conditions[w.reason], uid.New().String()
	_, header, err := o.overGRPC(t, s, caller, args, id)
	got := status.Convert(err)
	if got.Code() != condition.code || got.Message() != w.message() {
		t.Errorf("%s over gRPC: got %s %q, want %s %q", o.name, got.Code(), got.Message(), condition.code, w.message())
	}
	want := []proto.Message{
		&errdetails.ErrorInfo{Reason: w.reason, Domain: "moderato", Metadata: w.metadata},
		&errdetails.RequestInfo{RequestId: id},
		&errdetails.Help{Links: []*errdetails.Help_Link{{Description: "What to do next", Url: "/docs/errors#" + w.reason}}},
	}
	if len(w.violations) > 0 {
		bad := &errdetails.BadRequest{}
		for _, v := range w.violations {
			bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{Field: v[0], Description: v[1]})
		}
		want = append(want, bad)
	}
	if w.retryAfter > 0 {
		want = append(want, &errdetails.RetryInfo{RetryDelay: durationpb.New(w.retryAfter)})
	}
	same := slices.EqualFunc(got.Details(), want, func(g any, w proto.Message) bool {
		m, ok := g.(proto.Message)
		return ok && proto.Equal(m, w)
	})
	if !same {
		t.Errorf("%s over gRPC: got details %v, want %v", o.name, got.Details(), want)
	}
	if g := header.Get("x-request-id"); !slices.Equal(g, []string{id}) {
		t.Errorf("%s over gRPC: got x-request-id %q, want %q", o.name, g, id)
	}
}

// overREST makes the call with the arguments in the query or in the body.
func (o operation) overREST(t *testing.T, s *servertest.Server, caller metadata.MD, args callArgs, id string) servertest.Response {
	t.Helper()
	path, body := o.path, ""
	if o.method == http.MethodGet {
		query := url.Values{}
		for name, value := range args {
			query.Set(name, value)
		}
		path += "?" + query.Encode()
	} else {
		text, _ := json.Marshal(args)
		body = string(text)
	}
	r := s.Request(t, servertest.Credentials{}, o.method, path, body)
	r.Header.Set("X-Request-Id", id)
	for name, values := range caller {
		for _, value := range values {
			r.Header.Add(name, value)
		}
	}
	return s.Do(t, r)
}

// overGRPC makes the call with the same arguments in a message.
func (o operation) overGRPC(t *testing.T, s *servertest.Server, caller metadata.MD, args callArgs, id string) (proto.Message, metadata.MD, error) {
	t.Helper()
	text, _ := json.Marshal(args)
	request := proto.Clone(o.request)
	if err := protojson.Unmarshal(text, request); err != nil {
		t.Fatalf("%s: %v", o.name, err)
	}
	md := metadata.Join(caller, metadata.Pairs("x-request-id", id))
	ctx, cancel := context.WithTimeout(metadata.NewOutgoingContext(context.Background(), md), 20*time.Second)
	defer cancel()
	var header metadata.MD
	response := proto.Clone(o.response)
	err := s.Conn.Invoke(ctx, "/moderato.v1.ModerationService/"+o.name, request, response, grpc.Header(&header))
	return response, header, err
}

func transportName(rest bool) string {
	if rest {
		return "REST"
	}
	return "gRPC"
}

// outcome returns the result of a call on one transport: OK, or the reason.
func (o operation) outcome(t *testing.T, s *servertest.Server, caller metadata.MD, args callArgs, rest bool) string {
	t.Helper()
	if rest {
		got := o.overREST(t, s, caller, args, uid.New().String())
		var body struct{ Data any }
		if err := json.Unmarshal([]byte(got.Body), &body); err != nil {
			t.Fatalf("%s over REST: got the body %q: %v", o.name, got.Body, err)
		}
		if data, ok := body.Data.(map[string]any); ok && got.Status != http.StatusOK {
			return data["code"].(string)
		}
		if got.Status != http.StatusOK {
			return got.Body
		}
		return "OK"
	}
	_, _, err := o.overGRPC(t, s, caller, args, uid.New().String())
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	if err != nil {
		return err.Error()
	}
	return "OK"
}

// metadataAs returns credentials as metadata.
func metadataAs(c servertest.Credentials) metadata.MD {
	md, _ := metadata.FromOutgoingContext(c.Context())
	return md
}

// withMetadata returns a copy of md with one key replaced, or removed if there are no
// values.
func withMetadata(md metadata.MD, name string, values ...string) metadata.MD {
	changed := maps.Clone(md)
	if len(values) == 0 {
		delete(changed, name)
		return changed
	}
	changed[name] = values
	return changed
}

// bannedModeratorID is a user who has the moderator role in Owner's channel and is banned
// there.
var bannedModeratorID = uid.MustParse("0b6f0006-0000-4000-8000-00000000000f")

// authScene is the World with a banned moderator and grants that do not suffice, and the
// callers of most tests.
type authScene struct {
	*servertest.Server

	// Users with every scope, an app of Dashboard, and a backend that acts for no user.
	owner, moderator, bannedModerator, viewer, other, app, service metadata.MD
}

func newAuthScene(t *testing.T, s *servertest.Server) *authScene {
	t.Helper()
	banned := bannedModeratorID.String()
	s.Load(t,
		&platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{Id: banned, Username: "banned_moderator"}}},
		&platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{
			ChannelId: servertest.Owner.String(), UserId: banned, Role: "moderator",
		}}},
		&platformv1.Record{Kind: &platformv1.Record_Grant{Grant: &platformv1.GrantRecord{
			ClientId: servertest.Dashboard, UserId: servertest.Raider.String(), Scopes: []string{authn.ChannelModerate},
		}}},
		&platformv1.Record{Kind: &platformv1.Record_Grant{Grant: &platformv1.GrantRecord{
			ClientId: servertest.Dashboard, UserId: servertest.Other.String(),
		}}},
	)
	sc := &authScene{Server: s}
	sc.owner, sc.moderator = sc.user(t, servertest.Owner), sc.user(t, servertest.Moderator)
	sc.viewer, sc.other = sc.user(t, servertest.Viewer), sc.user(t, servertest.Other)
	sc.bannedModerator = sc.user(t, bannedModeratorID)
	sc.app, sc.service = metadataAs(s.AsApp(t)), metadataAs(s.AsService(t))
	sc.must(t, operations.BanUser, sc.owner, callArgs{"channelId": servertest.Owner.String(), "banUserId": banned})
	return sc
}

// user returns a user token with these scopes, or with every scope if none is given.
func (sc *authScene) user(t *testing.T, user uid.ID, scopes ...string) metadata.MD {
	t.Helper()
	if scopes == nil {
		scopes = authn.Scopes()
	}
	return metadataAs(sc.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: user, Scopes: scopes}))
}

// acting returns a backend that acts for a user.
func (sc *authScene) acting(user string) metadata.MD {
	return withMetadata(sc.service, "acting-user", user)
}

// must makes a call that succeeds.
func (sc *authScene) must(t *testing.T, o operation, caller metadata.MD, args callArgs) {
	t.Helper()
	if _, _, err := o.overGRPC(t, sc.Server, caller, args, "arrange"); err != nil {
		t.Fatalf("%s: %v", o.name, err)
	}
}

// changes returns the number of changes that users and backends made so far.
func (sc *authScene) changes(t *testing.T) (events int) {
	t.Helper()
	const query = "SELECT COUNT(*) FROM events WHERE client_id <> ''"
	if err := sc.Store.DB().QueryRowContext(context.Background(), query).Scan(&events); err != nil {
		t.Fatal(err)
	}
	return events
}
