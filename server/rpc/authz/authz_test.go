package authz_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/grpc"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// info returns the description of a service with the methods.
func info(methods ...string) grpc.ServiceInfo {
	var s grpc.ServiceInfo
	for _, m := range methods {
		s.Methods = append(s.Methods, grpc.MethodInfo{Name: m})
	}
	return s
}

func TestCheckCompleteNamesMethodsWithoutPolicy(t *testing.T) {
	for _, c := range []struct {
		name     string
		services map[string]grpc.ServiceInfo
		missing  []string
	}{
		{"no methods", nil, nil},
		{"all have rows", map[string]grpc.ServiceInfo{"moderato.v1.ModerationService": info("BanUser", "MuteUser")}, nil},
		{"a new method", map[string]grpc.ServiceInfo{"moderato.v1.ModerationService": info("BanUser", "BanEverybody")},
			[]string{"/moderato.v1.ModerationService/BanEverybody"}},
		{"a new service", map[string]grpc.ServiceInfo{"moderato.v1.FutureService": info("B", "A"), "moderato.v1.ModerationService": info("BanUser")},
			[]string{"/moderato.v1.FutureService/A", "/moderato.v1.FutureService/B"}},
		{"a known method of another service", map[string]grpc.ServiceInfo{"moderato.v2.ModerationService": info("BanUser")},
			[]string{"/moderato.v2.ModerationService/BanUser"}},
		{"a streaming method", map[string]grpc.ServiceInfo{"moderato.v1.S": {Methods: []grpc.MethodInfo{{Name: "Watch", IsServerStream: true}}}},
			[]string{"/moderato.v1.S/Watch"}},
	} {
		err := authz.CheckComplete(c.services)
		if len(c.missing) == 0 {
			if err != nil {
				t.Errorf("%s: got %v, want no error", c.name, err)
			}
			continue
		}
		want := "no policy for [" + strings.Join(c.missing, " ") + "]: declare option (moderato.options.v1.policy) in the .proto file"
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", c.name, err, want)
		}
	}
}

func TestServerDoesNotStartWithoutPolicy(t *testing.T) {
	const method = moderatov1.ModerationService_MuteUser_FullMethodName
	row := authz.Table[method]
	delete(authz.Table, method)
	defer func() { authz.Table[method] = row }()
	s, err := server.New(context.Background(), servertest.Config(storetest.SQLite(t)))
	if err == nil {
		s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), method) {
		t.Errorf("got %v, want an error that names %s", err, method)
	}
}

// served returns the methods of a running server, as reflection lists them.
func served(t *testing.T) []string {
	t.Helper()
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	stream, err := reflectionv1.NewServerReflectionClient(s.Conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	request := &reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}
	if err := stream.Send(request); err != nil {
		t.Fatal(err)
	}
	response, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, service := range response.GetListServicesResponse().GetService() {
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service.GetName()))
		if err != nil {
			t.Fatal(err)
		}
		methods := d.(protoreflect.ServiceDescriptor).Methods()
		for i := range methods.Len() {
			names = append(names, "/"+service.GetName()+"/"+string(methods.Get(i).Name()))
		}
	}
	return names
}

