package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/doctest"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestFeedWalkThrough runs the commands and the program of docs/feed.md beside the demo.
func TestFeedWalkThrough(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.run(t, block(t, "docs/feed.md: Import what exists/1"))
	out := w.run(t, block(t, "docs/feed.md: Call the feed with grpcurl/1"))
	for _, want := range []string{`"sentAt": "`, `"canPost": true`} {
		if !strings.Contains(out, want) {
			t.Errorf("the commands do not print %s:\n%s", want, out)
		}
	}
	program := strings.ReplaceAll(block(t, "docs/feed.md: Call the feed from Go/1"), "127.0.0.1:9090", w.GRPC)
	path := filepath.Join(w.directory, "feed.go")
	if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	// The program is run in the project, and the token issued beside the database.
	run := strings.NewReplacer("$(bin/moderato", "$(cd "+w.directory+" && bin/moderato", "go run feed.go", "go run "+path)
	cmd := w.command(t, run.Replace(block(t, "docs/feed.md: Call the feed from Go/2")))
	cmd.Dir = doctest.Root(t)
	if out, err := cmd.Output(); err != nil || !strings.HasPrefix(string(out), "Posted ") {
		t.Errorf("the program prints %s: %v %s", out, err, stderrOf(err))
	}
}

// TestFeedExamples imports every record, and makes every call, of docs/feed-reference.md.
func TestFeedExamples(t *testing.T) {
	t.Parallel()
	url := store.URL{Path: filepath.Join(t.TempDir(), "moderato.db")}
	storetest.Migrate(t, url)
	lines := strings.TrimSpace(doctest.Read(t, "docs/generate/feed.jsonl"))
	if r := process.Run(t, nil, lines, "import", "--db", url.String(), "-"); r.Code != 0 {
		t.Fatalf("the import of the records fails: %s", r.Err)
	}
	s := servertest.Start(t, servertest.Config(url))
	for _, r := range servertest.World() {
		if r.GetClient() != nil { // that of the calls
			s.Load(t, r)
		}
	}
	b := servertest.NewBackend(t, s)
	page := doctest.Read(t, "docs/feed-reference.md")
	for line := range strings.Lines(lines + "\n") {
		if !strings.Contains(page, "```json\n"+line) && !strings.HasPrefix(line, `{"user":`) {
			t.Errorf("the page has no example %s", line)
		}
	}
	for line := range strings.Lines(doctest.Read(t, "docs/generate/calls.txt")) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		at := strings.Index(rest, "{")
		reason, example := strings.TrimSpace(rest[:at]), rest[at:]
		if !strings.Contains(page, "```json\n"+example+"\n") {
			t.Errorf("the page has no example of %s: run make gen", name)
		}
		err := call(b.Ctx(), t, s.Conn, name, example)
		if err == nil && reason == "" {
			continue
		}
		if err == nil || servertest.OutcomeOf(err).Reason != reason {
			t.Errorf("%s: got %v, want %q", name, err, reason)
		}
	}
}

// call calls a method with a request in JSON. A stream gets one request.
func call(ctx context.Context, t *testing.T, conn *grpc.ClientConn, name, example string) error {
	t.Helper()
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName("moderato.platform.v1." + name))
	if err != nil {
		t.Fatal(err)
	}
	method := d.(protoreflect.MethodDescriptor)
	request, response := dynamicpb.NewMessage(method.Input()), dynamicpb.NewMessage(method.Output())
	if err := protojson.Unmarshal([]byte(example), request); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	path := "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
	if !method.IsStreamingClient() {
		return conn.Invoke(ctx, path, request, response)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: method.IsStreamingServer()}, path)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(request); err != nil {
		return err
	}
	if !method.IsStreamingServer() {
		_ = stream.CloseSend()
	}
	return stream.RecvMsg(response)
}
