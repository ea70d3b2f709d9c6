package feed_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/activity"
	"github.com/moderato-live/moderato/ent/event"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/audience"
	"github.com/moderato-live/moderato/server/domain/domains"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/counts"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// Categories of the feed tests.
const chess, music = 7, 8

// platformFeed calls the services that backends feed. Its clock is frozen, so that events
// can be compared to the millisecond.
type platformFeed struct {
	*servertest.Server
	t       *testing.T
	backend servertest.Credentials
	owners  map[uid.ID]servertest.Credentials
	viewer  servertest.Credentials
	now     instant.Instant
	seen    map[uid.ID]int64 // the last checked event of a channel
	noted   map[uid.ID]int64 // the last checked activity of a channel
}

func newFeed(t *testing.T, s *servertest.Server) *platformFeed {
	t.Helper()
	for id, name := range map[int64]string{chess: "Chess", music: "Music"} {
		s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Category{Category: &platformv1.CategoryRecord{
			Id: id, Name: name, Slug: strings.ToLower(name),
		}}})
	}
	now, err := s.Store.Clock.Now(context.Background(), s.Store.Read)
	if err != nil {
		t.Fatal(err)
	}
	f := &platformFeed{
		Server: s, t: t, backend: s.AsService(t), viewer: s.As(t, servertest.Viewer),
		owners: map[uid.ID]servertest.Credentials{servertest.Owner: s.As(t, servertest.Owner), servertest.Other: s.As(t, servertest.Other)},
		seen:   map[uid.ID]int64{}, noted: map[uid.ID]int64{},
	}
	f.to(now)
	return f
}

func eachFeed(t *testing.T, test func(t *testing.T, f *platformFeed)) {
	t.Helper()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) { test(t, newFeed(t, s)) })
}

// eachPair runs a test on two servers that share a database; f calls the first.
func eachPair(t *testing.T, test func(t *testing.T, f *platformFeed, other *servertest.Server)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		first, second := servertest.Start(t, servertest.Config(url)), servertest.Start(t, servertest.Config(url))
		first.Load(t, servertest.World()...)
		f := newFeed(t, first)
		second.Store.Clock.Freeze(f.now)
		test(t, f, second)
	})
}

// to sets the clock.
func (f *platformFeed) to(at instant.Instant) {
	f.now = at
	f.Store.Clock.Freeze(at)
}

// later advances the clock.
func (f *platformFeed) later(d time.Duration) { f.to(f.now.Add(d)) }

func (f *platformFeed) ctx() context.Context { return f.backend.Context() }

// feedRPCs returns the calls of the three services by the name of their request.
func feedRPCs() map[protoreflect.FullName]protoreflect.MethodDescriptor {
	rpcs := map[protoreflect.FullName]protoreflect.MethodDescriptor{}
	for _, file := range []protoreflect.FileDescriptor{
		platformv1.File_moderato_platform_v1_audience_proto, platformv1.File_moderato_platform_v1_stream_proto,
		platformv1.File_moderato_platform_v1_content_proto,
	} {
		methods := file.Services().Get(0).Methods()
		for i := range methods.Len() {
			rpcs[methods.Get(i).Input().FullName()] = methods.Get(i)
		}
	}
	return rpcs
}

// call makes the call that takes the request.
func (f *platformFeed) call(as context.Context, request proto.Message) (proto.Message, error) {
	f.t.Helper()
	rpc := feedRPCs()[request.ProtoReflect().Descriptor().FullName()]
	kind, err := protoregistry.GlobalTypes.FindMessageByName(rpc.Output().FullName())
	if err != nil {
		f.t.Fatal(err)
	}
	response := kind.New().Interface()
	return response, f.Conn.Invoke(as, fmt.Sprintf("/%s/%s", rpc.Parent().FullName(), rpc.Name()), request, response)
}

func (f *platformFeed) must(request proto.Message) proto.Message {
	f.t.Helper()
	response, err := f.call(f.ctx(), request)
	if err != nil {
		f.t.Fatalf("%T: %v", request, err)
	}
	return response
}

// refuse checks that a call is rejected with a reason, or with violations of fields
// ("field description"), and changes no table.
func (f *platformFeed) refuse(request proto.Message, reason string, violations ...string) {
	f.t.Helper()
	before := f.dump()
	_, err := f.call(f.ctx(), request)
	if diff := cmp.Diff(append([]string{reason}, violations...), refusalOf(err)); diff != "" {
		f.t.Errorf("%T %v (-want +got):\n%s", request, request, diff)
	}
	if diff := cmp.Diff(before, f.dump()); diff != "" {
		f.t.Errorf("%T was refused and changed (-before +after):\n%s", request, diff)
	}
}

