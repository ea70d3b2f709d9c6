package gateway_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

// anyArguments are valid arguments of every operation: an operation ignores those that it
// does not know. The channel and the users are not those of a caller without a relation.
var anyArguments = servertest.Args{
	"channelId": servertest.Owner.String(), "userId": servertest.Raider.String(), "banUserId": servertest.Raider.String(),
	"mutedUserId": servertest.Raider.String(), "senderId": servertest.Raider.String(), "messageId": servertest.Raider.String(),
	"message": "hello", "epoch": "all", "title": "a", "lang": "en",
}

// requirements holds, for each code of a 403 that is about rights, texts of which its message
// has one that says what is required. {…} stands for the field of the data.
var requirements = map[string][]string{
	"TOKEN_KIND_NOT_ACCEPTED": {"It accepts: {acceptedTokens}.", "only on behalf of a user"},
	"SCOPE_MISSING":           {"the scope {requiredScope}"},
	"GRANT_MISSING":           {"the scope {requiredScope}"},
	"NOT_CHANNEL_OWNER":       {"Only the owner of the channel"},
	"NOT_CHANNEL_MODERATOR":   {"Only the owner of the channel or one of its moderators"},
	"NOT_SELF":                {"only its own user's data"},
}

// TestForbiddenSaysWhatIsRequired calls every operation with tokens of a kind that it does
// not accept, without scopes, and without a relation.
func TestForbiddenSaysWhatIsRequired(t *testing.T) {
	t.Parallel()
	s := start(t)
	acting := s.AsService(t)
	acting.ActingUser = servertest.Viewer
	callers := map[string]servertest.Credentials{
		"a user without a relation": s.As(t, servertest.Viewer), "a user without scopes": narrow(t, s, servertest.Owner),
		"an app": s.AsApp(t), "an app without scopes": s.Token(t, authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard}),
		"a backend": s.AsService(t), "a backend for a user": acting,
	}
	seen := map[string]bool{}
	for _, o := range declaredOperations() {
		for name, caller := range callers {
			r, outcome := s.CallREST(t, caller, o.method, o.path, anyArguments)
			if r.Status != http.StatusForbidden {
				continue
			}
			seen[outcome.Reason] = true
			body := wantRefused(t, r, http.StatusForbidden, outcome.Reason)
			name := o.method + " " + o.path + " by " + name
			wantRequirement(t, name, body)
			if outcome.Reason == "SCOPE_MISSING" && !strings.Contains(r.Header.Get("WWW-Authenticate"), `scope="`+body.Data.RequiredScope+`"`) {
				t.Errorf("%s: WWW-Authenticate is %q, want it to name the scope", name, r.Header.Get("WWW-Authenticate"))
			}
			_, overGRPC := s.CallGRPC(t, caller, o.method, o.path, knownArguments(t, o))
			if diff := cmp.Diff(outcome, overGRPC); diff != "" {
				t.Errorf("%s (-REST +gRPC):\n%s", name, diff)
			}
		}
	}
	for code := range requirements {
		if !seen[code] {
			t.Errorf("no operation answers %s", code)
		}
	}
}

// wantRequirement checks that an error says what is required.
func wantRequirement(t *testing.T, name string, body failure) {
	t.Helper()
	want, ok := requirements[body.Data.Code]
	if !ok {
		t.Errorf("%s: %s does not say what is required", name, body.Data.Code)
		return
	}
	required := strings.NewReplacer("{requiredScope}", body.Data.RequiredScope, "{acceptedTokens}", strings.Join(body.Data.AcceptedTokens, ", "))
	if !slices.ContainsFunc(want, func(text string) bool { return strings.Contains(body.Message, required.Replace(text)) }) {
		t.Errorf("%s: the message is %q, want it to contain one of %q", name, body.Message, want)
	}
	if data := body.Data; data.Code == "TOKEN_KIND_NOT_ACCEPTED" && len(data.AcceptedTokens) == 0 || strings.Contains(want[0], "{requiredScope}") && data.RequiredScope == "" {
		t.Errorf("%s: the data of %s does not say what is required", name, data.Code)
	}
}

// knownArguments returns those of anyArguments that the request of an operation has,
// because a gRPC client cannot send others.
func knownArguments(t *testing.T, o operation) servertest.Args {
	t.Helper()
	rpc, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(o.rpc))
	if err != nil {
		t.Fatal(err)
	}
	request := rpc.(protoreflect.MethodDescriptor).Input()
	known := servertest.Args{}
	for name, value := range anyArguments {
		switch field := request.Fields().ByJSONName(name); {
		case field == nil:
		case field.IsList():
			known[name] = []any{value}
		default:
			known[name] = value
		}
	}
	return known
}

func TestForbiddenNamesAlternativeScope(t *testing.T) {
	t.Parallel()
	s := start(t)
	r, _ := s.CallREST(t, narrow(t, s, servertest.Owner), http.MethodDelete, "/v1/chats/messages",
		servertest.Args{"channelId": anyArguments["channelId"], "messageId": anyArguments["userId"]})
	if body := wantRefused(t, r, http.StatusForbidden, "SCOPE_MISSING"); !strings.Contains(body.Message, "channel.moderate, or users.bot") {
		t.Errorf("the message is %q, want it to name users.bot", body.Message)
	}
}
