package moderato_test

import (
	"net"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	moderato "github.com/moderato-live/moderato/clients/go"
)

// attempt is a call as a server received it.
type attempt struct {
	method   string
	metadata metadata.MD
	request  []byte
}

// stub is a server that answers every call with what answer returns.
type stub struct {
	address string
	// answer returns the error of a call, given how many calls came before.
	answer func(before int, s grpc.ServerStream) error

	mu       sync.Mutex
	attempts []attempt
}

func newStub(t *testing.T, answer func(before int, s grpc.ServerStream) error) *stub {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &stub{address: l.Addr().String(), answer: answer}
	server := grpc.NewServer(grpc.UnknownServiceHandler(s.handle))
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	return s
}

func (s *stub) handle(_ any, stream grpc.ServerStream) error {
	var request emptypb.Empty // keeps the fields as unknown ones
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	method, _ := grpc.MethodFromServerStream(stream)
	md, _ := metadata.FromIncomingContext(stream.Context())
	s.mu.Lock()
	before := len(s.attempts)
	s.attempts = append(s.attempts, attempt{method, md, request.ProtoReflect().GetUnknown()})
	s.mu.Unlock()
	return s.answer(before, stream)
}

// received returns the calls so far.
func (s *stub) received() []attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attempts[:len(s.attempts):len(s.attempts)]
}

// keys returns the idempotency keys of the calls so far.
func (s *stub) keys() []string {
	var keys []string
	for _, a := range s.received() {
		keys = append(keys, strings.Join(a.metadata.Get("idempotency-key"), " "))
	}
	return keys
}

// unavailable is the error of a server that is shutting down.
func unavailable(int, grpc.ServerStream) error { return status.Error(codes.Unavailable, "draining") }

// unavailableOnce refuses the first call.
func unavailableOnce(before int, s grpc.ServerStream) error {
	if before == 0 {
		return unavailable(before, s)
	}
	return empty(before, s)
}

// empty answers with an empty message.
func empty(_ int, s grpc.ServerStream) error { return s.SendMsg(&emptypb.Empty{}) }

// client returns a client of the stub; changes modify its configuration.
func (s *stub) client(t *testing.T, changes ...func(*moderato.Config)) *moderato.Client {
	t.Helper()
	c := moderato.Config{Address: s.address, Plaintext: true, ClientID: "bot", Tokens: moderato.StaticToken("mdu_test")}
	for _, change := range changes {
		change(&c)
	}
	client, err := moderato.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}