// refusalOf returns the reason of an error, followed by its violations.
func refusalOf(err error) []string {
	if err == nil {
		return []string{"OK"}
	}
	got := []string{err.Error()}
	for _, detail := range status.Convert(err).Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			got[0] = d.GetReason()
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				got = append(got, v.GetField()+" "+v.GetDescription())
			}
		}
	}
	return got
}

// repeat makes a call again, also a while later, and checks that the response is the same
// and no table changes.
func (f *platformFeed) repeat(request, answer proto.Message) {
	f.t.Helper()
	before := f.dump()
	for range 2 {
		if diff := cmp.Diff(fmt.Sprint(answer), fmt.Sprint(f.must(request))); diff != "" {
			f.t.Errorf("repeated %T answers (-want +got):\n%s", request, diff)
		}
		f.later(time.Minute)
	}
	if diff := cmp.Diff(before, f.dump()); diff != "" {
		f.t.Errorf("repeated %T changed (-before +after):\n%s", request, diff)
	}
}

// once makes a call that changes something, and repeats it.
func (f *platformFeed) once(request proto.Message) proto.Message {
	f.t.Helper()
	answer := f.must(request)
	f.repeat(request, answer)
	return answer
}

// dump returns all rows that a feed may change, as text. It adds up the counts of
// channels, because compacting them is not a change, and leaves out channel_metrics, which a
// job writes later.
func (f *platformFeed) dump() (lines []string) {
	f.t.Helper()
	tables := []string{"channels", "users", "categories"}
	for _, table := range domains.Tables() {
		if table.Channel != "" && table.Name != "channel_metrics" {
			tables = append(tables, table.Name)
		}
	}
	for _, table := range tables {
		lines = append(lines, f.dumpTable(table)...)
	}
	for _, category := range []int64{0, chess, music} {
		lines = append(lines, fmt.Sprintf("category %d: %d of %d are live", category, f.count(category, true), f.count(category, false)))
	}
	return lines
}

func (f *platformFeed) dumpTable(table string) (lines []string) {
	f.t.Helper()
	rows, err := f.Store.DB().QueryContext(context.Background(), "SELECT * FROM "+table+" ORDER BY 1, 2")
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	for err == nil && rows.Next() {
		values, pointers := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
		for i := range values {
			pointers[i] = &values[i]
		}
		err = rows.Scan(pointers...)
		line := table
		for i, name := range columns {
			if name == "position" {
				continue // the position of an event, which the sequencer sets at any time
			}
			line += fmt.Sprintf(" %s=%q", name, values[i])
		}
		lines = append(lines, line)
	}
	if err := errors.Join(err, rows.Err()); err != nil {
		f.t.Fatal(err)
	}
	return lines
}

