package servertest

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

// Backend calls a server like a backend of the platform.
type Backend struct {
	*Server
	// T is the test that calls.
	T *testing.T
	// Caller is the credentials of the calls.
	Caller Credentials
}

// EachBackend is Each with a Backend.
func EachBackend(t *testing.T, test func(t *testing.T, b Backend)) {
	t.Helper()
	Each(t, func(t *testing.T, s *Server) { test(t, NewBackend(t, s)) })
}

// NewBackend returns a Backend that calls a server.
func NewBackend(t *testing.T, s *Server) Backend { return Backend{s, t, s.AsService(t)} }

// Ctx returns the context of a call.
func (b Backend) Ctx() context.Context { return b.Caller.Context() }

// Dump returns the database without the rows that jobs change at any time.
func (b Backend) Dump() []string {
	b.T.Helper()
	return Dump(b.T, b.Store, "channel_counts", "channel_count_deltas")
}

// Must fails the test for an error.
func (b Backend) Must(_ any, err error) {
	b.T.Helper()
	if err != nil {
		b.T.Fatal(err)
	}
}

// WantError checks the reason of an error and its violations.
func WantError(t *testing.T, what string, err error, reason string, violations ...string) {
	t.Helper()
	got := OutcomeOf(err)
	if got.Reason != reason {
		t.Errorf("%s: got %s (%v), want %s", what, got.Reason, err, reason)
	}
	if diff := cmp.Diff(violations, got.Violations); diff != "" {
		t.Errorf("%s: violations (-want +got):\n%s", what, diff)
	}
}

// WantSame compares two messages.
func WantSame(t *testing.T, what string, got, want proto.Message) {
	t.Helper()
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// WantUnchanged makes calls that must change no row.
func (b Backend) WantUnchanged(what string, calls ...func() error) {
	b.T.Helper()
	before := b.Dump()
	for _, call := range calls {
		if err := call(); err != nil {
			b.T.Errorf("%s: %v", what, err)
		}
	}
	if diff := cmp.Diff(before, b.Dump()); diff != "" {
		b.T.Errorf("%s changed rows (-before +after):\n%s", what, diff)
	}
}

// Call makes the call of DirectoryService or AccessService that takes the request.
func (b Backend) Call(c Credentials, request proto.Message) error {
	b.T.Helper()
	name := strings.TrimSuffix(string(request.ProtoReflect().Descriptor().Name()), "Request")
	for _, file := range []protoreflect.FileDescriptor{
		platformv1.File_moderato_platform_v1_directory_proto, platformv1.File_moderato_platform_v1_access_proto,
	} {
		service := file.Services().Get(0)
		if rpc := service.Methods().ByName(protoreflect.Name(name)); rpc != nil {
			return b.Conn.Invoke(c.Context(), "/"+string(service.FullName())+"/"+name, request, NewMessage(b.T, rpc.Output()))
		}
	}
	b.T.Fatalf("no method takes %T", request)
	return nil
}
