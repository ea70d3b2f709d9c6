package directory_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent/user"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store/counts"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// backend calls a server like a backend of the platform.
type backend struct{ servertest.Backend }

func eachBackend(t *testing.T, test func(t *testing.T, b backend)) {
	t.Helper()
	servertest.EachBackend(t, func(t *testing.T, b servertest.Backend) { test(t, backend{b}) })
}

func (b backend) putUser(r *platformv1.UserRecord) (*platformv1.UserRecord, error) {
	response, err := b.Directory.PutUser(b.Ctx(), &platformv1.PutUserRequest{User: r})
	return response.GetUser(), err
}

func (b backend) putChannel(r *platformv1.ChannelRecord) (*platformv1.ChannelRecord, error) {
	response, err := b.Directory.PutChannel(b.Ctx(), &platformv1.PutChannelRequest{Channel: r})
	return response.GetChannel(), err
}

func (b backend) putCategory(r *platformv1.CategoryRecord) (*platformv1.CategoryRecord, error) {
	response, err := b.Directory.PutCategory(b.Ctx(), &platformv1.PutCategoryRequest{Category: r})
	return response.GetCategory(), err
}

func (b backend) deleteCategory(id int64) error {
	_, err := b.Directory.DeleteCategory(b.Ctx(), &platformv1.DeleteCategoryRequest{CategoryId: id})
	return err
}

func (b backend) getUser(r *platformv1.GetUserRequest) (*platformv1.UserRecord, error) {
	response, err := b.Directory.GetUser(b.Ctx(), r)
	return response.GetUser(), err
}

func (b backend) getChannel(id string) (*platformv1.ChannelRecord, error) {
	response, err := b.Directory.GetChannel(b.Ctx(), &platformv1.GetChannelRequest{ChannelId: id})
	return response.GetChannel(), err
}

const (
	newID      = "0b6feeee-0000-4000-8000-00000000000a"
	anotherID  = "0b6feeee-0000-4000-8000-00000000000b"
	newIDUpper = "0B6FEEEE-0000-4000-8000-00000000000A"
)

func TestPutUserStoresReturnedRecord(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		for _, c := range []struct {
			name      string
			put, want *platformv1.UserRecord
		}{
			{
				"a whole user",
				&platformv1.UserRecord{Id: newID, Username: "New.User", DisplayName: "New User", AvatarUrl: "https://img.example.com/n.png"},
				&platformv1.UserRecord{Id: newID, Username: "New.User", DisplayName: "New User", AvatarUrl: "https://img.example.com/n.png"},
			},
			{
				"the username only, which becomes the display name and clears the rest",
				&platformv1.UserRecord{Id: newID, Username: "New.User"},
				&platformv1.UserRecord{Id: newID, Username: "New.User", DisplayName: "New.User"},
			},
			{
				"an id in upper case, a display name to trim and normalise",
				&platformv1.UserRecord{Id: newIDUpper, Username: "NEW.user", DisplayName: "  Zoe\u0308 "},
				&platformv1.UserRecord{Id: newID, Username: "NEW.user", DisplayName: "Zoë"},
			},
			{
				"another username",
				&platformv1.UserRecord{Id: newID, Username: "renamed"},
				&platformv1.UserRecord{Id: newID, Username: "renamed", DisplayName: "renamed"},
			},
		} {
			got, err := b.putUser(c.put)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			servertest.WantSame(t, c.name, got, c.want)
			for _, name := range []string{c.want.GetUsername(), strings.ToUpper(c.want.GetUsername())} {
				got, err = b.getUser(&platformv1.GetUserRequest{Username: name})
				if err != nil {
					t.Errorf("%s, by username %s: %v", c.name, name, err)
				}
				servertest.WantSame(t, c.name+", by username", got, c.want)
			}
			got, err = b.getUser(&platformv1.GetUserRequest{UserId: strings.ToUpper(newID)})
			if err != nil {
				t.Errorf("%s, by id: %v", c.name, err)
			}
			servertest.WantSame(t, c.name+", by id", got, c.want)
			b.WantUnchanged(c.name+", repeated", func() error { _, err := b.putUser(c.put); return err })
		}
		_, err := b.getUser(&platformv1.GetUserRequest{Username: "new.user"})
		servertest.WantError(t, "the username of before", err, "USER_NOT_FOUND")
		b.Must(b.putUser(&platformv1.UserRecord{Id: anotherID, Username: "New.User"}))
	})
}

func TestUsernameIsUniqueIgnoringCase(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		for _, name := range []string{"Ines", "ines", "INES"} {
			_, err := b.putUser(&platformv1.UserRecord{Id: newID, Username: name})
			servertest.WantError(t, "a new user called "+name, err, "USERNAME_TAKEN")
			if got := status.Code(err); got != codes.AlreadyExists {
				t.Errorf("%s: got code %s, want AlreadyExists", name, got)
			}
			_, err = b.putUser(&platformv1.UserRecord{Id: servertest.Viewer.String(), Username: name})
			servertest.WantError(t, "a user who is renamed to "+name, err, "USERNAME_TAKEN")
		}
		if storetest.Must(b.Store.Read.User.Query().Where(user.ID(uid.MustParse(newID))).Exist(context.Background())) {
			t.Error("a refused user is there")
		}
	})
}

