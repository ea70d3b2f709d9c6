package requests_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/moderato-live/moderato/docs/openapi"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestAuthorization compares the code of every operation, called by every caller, with
// each scope and each id, over both transports, with testdata/authorization.md.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	v := readVerdicts(t)
	s := newScene(t)
	s.wantAllMethods(t, v)
	wantAllRoutes(t, v)
	calls := 0
	for i := range v.sections {
		in := &v.sections[i]
		for _, o := range in.operations {
			for _, c := range callers() {
				calls += s.tryCaller(t, v, in, o, c)
			}
			if o.tokens[0] != "none" {
				calls += s.tryCredentials(t, v, in, o)
			}
		}
	}
	t.Logf("%d calls of %d sections", calls, len(v.sections))
	const fewest = 17_000 // fewer would mean that a part of the table was not read
	if calls < fewest {
		t.Errorf("made %d calls, want at least %d", calls, fewest)
	}
}

// tryCaller calls an operation as a caller, and returns how many calls it made.
func (s *scene) tryCaller(t *testing.T, v *verdicts, in *section, o operation, c *caller) (calls int) {
	t.Helper()
	elsewhere, isEarlier := v.claimed(in, o)
	if c.kind == "service" && isEarlier { // it has the scope of the earlier section as well
		return 0
	}
	for _, column := range in.columns(o, c) {
		verdict := in.callers[c.name][column]
		for _, scope := range c.scopes() {
			if slices.Contains(elsewhere, scope) || isEarlier && scope != o.scope {
				continue
			}
			want := want(o, c, scope, verdict)
			as := identify(s.credentials(t, c, scope))
			for _, transport := range o.transports() {
				args := s.arguments(t, in, o, c, column)
				got := transport.call(s, t, as, o, args)
				calls++
				if !slices.Contains(want, got.code) || transport.status(v.codes[got.code]) != got.status {
					t.Errorf("%s, %s (%s): %s with the scope %q names %s: got %s %s, want %s as in %v",
						o.name(), transport.name, in.title, c, scope, column, got.status, got.code, strings.Join(want, " or "), v.codes[want[0]])
				}
				if got.code == "SCOPE_MISSING" && verdict != got.code && got.requiredScope != o.scope {
					t.Errorf("%s, %s: requires the scope %q, want %q", o.name(), transport.name, got.requiredScope, o.scope)
				}
				if got.code == "OK" {
					s.restore(t, o)
				}
			}
		}
	}
	return calls
}

// tryCredentials calls an operation with credentials that are refused.
func (s *scene) tryCredentials(t *testing.T, v *verdicts, in *section, o operation) (calls int) {
	t.Helper()
	if s.invalid == nil {
		s.invalid = s.refused(t)
	}
	if len(s.invalid) != len(v.credentials) {
		t.Fatalf("there are %d credentials, and the table has %d", len(s.invalid), len(v.credentials))
	}
	args := s.arguments(t, in, o, callers()[0], "none")
	for name, as := range s.invalid {
		for _, transport := range o.transports() {
			got := transport.call(s, t, as, o, args)
			calls++
			if want := v.credentials[name]; got.code != want || got.status != transport.status(v.codes[want]) {
				t.Errorf("%s, %s, %s: got %s %s, want %s", o.name(), transport.name, name, got.status, got.code, want)
			}
		}
	}
	return calls
}

// transport is a way to make a call.
type transport struct {
	name   string
	call   func(*scene, *testing.T, identification, operation, servertest.Args) result
	status func(code) string
}

// transports returns the transports that serve an operation.
func (o operation) transports() []transport {
	overGRPC := transport{"gRPC", (*scene).grpc, func(c code) string { return c.grpc }}
	if o.path == "" {
		return []transport{overGRPC}
	}
	return []transport{{"REST", (*scene).rest, func(c code) string { return c.http }}, overGRPC}
}

// wantAllMethods checks that the table has exactly the methods that the server serves.
func (s *scene) wantAllMethods(t *testing.T, v *verdicts) {
	t.Helper()
	var listed []string
	for _, in := range v.sections {
		for _, o := range in.operations {
			listed = append(listed, o.rpc)
		}
	}
	served := s.servedMethods(t)
	for _, rpc := range served {
		if !slices.Contains(listed, rpc) {
			t.Errorf("the server serves %s, and testdata/authorization.md does not have it", rpc)
		}
	}
	for _, rpc := range listed {
		if !slices.Contains(served, rpc) {
			t.Errorf("testdata/authorization.md has %s, and the server does not serve it", rpc)
		}
	}
}

// servedMethods returns the methods of the server, as reflection lists them.
func (s *scene) servedMethods(t *testing.T) (methods []string) {
	t.Helper()
	stream, err := reflectionv1.NewServerReflectionClient(s.Conn).ServerReflectionInfo(t.Context())
	if err == nil {
		err = stream.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}})
	}
	if err != nil {
		t.Fatal(err)
	}
	response, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	for _, service := range response.GetListServicesResponse().GetService() {
		found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service.GetName()))
		if err != nil {
			t.Fatal(err)
		}
		descriptor, _ := found.(protoreflect.ServiceDescriptor)
		for i := range descriptor.Methods().Len() {
			methods = append(methods, service.GetName()+"/"+string(descriptor.Methods().Get(i).Name()))
		}
	}
	return methods
}

// withoutTokens are the beginnings of paths that authenticate a client and not a token, or
// nobody. The tests of server/domain/oauth are about them.
var withoutTokens = []string{"/.well-known/", "/oauth2/", "/bapi/oauth2/", "/openapi."}

// wantAllRoutes checks that the table has exactly the operations of the OpenAPI document.
func wantAllRoutes(t *testing.T, v *verdicts) {
	t.Helper()
	listed := map[string]bool{}
	for _, in := range v.sections {
		for _, o := range in.operations {
			if o.path != "" {
				listed[o.method+" "+o.path] = false
			}
		}
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(openapi.JSON(), &document); err != nil {
		t.Fatal(err)
	}
	for path, item := range document.Paths {
		if slices.ContainsFunc(withoutTokens, func(prefix string) bool { return strings.HasPrefix(path, prefix) }) {
			continue
		}
		for method := range item {
			name := strings.ToUpper(method) + " " + path
			if _, isListed := listed[name]; !isListed {
				t.Errorf("the OpenAPI document has %s, and testdata/authorization.md does not", name)
			}
			listed[name] = true
		}
	}
	for name, isDocumented := range listed {
		if !isDocumented {
			t.Errorf("testdata/authorization.md has %s, and the OpenAPI document does not", name)
		}
	}
}
