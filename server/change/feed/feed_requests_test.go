package feed_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// The ids of the records of the tests.
const (
	clip1  = "0b6fcccc-0000-4000-8000-000000000001"
	emote1 = "0b6feeee-0000-4000-8000-0000000000e1"
	emote2 = "0b6feeee-0000-4000-8000-0000000000e2"
	emote3 = "0b6feeee-0000-4000-8000-0000000000e3"
	vod1   = "0b6fdede-0000-4000-8000-000000000001"
	vote1  = "0b6fabab-0000-4000-8000-000000000001"
)

// feedRequests returns valid calls of each kind. Each changes something if they are made
// in this order.
func feedRequests(now instant.Instant) []proto.Message {
	return append(knownRequests(now), otherRequests(now)...)
}

// otherRequests returns calls of the RPCs that have no request in knownRequests. The
// values of their fields follow from the names of the fields.
func otherRequests(now instant.Instant) (others []proto.Message) {
	missing := feedRPCs()
	for _, request := range knownRequests(now) {
		delete(missing, request.ProtoReflect().Descriptor().FullName())
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		kind, err := protoregistry.GlobalTypes.FindMessageByName(name)
		if err != nil {
			panic(err)
		}
		request := kind.New()
		fields := request.Descriptor().Fields()
		for i := range fields.Len() {
			switch field := fields.Get(i); kindOf(field.JSONName()) {
			case "id":
				id := servertest.Viewer.String()
				if field.JSONName() == "channelId" {
					id = servertest.Owner.String()
				}
				request.Set(field, protoreflect.ValueOfString(id))
			case "key":
				request.Set(field, protoreflect.ValueOfString("key 1"))
			case "natural", "amount", "fact":
				request.Set(field, protoreflect.ValueOfInt64(7))
			}
		}
		others = append(others, request.Interface())
	}
	return others
}

func knownRequests(now instant.Instant) []proto.Message {
	owner, viewer := servertest.Owner.String(), servertest.Viewer.String()
	category, viewers := int64(chess), int64(12)
	return []proto.Message{
		&platformv1.FollowRequest{ChannelId: owner, UserId: viewer},
		&platformv1.SetFollowNotificationsRequest{ChannelId: owner, UserId: viewer, IsNotificationEnabled: true},
		&platformv1.PutSubscriptionRequest{Subscription: &platformv1.SubscriptionRecord{
			ChannelId: owner, UserId: viewer, ExpiresAt: now.Add(720 * time.Hour).Proto(),
		}},
		&platformv1.StartStreamRequest{ChannelId: owner, Title: "Rook endings", Lang: "pt-br", CategoryId: &category},
		&platformv1.UpdateStreamRequest{ChannelId: owner, ViewerCount: &viewers},
		&platformv1.PutClipRequest{Clip: &platformv1.ClipRecord{ClipId: clip1, ChannelId: owner, CreatorId: viewer, Title: "Stalemate"}},
		&platformv1.PutVodRequest{Vod: &platformv1.VodRecord{
			Id: vod1, ChannelId: owner, Title: "Yesterday", StartedAt: now.Add(-time.Hour).Proto(), EndedAt: now.Proto(),
		}},
		&platformv1.PutEmoteRequest{Emote: &platformv1.EmoteRecord{Id: emote1, ChannelId: owner, Name: "GG", ImageUrl: poster}},
		&platformv1.RecordVoteRequest{ChannelId: owner, Id: vote1, UserId: viewer, Amount: 3},
		&platformv1.RecordGiftRequest{ChannelId: owner, Key: "gift 1", UserId: viewer, Count: 5},
		&platformv1.RecordThanksRequest{ChannelId: owner, Key: "thanks 1", UserId: viewer, Amount: 250},
		&platformv1.PutActivityRequest{Activity: &platformv1.ActivityRecord{
			ChannelId: owner, Key: "raid 1", Type: "follower", Info: object(map[string]any{"userId": viewer}),
		}},
		&platformv1.DeleteClipRequest{ClipId: clip1},
		&platformv1.DeleteVodRequest{VodId: vod1},
		&platformv1.DeleteEmoteRequest{EmoteId: emote1},
		&platformv1.EndStreamRequest{ChannelId: owner},
		&platformv1.EndSubscriptionRequest{ChannelId: owner, UserId: viewer},
		&platformv1.UnfollowRequest{ChannelId: owner, UserId: viewer},
	}
}

// TestRepeatedCallsChangeNothing makes every call three times while time passes: after
// the first call, no row of any table may change.
func TestRepeatedCallsChangeNothing(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		for _, request := range feedRequests(f.now) {
			before := f.dump()
			answer := f.must(request)
			if cmp.Equal(before, f.dump()) {
				t.Errorf("%T changed nothing", request)
			}
			f.repeat(request, answer)
		}
	})
}