func TestTableCoversExactlyServedMethods(t *testing.T) {
	rows := slices.Sorted(maps.Keys(authz.Table))
	methods := served(t)
	slices.Sort(methods)
	if !slices.Equal(rows, methods) {
		t.Errorf("got rows for\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(methods, "\n"))
	}
}

func TestOnlyHealthAndReflectionArePublic(t *testing.T) {
	for method, rule := range authz.Table {
		isOurs := strings.HasPrefix(method, "/moderato.")
		if rule.Public == isOurs {
			t.Errorf("%s: got public: %t", method, rule.Public)
		}
		if isOurs && len(rule.Tokens) == 0 {
			t.Errorf("%s accepts no token at all", method)
		}
		if rule.Public && (rule.Tokens != nil || rule.Scope != "" || rule.Relation != 0) {
			t.Errorf("%s is public and asks for something: %+v", method, rule)
		}
		if rule.Scope != "" && !slices.Contains(authn.Scopes(), rule.Scope) {
			t.Errorf("%s asks for the scope %q, which no token can have", method, rule.Scope)
		}
		if (rule.Relation == optionsv1.Relation_RELATION_OWNER || rule.Relation == optionsv1.Relation_RELATION_MODERATOR) && slices.Contains(rule.Tokens, authn.App) {
			// Where backends are accepted, no relation applies to them.
			t.Errorf("%s asks for a relation that %v tokens cannot have", method, rule.Tokens)
		}
	}
}

func TestRESTOperationsAcceptUserTokens(t *testing.T) {
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				m := service.Methods().Get(j)
				name := "/" + string(service.FullName()) + "/" + string(m.Name())
				if !strings.HasPrefix(name, "/moderato.") {
					continue
				}
				// Events are served at /v1/events, which has no annotation.
				onREST := proto.HasExtension(m.Options(), annotations.E_Http) || name == moderatov1.EventsService_WatchEvents_FullMethodName
				backends := slices.Equal(authz.Table[name].Tokens, []authn.Kind{authn.Service})
				if onREST == backends {
					t.Errorf("%s: served over REST: %t, for backends alone: %t", name, onREST, backends)
				}
			}
		}
		return true
	})
}

func TestRuleChecksKindThenScope(t *testing.T) {
	userOnly, both := []authn.Kind{authn.User}, []authn.Kind{authn.User, authn.App}
	callers := map[string]*authn.Caller{ // without scopes
		"user": {Kind: authn.User, UserID: servertest.Viewer}, "app": {Kind: authn.App},
		"backend": {Kind: authn.Service}, "backend for a user": {Kind: authn.Service, UserID: servertest.Viewer},
	}
	kinds := func(tokens string) *apierr.Error {
		return &apierr.Error{Reason: moderatov1.Reason_REASON_TOKEN_KIND_NOT_ACCEPTED, Metadata: map[string]string{"acceptedTokens": tokens}}
	}
	forUser := kinds("user")
	forUser.Message = "This operation accepts a service token only on behalf of a user: send the user's id as acting-user."
	scope := &apierr.Error{Reason: moderatov1.Reason_REASON_SCOPE_MISSING, Metadata: map[string]string{"requiredScope": "channel.moderate"}}
	for _, c := range []struct {
		caller string
		rule   authz.Rule
		want   *apierr.Error
	}{
		{"user", authz.Rule{Tokens: userOnly}, nil},
		{"user", authz.Rule{Tokens: both}, nil},
		{"user", authz.Rule{Tokens: userOnly, Scope: "channel.moderate"}, scope},
		{"user", authz.Rule{Tokens: []authn.Kind{authn.Service}, Scope: "channel.moderate"}, kinds("service")},
		{"user", authz.Rule{Tokens: []authn.Kind{authn.App, authn.Service}}, kinds("app,service")},
		{"app", authz.Rule{Tokens: both}, nil},
		{"app", authz.Rule{Tokens: both, Scope: "channel.moderate"}, scope},
		{"app", authz.Rule{Tokens: userOnly, Scope: "channel.moderate"}, kinds("user")},
		{"backend", authz.Rule{Tokens: both, Scope: "channel.moderate"}, nil},
		{"backend", authz.Rule{Tokens: userOnly, Scope: "channel.moderate"}, forUser},
		{"backend", authz.Rule{Tokens: []authn.Kind{authn.Service}}, nil},
		{"backend for a user", authz.Rule{Tokens: userOnly, Scope: "channel.moderate"}, nil},
		{"backend for a user", authz.Rule{Tokens: []authn.Kind{authn.Service}}, nil},
		{"backend for a user", authz.Rule{Tokens: []authn.Kind{authn.App}}, kinds("app")},
		{"user", authz.Rule{}, kinds("")},
		{"backend", authz.Rule{}, kinds("")},
	} {
		err := c.rule.Check(callers[c.caller])
		var got *apierr.Error
		errors.As(err, &got)
		if (err == nil) != (c.want == nil) || (c.want != nil && (got == nil || got.Reason != c.want.Reason || got.Message != c.want.Message || !maps.Equal(got.Metadata, c.want.Metadata))) {
			t.Errorf("%s by %+v: got %v, want %v", c.caller, c.rule, err, c.want)
		}
	}
}
