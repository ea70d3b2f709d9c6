package importer_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/ent/user"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/domain/importer"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// batch is the number of records in one transaction.
const batch = 1000

const (
	newID   = "0b6feeee-0000-4000-8000-00000000000a"
	notUUID = " must be a UUID in its 36-character form"
)

// backend calls a server like a backend of the platform.
type backend struct{ servertest.Backend }

func eachBackend(t *testing.T, test func(t *testing.T, b backend)) {
	t.Helper()
	servertest.EachBackend(t, func(t *testing.T, b servertest.Backend) { test(t, backend{b}) })
}

func userRecords(from, to int) []*platformv1.Record {
	var records []*platformv1.Record
	for i := from; i < to; i++ {
		records = append(records, &platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{
			Id: fmt.Sprintf("0b6feeee-0000-4000-8000-%012d", i), Username: fmt.Sprintf("imported%d", i),
		}}})
	}
	return records
}

// imports sends messages of records, and returns the number of stored records or the
// error.
func (b backend) imports(messages ...[]*platformv1.Record) (int64, error) {
	stream, err := b.Bulk.Import(b.Ctx())
	if err != nil {
		return 0, err
	}
	for _, records := range messages {
		if err := stream.Send(&platformv1.ImportRequest{Records: records}); err != nil {
			break // the response has the error
		}
	}
	response, err := stream.CloseAndRecv()
	return response.GetRecords(), err
}

// imported returns how many of userRecords exist.
func (b backend) imported() int {
	return storetest.Must(b.Store.Read.User.Query().Where(user.UsernameHasPrefix("imported")).Count(context.Background()))
}

func wantImportError(t *testing.T, what string, err error, reason string, metadata map[string]string, violations ...string) {
	t.Helper()
	servertest.WantError(t, what, err, reason, violations...)
	if got := servertest.OutcomeOf(err).Metadata; !maps.Equal(got, metadata) {
		t.Errorf("%s: metadata %v, want %v", what, got, metadata)
	}
}

func TestImportAcceptsAnyNumberOfMessages(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		for _, c := range []struct {
			name     string
			messages [][]*platformv1.Record
			want     int64
		}{
			{"none", nil, 0},
			{"empty message", [][]*platformv1.Record{nil}, 0},
			{"one record", [][]*platformv1.Record{userRecords(0, 1)}, 1},
			{"empty messages in between", [][]*platformv1.Record{nil, userRecords(1, 2), nil, userRecords(2, 4), nil}, 3},
			{"a batch and no more", [][]*platformv1.Record{userRecords(0, batch)}, batch},
			{"batches that end within messages", [][]*platformv1.Record{userRecords(0, 700), userRecords(700, 1400), userRecords(1400, 2100)}, 2100},
		} {
			stored, err := b.imports(c.messages...)
			if err != nil || stored != c.want {
				t.Errorf("%s: %d records are stored (%v), want %d", c.name, stored, err, c.want)
			}
			b.WantUnchanged(c.name+", repeated", func() error { _, err := b.imports(c.messages...); return err })
		}
		if got := b.imported(); got != 2100 {
			t.Errorf("there are %d users, want 2100", got)
		}
		if n := storetest.Must(b.Store.Read.Event.Query().Count(context.Background())); n != 0 {
			t.Errorf("an import emitted %d events", n)
		}
	})
}

// TestImportAcceptsMessagesUpTo1MiB sends a message of exactly the maximum size, and a
// larger one, which must be the caller's error and not a server error.
func TestImportAcceptsMessagesUpTo1MiB(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		var log servertest.Buffer
		config := servertest.Config(url)
		config.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		b := backend{servertest.NewBackend(t, s)}
		fill := func(size int) []*platformv1.Record {
			text := strings.Repeat(" ", size) // trimmed
			return []*platformv1.Record{{Kind: &platformv1.Record_Client{Client: &platformv1.ClientRecord{Id: "big", Name: "big" + text}}}}
		}
		if n, err := b.imports(userRecords(0, 1), fill(1<<20-100)); err != nil || n != 2 {
			t.Errorf("just below 1 MiB: %d, %v", n, err)
		}
		_, err := b.imports(userRecords(0, batch), fill(1<<20))
		if status.Code(err) != codes.ResourceExhausted {
			t.Errorf("beyond 1 MiB: %v", err)
		}
		if got := b.imported(); got != batch {
			t.Errorf("before the message of more than 1 MiB %d records are stored, want a batch", got)
		}
		ctx, cancel := context.WithCancel(b.Ctx())
		stream, err := b.Bulk.Import(ctx)
		b.Must(stream, err)
		cancel()
		_, _ = stream.CloseAndRecv()
		s.Stop(t) // waits until the last call has ended
		if text := log.String(); strings.Contains(text, "INTERNAL") {
			t.Errorf("the caller's doing is logged as our fault: %s", text)
		}
	})
}