// TestConcurrentUsersCannotShareUsername has new and existing users concurrently take one
// name in several spellings: exactly one must have it afterwards.
func TestConcurrentUsersCannotShareUsername(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		ids := []string{newID, anotherID, servertest.Viewer.String(), servertest.Raider.String()}
		for _, name := range []string{"racer", "sprinter", "runner"} {
			var all sync.WaitGroup
			errs := make([]error, len(ids))
			for i, id := range ids {
				spelling := strings.ToUpper(name[:i+1]) + name[i+1:]
				all.Go(func() { _, errs[i] = b.putUser(&platformv1.UserRecord{Id: id, Username: spelling}) })
			}
			all.Wait()
			won := 0
			for i, err := range errs {
				if err == nil {
					won++
					continue
				}
				servertest.WantError(t, ids[i]+" as "+name, err, "USERNAME_TAKEN")
			}
			if won != 1 {
				t.Errorf("%d users are called %s", won, name)
			}
		}
	})
}

func TestPutChannelStoresReturnedRecord(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		b.Must(b.putCategory(&platformv1.CategoryRecord{Id: 7, Name: "Chess", Slug: "chess"}))
		viewer := servertest.Viewer.String()
		for _, c := range []struct {
			name      string
			put, want *platformv1.ChannelRecord
		}{
			{
				"the least",
				&platformv1.ChannelRecord{Id: viewer, Title: "First"},
				&platformv1.ChannelRecord{Id: viewer, Title: "First", Lang: "en"},
			},
			{
				"everything, to be normalised",
				&platformv1.ChannelRecord{Id: strings.ToUpper(viewer), Title: " Zoe\u0308 ", Bio: " About\u00a0me ", Lang: "PT-br", CategoryId: 7, Tier: 4},
				&platformv1.ChannelRecord{Id: viewer, Title: "Zoë", Bio: "About\u00a0me", Lang: "pt-BR", CategoryId: 7, Tier: 4},
			},
			{
				"omitted fields are reset",
				&platformv1.ChannelRecord{Id: viewer, Title: "Again"},
				&platformv1.ChannelRecord{Id: viewer, Title: "Again", Lang: "en"},
			},
		} {
			got, err := b.putChannel(c.put)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			servertest.WantSame(t, c.name, got, c.want)
			got, err = b.getChannel(strings.ToUpper(viewer))
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			servertest.WantSame(t, c.name+", got", got, c.want)
			b.WantUnchanged(c.name+", repeated", func() error { _, err := b.putChannel(c.put); return err })
			for category, want := range map[int64]int64{c.want.GetCategoryId(): 1, 7 - c.want.GetCategoryId(): 0} {
				if category == 0 {
					want += 2 // the categories of the World
				}
				if n, err := counts.Read(context.Background(), b.Store, []int64{category}, false); err != nil || n != want {
					t.Errorf("%s: %d channels are counted in category %d (%v), want %d", c.name, n, category, err, want)
				}
			}
		}
		if n := storetest.Must(b.Store.Read.Event.Query().Count(context.Background())); n != 0 {
			t.Errorf("the directory emitted %d events", n)
		}
	})
}

func TestPutChannelUpdatesOnlyLiveStream(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		b.Must(b.putCategory(&platformv1.CategoryRecord{Id: 7, Name: "Chess", Slug: "chess"}))
		streams := platformv1.NewStreamServiceClient(b.Conn)
		owner := servertest.Owner.String()
		b.Must(streams.StartStream(b.Ctx(), &platformv1.StartStreamRequest{ChannelId: owner, Title: "yesterday", Lang: "de"}))
		b.Must(streams.EndStream(b.Ctx(), &platformv1.EndStreamRequest{ChannelId: owner}))
		b.Store.Clock.Advance(1e9)
		live, err := streams.StartStream(b.Ctx(), &platformv1.StartStreamRequest{ChannelId: owner, Title: "today", ViewerCount: 42})
		b.Must(live, err)
		b.Must(b.putChannel(&platformv1.ChannelRecord{Id: owner, Title: "now", Lang: "pl", CategoryId: 7}))
		got, err := streams.StartStream(b.Ctx(), &platformv1.StartStreamRequest{ChannelId: owner}) // a repeat, which returns the stream
		b.Must(got, err)
		want := live.GetStream()
		want.Title, want.Lang, want.CategoryId = "now", "pl", proto.Int64(7)
		servertest.WantSame(t, "the live stream", got.GetStream(), want)
		rows := storetest.Must(b.Store.Read.Stream.Query().All(context.Background()))
		for _, r := range rows {
			if r.EndedAt != nil && (r.Title != "yesterday" || r.Lang != "de" || r.CategoryID != 0) {
				t.Errorf("the stream of yesterday became %v", r)
			}
		}
		if len(rows) != 2 {
			t.Errorf("there are %d streams", len(rows))
		}
		for category, want := range map[int64]int64{0: 0, 7: 1} {
			if n, err := counts.Read(context.Background(), b.Store, []int64{category}, true); err != nil || n != want {
				t.Errorf("%d live channels are counted in category %d (%v), want %d", n, category, err, want)
			}
		}
	})
}
