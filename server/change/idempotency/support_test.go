package idempotency_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/jsonapi"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/test/servertest"
)

const (
	banPath    = "/v1/moderation/ban"
	mutePath   = "/v1/moderation/mute"
	banMethod  = moderatov1.ModerationService_BanUser_FullMethodName
	muteMethod = moderatov1.ModerationService_MuteUser_FullMethodName
)

// newKey returns a new idempotency key.
func newKey() string { return rand.Text() }

// change is one request with an idempotency key.
type change struct {
	caller servertest.Credentials
	key    string
	// method is the full name in gRPC. httpMethod and path are empty for an operation of
	// the platform's backends.
	method, httpMethod, path string
	request                  proto.Message
}

// changeOf returns the change that a method makes.
func changeOf(t *testing.T, caller servertest.Credentials, method string, request proto.Message) change {
	t.Helper()
	c := change{caller: caller, key: newKey(), method: method, request: request}
	rule, _ := proto.GetExtension(descriptorOf(t, method).Options(), annotations.E_Http).(*annotations.HttpRule)
	switch {
	case rule.GetPost() != "":
		c.httpMethod, c.path = http.MethodPost, rule.GetPost()
	case rule.GetDelete() != "":
		c.httpMethod, c.path = http.MethodDelete, rule.GetDelete()
	}
	return c
}

// descriptorOf returns the method with a full name.
func descriptorOf(t *testing.T, method string) protoreflect.MethodDescriptor {
	t.Helper()
	for d := range authz.Methods() {
		if nameOf(d) == method {
			return d
		}
	}
	t.Fatalf("the contract has no method %s", method)
	return nil
}

func nameOf(d protoreflect.MethodDescriptor) string {
	return fmt.Sprintf("/%s/%s", d.Parent().FullName(), d.Name())
}

// isWrite reports whether a method accepts an idempotency key.
func isWrite(d protoreflect.MethodDescriptor) bool {
	options, _ := d.Options().(*descriptorpb.MethodOptions)
	return options.GetIdempotencyLevel() != descriptorpb.MethodOptions_NO_SIDE_EFFECTS && !d.IsStreamingClient() && !d.IsStreamingServer()
}

// ban returns the ban of a user by the owner.
func ban(t *testing.T, s *servertest.Server, user uid.ID) change {
	t.Helper()
	return changeOf(t, s.As(t, servertest.Owner), banMethod, &moderatov1.BanUserRequest{ChannelId: servertest.Owner.String(), BanUserId: user.String()})
}

// mute returns the mute of a user by the owner. A second mute is refused, unlike a second
// ban.
func mute(t *testing.T, s *servertest.Server, user uid.ID) change {
	t.Helper()
	return changeOf(t, s.As(t, servertest.Owner), muteMethod, &moderatov1.MuteUserRequest{ChannelId: servertest.Owner.String(), MutedUserId: user.String()})
}

// answer is the answer to a change over either transport.
type answer struct {
	// reason is OK or the reason of the error.
	reason   string
	isReplay bool
	message  proto.Message       // over gRPC
	err      error               // over gRPC
	rest     servertest.Response // over REST
}

// overGRPC makes the change over gRPC.
func (c change) overGRPC(t *testing.T, s *servertest.Server) answer {
	t.Helper()
	response := servertest.NewMessage(t, descriptorOf(t, c.method).Output())
	var header metadata.MD
	ctx := metadata.AppendToOutgoingContext(c.caller.Context(), idempotency.MetadataKey, c.key)
	err := s.Conn.Invoke(ctx, c.method, c.request, response, grpc.Header(&header))
	replayed := strings.Join(header.Get(idempotency.ReplayedKey), ",")
	if replayed != "" && replayed != "true" {
		t.Errorf("%s: %s is %q", c.method, idempotency.ReplayedKey, replayed)
	}
	return answer{reason: servertest.OutcomeOf(err).Reason, isReplay: replayed == "true", message: response, err: err}
}

// overREST makes the change over REST.
func (c change) overREST(t *testing.T, s *servertest.Server) answer {
	t.Helper()
	r := s.Request(t, c.caller, c.httpMethod, c.path, string(jsonapi.Marshal(c.request)))
	r.Header.Set("Idempotency-Key", c.key)
	response := s.Do(t, r)
	replayed := strings.Join(response.Header.Values("Idempotent-Replayed"), ",")
	if replayed != "" && replayed != "true" {
		t.Errorf("%s: Idempotent-Replayed is %q", c.path, replayed)
	}
	return answer{reason: servertest.ReasonOf(t, response), isReplay: replayed == "true", rest: response}
}

// withOtherArguments returns the change with a different first text of its request.
func (c change) withOtherArguments() (_ change, hasText bool) {
	c.request = proto.Clone(c.request)
	return c, alter(c.request.ProtoReflect())
}

func alter(m protoreflect.Message) (hasText bool) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsList() || field.IsMap():
		case field.Kind() == protoreflect.StringKind:
			m.Set(field, protoreflect.ValueOfString(value.String()+"0"))
			hasText = true
		case field.Kind() == protoreflect.MessageKind:
			hasText = alter(value.Message())
		}
		return !hasText
	})
	return hasText
}

// count returns the number of rows of a table.
func count(t *testing.T, s *servertest.Server, table string) (n int) {
	t.Helper()
	rows, err := s.Store.Read.QueryContext(context.Background(), "SELECT COUNT(*) FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	if !rows.Next() || rows.Scan(&n) != nil {
		t.Fatalf("%s is not counted: %v", table, rows.Err())
	}
	return n
}