// TestFailedCallIsRolledBack makes each call fail when it writes its event, which is its
// last step: nothing else of the call may remain.
func TestFailedCallIsRolledBack(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		for _, request := range feedRequests(f.now) {
			row := storetest.Must(f.Store.Read.Channel.Get(context.Background(), servertest.Owner))
			inTheWay := uid.New()
			f.exec("INSERT INTO events (id, channel_id, sequence, type, operation_id, client_id, request_id, occurred_at, payload) VALUES (?, ?, ?, 'x', ?, '', '', 0, '{}')",
				inTheWay, row.ID, row.EventSequence+1, inTheWay)
			before := f.dump()
			_, err := f.call(f.ctx(), request)
			if err != nil && !cmp.Equal(before, f.dump()) {
				t.Errorf("%T failed and changed (-before +after):\n%s", request, cmp.Diff(before, f.dump()))
			}
			f.exec("DELETE FROM events WHERE id = ?", inTheWay)
			if err != nil {
				f.must(request)
			}
			grew := storetest.Must(f.Store.Read.Channel.Get(context.Background(), servertest.Owner)).EventSequence > row.EventSequence
			if grew != (err != nil) {
				t.Errorf("%T: %v, and it has an event: %t", request, err, grew)
			}
		}
	})
}

func (f *platformFeed) exec(statement string, args ...any) {
	f.t.Helper()
	if _, err := f.Store.DB().ExecContext(context.Background(), statement, args...); err != nil {
		f.t.Fatal(err)
	}
}

// TestFeedRequiresServiceToken calls with other tokens, with valid and invalid requests:
// the error must not reveal what else is wrong.
func TestFeedRequiresServiceToken(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		revoked := f.AsService(t)
		if _, err := authn.Revoke(context.Background(), f.Store, revoked.Token, nil); err != nil {
			t.Fatal(err)
		}
		claiming := f.owners[servertest.Owner]
		claiming.ActingUser = servertest.Owner
		for name, c := range map[string]struct {
			as   servertest.Credentials
			want string
		}{
			"nobody":                         {servertest.Credentials{}, "TOKEN_MISSING"},
			"the owner":                      {f.owners[servertest.Owner], "TOKEN_KIND_NOT_ACCEPTED"},
			"the user":                       {f.viewer, "TOKEN_KIND_NOT_ACCEPTED"},
			"user with acting-user":          {claiming, "TOKEN_KIND_NOT_ACCEPTED"},
			"an app":                         {f.AsApp(t), "TOKEN_KIND_NOT_ACCEPTED"},
			"a backend without a client-id":  {servertest.Credentials{Token: f.backend.Token}, "CLIENT_ID_MISSING"},
			"a backend with a revoked token": {revoked, "TOKEN_INVALID"},
		} {
			before := f.dump()
			for _, good := range feedRequests(f.now) {
				for _, request := range []proto.Message{good, good.ProtoReflect().New().Interface()} {
					if _, err := f.call(c.as.Context(), request); refusalOf(err)[0] != c.want {
						t.Errorf("%s, %T: got %v, want %s", name, request, refusalOf(err), c.want)
					}
				}
			}
			if diff := cmp.Diff(before, f.dump()); diff != "" {
				t.Errorf("%s changed (-before +after):\n%s", name, diff)
			}
		}
	})
}

// TestRevokedTokenCannotWrite revokes a token that the server has just used and still
// caches: a change must look it up in its own transaction.
func TestRevokedTokenCannotWrite(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		backend := f.AsService(t)
		requests := feedRequests(f.now)
		if _, err := f.call(backend.Context(), requests[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := authn.Revoke(context.Background(), f.Store, backend.Token, nil); err != nil {
			t.Fatal(err)
		}
		before := f.dump()
		for _, request := range requests {
			if _, err := f.call(backend.Context(), request); refusalOf(err)[0] != "TOKEN_INVALID" {
				t.Errorf("%T: %v", request, err)
			}
		}
		if diff := cmp.Diff(before, f.dump()); diff != "" {
			t.Errorf("a revoked token changed (-before +after):\n%s", diff)
		}
	})
}

// TestBackendActsForUser checks that events name the user for whom a backend acts.
func TestBackendActsForUser(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		acting := f.backend
		acting.ActingUser = servertest.Raider
		for _, request := range feedRequests(f.now) {
			if _, err := f.call(acting.Context(), request); err != nil {
				t.Errorf("%T: %v", request, err)
			}
		}
		rows := storetest.Must(f.Store.Read.Event.Query().All(context.Background()))
		for _, row := range rows {
			if row.ActorID == nil || *row.ActorID != servertest.Raider || row.ClientID != servertest.ChatServer {
				t.Errorf("%s: actor %v through %q", row.Type, row.ActorID, row.ClientID)
			}
		}
		if want := 9 + len(otherRequests(f.now)); len(rows) != want {
			t.Errorf("%d events, want %d", len(rows), want)
		}
	})
}