func TestImportStopsAtInvalidRecord(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		nobody := servertest.Nobody.String()
		follow := func(channel, user string) *platformv1.Record {
			return &platformv1.Record{Kind: &platformv1.Record_Follow{Follow: &platformv1.FollowRecord{ChannelId: channel, UserId: user}}}
		}
		role := &platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{ChannelId: nobody, UserId: servertest.Viewer.String(), Role: "vip"}}}
		owner := servertest.Owner.String()
		for i, c := range []struct {
			name       string
			bad        *platformv1.Record
			reason     string
			violations []string
		}{
			{"no kind of record", &platformv1.Record{}, "INVALID_ARGUMENT", []string{
				" must have one kind of record: " + kinds(),
			}},
			{"a bad argument", &platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{Id: "x", Username: "x"}}}, "INVALID_ARGUMENT", []string{"id" + notUUID}},
			{"unknown reference", role, "CHANNEL_NOT_FOUND", nil},
			{"follow of an unknown user among valid ones", follow(owner, nobody), "USER_NOT_FOUND", nil},
			{"a follow of the own channel", follow(owner, owner), "TARGET_IS_CHANNEL", nil},
		} {
			// The earlier batches are valid; the last batch contains the invalid record,
			// followed by more records.
			earlier := []int{2 * batch, batch, 0, 0, 0}[i]
			good := userRecords((i+1)*10000, (i+1)*10000+earlier+50)
			messages := [][]*platformv1.Record{
				good[:earlier/2], good[earlier/2 : earlier+10], {follow(owner, servertest.Viewer.String()), c.bad, follow(owner, servertest.Raider.String())}, good[earlier+10:],
			}
			before := b.imported()
			_, err := b.imports(messages...)
			wantImportError(t, c.name, err, c.reason, map[string]string{"record": fmt.Sprint(earlier + 12), "stored": fmt.Sprint(earlier)}, c.violations...)
			if got := b.imported() - before; got != earlier {
				t.Errorf("%s: %d records are stored, want those of the batches before", c.name, got)
			}
			if n := storetest.Must(b.Store.Read.Follow.Query().Count(context.Background())); n != 0 {
				t.Errorf("%s: %d follows of its batch are stored", c.name, n)
			}
			// The whole import again, with the invalid record corrected.
			messages[2] = []*platformv1.Record{follow(owner, servertest.Viewer.String()), follow(owner, servertest.Raider.String())}
			if n, err := b.imports(messages...); err != nil || n != int64(earlier+52) {
				t.Errorf("%s, mended: %d, %v", c.name, n, err)
			}
			if got := b.imported() - before; got != earlier+50 {
				t.Errorf("%s, mended: %d users", c.name, got)
			}
			if _, err := b.Store.DB().ExecContext(context.Background(), "DELETE FROM follows"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestImportRequiresServiceToken(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		for name, c := range map[string]servertest.Credentials{"a user": b.As(t, servertest.Owner), "an app": b.AsApp(t)} {
			as := b
			as.Caller = c
			_, err := as.imports(userRecords(0, 1))
			servertest.WantError(t, name, err, "TOKEN_KIND_NOT_ACCEPTED")
		}
		as := b
		as.Caller = servertest.Credentials{}
		_, err := as.imports(userRecords(0, 1))
		servertest.WantError(t, "nobody", err, "TOKEN_MISSING")
		if got := b.imported(); got != 0 {
			t.Errorf("refused imports stored %d records", got)
		}
	})
}