func (f *platformFeed) count(category int64, liveOnly bool) int64 {
	f.t.Helper()
	n, err := counts.Read(context.Background(), f.Store, []int64{category}, liveOnly)
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

// storedEvent is an event in its stored form.
type storedEvent struct{ kind, actor, target, client, payload string }

// forClients matches the fields that repeat others in the form that clients decode. They
// are the last of a payload. TestEventsHaveTheFieldsThatClientsDecode tests them.
var forClients = regexp.MustCompile(`,"(follower|subscriber|sender|voter|createdAt)":.*}$`)

// byBackend returns an event that the backend caused.
func byBackend(kind string, target uid.ID, payload string, args ...any) storedEvent {
	e := storedEvent{kind: kind, client: servertest.ChatServer, payload: fmt.Sprintf(payload, args...)}
	if !target.IsZero() {
		e.target = target.String()
	}
	return e
}

// byNobody returns an event without an actor.
func byNobody(kind string, target uid.ID, payload string, args ...any) storedEvent {
	e := byBackend(kind, target, payload, args...)
	e.client = ""
	return e
}

// wantEvents checks the events of a channel since the last call: they must be these, in a
// sequence without a gap, and have the current time.
func (f *platformFeed) wantEvents(channel uid.ID, want ...storedEvent) {
	f.t.Helper()
	rows := storetest.Must(f.Store.Read.Event.Query().Where(event.ChannelID(channel), event.SequenceGT(f.seen[channel])).
		Order(ent.Asc(event.FieldSequence)).All(context.Background()))
	got := []storedEvent{}
	for _, row := range rows {
		if f.seen[channel]++; row.Sequence != f.seen[channel] || row.OccurredAt != f.now {
			f.t.Errorf("%s has sequence %d, want %d, and happened at %s, want %s", row.Type, row.Sequence, f.seen[channel], row.OccurredAt, f.now)
		}
		e := storedEvent{kind: row.Type, client: row.ClientID, payload: forClients.ReplaceAllString(row.Payload, "}")}
		if row.ActorID != nil {
			e.actor = row.ActorID.String()
		}
		if row.TargetID != nil {
			e.target = row.TargetID.String()
		}
		got = append(got, e)
	}
	if diff := cmp.Diff(append([]storedEvent{}, want...), got, cmp.AllowUnexported(storedEvent{})); diff != "" {
		f.t.Errorf("events (-want +got):\n%s", diff)
	}
	if kept := storetest.Must(f.Store.Read.Channel.Get(context.Background(), channel)).EventSequence; kept != f.seen[channel] {
		f.t.Errorf("the channel's sequence is %d, want %d", kept, f.seen[channel])
	}
}

// storedActivity is an activity in its stored form.
type storedActivity struct {
	kind, user   string
	at           instant.Instant
	info, action string
}

// noteOf returns an activity of a user; info and args format its info.
func noteOf(kind string, user uid.ID, at instant.Instant, info string, args ...any) storedActivity {
	return storedActivity{kind: kind, user: user.String(), at: at, info: fmt.Sprintf(info, args...), action: "{}"}
}

// wantActivities checks the activities of a channel since the last call: they must be
// these, with the next numbers.
func (f *platformFeed) wantActivities(channel uid.ID, want ...storedActivity) {
	f.t.Helper()
	rows := storetest.Must(f.Store.Read.Activity.Query().Where(activity.ChannelID(channel), activity.NumberGT(f.noted[channel])).
		Order(ent.Asc(activity.FieldNumber)).All(context.Background()))
	got := []storedActivity{}
	for _, row := range rows {
		if f.noted[channel]++; row.Number != f.noted[channel] {
			f.t.Errorf("the activity %s has number %d, want %d", row.Type, row.Number, f.noted[channel])
		}
		n := storedActivity{kind: row.Type, at: row.CreatedAt, info: row.Info, action: row.Action}
		if row.UserID != nil {
			n.user = row.UserID.String()
		}
		got = append(got, n)
	}
	if diff := cmp.Diff(append([]storedActivity{}, want...), got, cmp.AllowUnexported(storedActivity{})); diff != "" {
		f.t.Errorf("activities (-want +got):\n%s", diff)
	}
}

// wantREST checks the data of a GET.
func (f *platformFeed) wantREST(as servertest.Credentials, path, want string, args ...any) {
	f.t.Helper()
	r := f.REST(f.t, as, "GET", "/v1/channels"+path, "")
	var body struct{ Data json.RawMessage }
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil || r.Status != 200 {
		f.t.Fatalf("%s: %d %s", path, r.Status, r.Body)
	}
	if diff := cmp.Diff(fmt.Sprintf(want, args...), string(body.Data)); diff != "" {
		f.t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// cursor returns the cursor of a page, as JSON.
func (f *platformFeed) cursor(path string) string {
	f.t.Helper()
	var body struct {
		Data struct {
			Pagination struct{ Cursor json.RawMessage }
		}
	}
	r := f.REST(f.t, f.owners[servertest.Owner], "GET", "/v1/channels"+path, "")
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
		f.t.Fatal(err)
	}
	return string(body.Data.Pagination.Cursor)
}

// same checks that no table has changed.
func (f *platformFeed) same(before []string) {
	f.t.Helper()
	if diff := cmp.Diff(before, f.dump()); diff != "" {
		f.t.Errorf("what should not change did (-before +after):\n%s", diff)
	}
}

// sweep ends expired subscriptions.
func (f *platformFeed) sweep() {
	f.t.Helper()
	if err := (&audience.Sweeper{Store: f.Store}).Sweep(context.Background()); err != nil {
		f.t.Error(err)
	}
}

// object returns a google.protobuf.Struct.
func object(fields map[string]any) *structpb.Struct {
	s, err := structpb.NewStruct(fields)
	if err != nil {
		panic(err)
	}
	return s
}