// edit returns a copy of a request with the field at a path of JSON names set to value.
func edit(request proto.Message, path []string, value any) proto.Message {
	changed := proto.Clone(request)
	m := changed.ProtoReflect()
	for _, name := range path[:len(path)-1] {
		m = m.Mutable(m.Descriptor().Fields().ByJSONName(name)).Message()
	}
	field := m.Descriptor().Fields().ByJSONName(path[len(path)-1])
	switch v := value.(type) {
	case nil:
		m.Clear(field)
	case proto.Message:
		m.Set(field, protoreflect.ValueOfMessage(v.ProtoReflect()))
	default:
		m.Set(field, protoreflect.ValueOf(v))
	}
	return changed
}

// pathsOf returns the paths of all fields of a request.
func pathsOf(d protoreflect.MessageDescriptor) (paths [][]string) {
	for i := range d.Fields().Len() {
		field := d.Fields().Get(i)
		if m := field.Message(); m != nil && m.ParentFile().Package() == "moderato.platform.v1" {
			for _, path := range pathsOf(m) {
				paths = append(paths, append([]string{field.JSONName()}, path...))
			}
			continue
		}
		paths = append(paths, []string{field.JSONName()})
	}
	return paths
}

// TestUnknownReferencesAreRejected sets each field that refers to a record to an unknown
// id.
func TestUnknownReferencesAreRejected(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		nobody, noChannel := servertest.Nobody.String(), servertest.Raider.String()
		for _, request := range feedRequests(f.now) {
			for _, path := range pathsOf(request.ProtoReflect().Descriptor()) {
				switch path[len(path)-1] {
				case "channelId":
					f.refuse(edit(request, path, nobody), "CHANNEL_NOT_FOUND")
					f.refuse(edit(request, path, noChannel), "CHANNEL_NOT_FOUND")
				case "userId", "creatorId":
					f.refuse(edit(request, path, nobody), "USER_NOT_FOUND")
				case "categoryId":
					f.refuse(edit(request, path, int64(99)), "CATEGORY_NOT_FOUND")
					f.refuse(edit(request, path, int64(-1)), "CATEGORY_NOT_FOUND")
				case "info":
					f.refuse(edit(request, path, object(map[string]any{"userId": nobody})), "USER_NOT_FOUND")
				}
			}
			if request.ProtoReflect().Descriptor().ParentFile() == platformv1.File_moderato_platform_v1_audience_proto {
				path := []string{"userId"}
				if _, isPut := request.(*platformv1.PutSubscriptionRequest); isPut {
					path = []string{"subscription", "userId"}
				}
				f.refuse(edit(request, path, servertest.Owner.String()), "TARGET_IS_CHANNEL")
			}
		}
	})
}

// TestUserPendingDeletionIsUnknown deletes a user whose row remains for a while.
func TestUserPendingDeletionIsUnknown(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		f.exec("UPDATE users SET deleted_at = ? WHERE id = ?", int64(f.now), servertest.Viewer)
		for _, request := range feedRequests(f.now) {
			names := slices.ContainsFunc(pathsOf(request.ProtoReflect().Descriptor()), func(path []string) bool {
				return slices.Contains([]string{"userId", "creatorId", "info"}, path[len(path)-1])
			})
			if _, err := f.call(f.ctx(), request); names && refusalOf(err)[0] != "USER_NOT_FOUND" {
				t.Errorf("%T: %v", request, err)
			}
		}
	})
}

// TestUUIDsAreCaseInsensitive checks that UUIDs of either case are the same id, and are
// returned in lower case.
func TestUUIDsAreCaseInsensitive(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		for _, request := range feedRequests(f.now) {
			upper := proto.Clone(request)
			for _, path := range pathsOf(request.ProtoReflect().Descriptor()) {
				if slices.Contains([]string{"channelId", "userId", "creatorId", "clipId", "vodId", "emoteId", "id"}, path[len(path)-1]) {
					upper = edit(upper, path, upperOf(upper, path))
				}
			}
			answer := f.must(request)
			if proto.Equal(upper, request) {
				t.Fatal(errors.New("nothing is upper case"))
			}
			f.repeat(upper, answer)
		}
	})
}

func upperOf(request proto.Message, path []string) string {
	m := request.ProtoReflect()
	for _, name := range path[:len(path)-1] {
		m = m.Get(m.Descriptor().Fields().ByJSONName(name)).Message()
	}
	id := uid.MustParse(m.Get(m.Descriptor().Fields().ByJSONName(path[len(path)-1])).String())
	return fmt.Sprintf("%X-%X-%X-%X-%X", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