// TestRevocationStopsRunningImport revokes the token between two batches of one call.
func TestRevocationStopsRunningImport(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		c := b.AsService(t)
		stream, err := b.Bulk.Import(c.Context())
		b.Must(stream, err)
		b.Must(nil, stream.Send(&platformv1.ImportRequest{Records: userRecords(0, batch)}))
		for b.imported() < batch { // wait until the first batch is stored
			if t.Context().Err() != nil {
				return
			}
		}
		if _, err := authn.Revoke(t.Context(), b.Store, c.Token, nil); err != nil {
			t.Fatal(err)
		}
		_ = stream.Send(&platformv1.ImportRequest{Records: userRecords(batch, 2*batch+1)})
		_, err = stream.CloseAndRecv()
		wantImportError(t, "the rest", err, "TOKEN_INVALID", map[string]string{"stored": fmt.Sprint(batch)})
		if got := b.imported(); got != batch {
			t.Errorf("%d records are stored, want those of before the revocation", got)
		}
	})
}

// TestImportStoresRecordsOfManyKinds sends one record of many kinds over gRPC, in two
// messages.
func TestImportStoresRecordsOfManyKinds(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		records := userRecords(0, 1)
		owner, viewer := servertest.Owner.String(), servertest.Viewer.String()
		now := timestamppb.New(b.Store.Clock.Local().Time())
		later := timestamppb.New(b.Store.Clock.Local().Time().AddDate(1, 0, 0))
		for _, line := range []string{
			`{"category": {"id": 7, "name": "Chess", "slug": "chess"}}`,
			`{"channel": {"id": "` + viewer + `", "title": "x", "categoryId": 7}}`,
			`{"role": {"channelId": "` + owner + `", "userId": "` + viewer + `", "role": "vip"}}`,
			`{"client": {"id": "imported", "name": "x"}}`,
			`{"grant": {"clientId": "imported", "userId": "` + viewer + `", "scopes": ["users.read"]}}`,
		} {
			records = append(records, mustParse(t, line))
		}
		records = append(records,
			&platformv1.Record{Kind: &platformv1.Record_Message{Message: &platformv1.MessageRecord{Id: newID, ChannelId: owner, UserId: viewer, Text: "x", SentAt: now}}},
			&platformv1.Record{Kind: &platformv1.Record_Follow{Follow: &platformv1.FollowRecord{ChannelId: owner, UserId: viewer}}},
			&platformv1.Record{Kind: &platformv1.Record_Subscription{Subscription: &platformv1.SubscriptionRecord{ChannelId: owner, UserId: viewer, ExpiresAt: later}}},
			&platformv1.Record{Kind: &platformv1.Record_Stream{Stream: &platformv1.StreamRecord{ChannelId: owner, StartedAt: now, Title: "x"}}},
			&platformv1.Record{Kind: &platformv1.Record_Clip{Clip: &platformv1.ClipRecord{ClipId: newID, ChannelId: owner, CreatorId: viewer, Title: "x"}}},
			&platformv1.Record{Kind: &platformv1.Record_Vod{Vod: &platformv1.VodRecord{Id: newID, ChannelId: owner, Title: "x", StartedAt: now, EndedAt: later}}},
			&platformv1.Record{Kind: &platformv1.Record_Vote{Vote: &platformv1.VoteRecord{Id: newID, ChannelId: owner, Username: "x", Amount: 1}}},
			mustParse(t, `{"activity": {"channelId": "`+owner+`", "key": "k", "type": "gift", "info": {"userId": "`+viewer+`"}}}`),
		)
		if n, err := b.imports(records[:5], records[5:]); err != nil || n != int64(len(records)) {
			t.Fatalf("%d records are stored (%v)", n, err)
		}
		servertest.CheckCounters(t, b.Store, "after the import")
		row := storetest.Must(b.Store.Read.Channel.Get(context.Background(), uid.MustParse(owner)))
		if !row.IsLive || row.FollowerCount != 1 || row.SubscriberCount != 1 || row.ClipCount != 1 || row.VodCount != 1 {
			t.Errorf("the channel became %v", row)
		}
	})
}

// kinds lists the kinds of record, in the order of the contract.
func kinds() string {
	var names []string
	for i := range tables.Kinds().Len() {
		names = append(names, tables.Kinds().Get(i).JSONName())
	}
	return strings.Join(names, ", ")
}

func mustParse(t *testing.T, line string) *platformv1.Record {
	t.Helper()
	r, err := importer.ParseRecord([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return r
}
