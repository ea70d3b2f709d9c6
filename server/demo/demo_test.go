package demo

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/text/language"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
)

// origin is where the demo is served.
const origin = "http://demo.example"

var now = instant.Of(time.Date(2026, 3, 14, 15, 9, 26, 535e6, time.UTC))

// all returns the records of one kind.
func all[T any](get func(*platformv1.Record) *T) []*T {
	var found []*T
	for _, r := range Records(now, origin) {
		if v := get(r); v != nil {
			found = append(found, v)
		}
	}
	return found
}

func TestDemoRecordCounts(t *testing.T) {
	roles, messages := map[string]int{}, map[string]int{}
	bans, banned := map[string]int{}, map[string]bool{}
	for _, r := range all((*platformv1.Record).GetRole) {
		roles[r.GetRole()+r.GetChannelId()]++
	}
	for _, b := range Bans() {
		bans[b.Channel.String()]++
		banned[b.Channel.String()+b.User.String()] = true
	}
	for _, m := range all((*platformv1.Record).GetMessage) {
		if !banned[m.GetChannelId()+m.GetUserId()] {
			messages[m.GetChannelId()]++
		}
	}
	type count struct {
		what           string
		got, low, high int
	}
	counts := []count{
		{"categories", len(all((*platformv1.Record).GetCategory)), 18, 25},
		{"users", len(all((*platformv1.Record).GetUser)), 200, 200},
		{"channels", len(all((*platformv1.Record).GetChannel)), 12, 12},
		{"clients", len(all((*platformv1.Record).GetClient)), 3, 3},
		{"grants", len(all((*platformv1.Record).GetGrant)), 3, 3},
	}
	for _, c := range all((*platformv1.Record).GetChannel) {
		counts = append(counts,
			count{"moderators of " + c.GetTitle(), roles["moderator"+c.GetId()], 3, 6},
			count{"VIPs of " + c.GetTitle(), roles["vip"+c.GetId()], 1, 10},
			count{"OGs of " + c.GetTitle(), roles["og"+c.GetId()], 1, 10},
			count{"lasting messages of " + c.GetTitle(), messages[c.GetId()], 40, 120},
			count{"bans of " + c.GetTitle(), bans[c.GetId()], 2, 4},
		)
	}
	for _, c := range counts {
		t.Run(c.what, func(t *testing.T) {
			if c.got < c.low || c.got > c.high {
				t.Errorf("got %d, want %d to %d", c.got, c.low, c.high)
			}
		})
	}
}

func TestReferencedRecordsComeFirst(t *testing.T) {
	known := map[string]bool{}
	for i, r := range Records(now, origin) {
		key, references := describe(r)
		for _, reference := range references {
			if !known[reference] {
				t.Errorf("record %d, %s: %s does not exist yet", i, key, reference)
			}
		}
		if known[key] {
			t.Errorf("record %d: %s is there already", i, key)
		}
		known[key] = true
	}
}

// describe returns the key of a record and the keys of the records it refers to.
func describe(r *platformv1.Record) (key string, references []string) {
	switch r := r.GetKind().(type) {
	case *platformv1.Record_Category:
		if r.Category.ParentId != nil {
			references = append(references, fmt.Sprint("category ", r.Category.GetParentId()))
		}
		return fmt.Sprint("category ", r.Category.GetId()), references
	case *platformv1.Record_User:
		return "user " + r.User.GetId(), nil
	case *platformv1.Record_Channel:
		return "channel " + r.Channel.GetId(), []string{"user " + r.Channel.GetId(), fmt.Sprint("category ", r.Channel.GetCategoryId())}
	case *platformv1.Record_Role:
		return "role " + r.Role.GetRole() + r.Role.GetChannelId() + r.Role.GetUserId(),
			[]string{"channel " + r.Role.GetChannelId(), "user " + r.Role.GetUserId()}
	case *platformv1.Record_Message:
		return "message " + r.Message.GetId(), []string{"channel " + r.Message.GetChannelId(), "user " + r.Message.GetUserId()}
	case *platformv1.Record_Client:
		return "client " + r.Client.GetId(), nil
	case *platformv1.Record_Grant:
		return "grant " + r.Grant.GetClientId() + r.Grant.GetUserId(), []string{"client " + r.Grant.GetClientId(), "user " + r.Grant.GetUserId()}
	case *platformv1.Record_Follow:
		return "follow " + r.Follow.GetChannelId() + r.Follow.GetUserId(), []string{"channel " + r.Follow.GetChannelId(), "user " + r.Follow.GetUserId()}
	case *platformv1.Record_Subscription:
		return "subscription " + r.Subscription.GetChannelId() + r.Subscription.GetUserId(),
			[]string{"channel " + r.Subscription.GetChannelId(), "user " + r.Subscription.GetUserId()}
	case *platformv1.Record_Stream:
		return "stream " + r.Stream.GetChannelId() + r.Stream.GetStartedAt().String(), []string{"channel " + r.Stream.GetChannelId()}
	case *platformv1.Record_Clip:
		return "clip " + r.Clip.GetClipId(), []string{
			"channel " + r.Clip.GetChannelId(), "user " + r.Clip.GetCreatorId(), fmt.Sprint("category ", r.Clip.GetCategoryId()),
		}
	case *platformv1.Record_Vod:
		return "vod " + r.Vod.GetId(), []string{"channel " + r.Vod.GetChannelId(), fmt.Sprint("category ", r.Vod.GetCategoryId())}
	case *platformv1.Record_Emote:
		if r.Emote.GetChannelId() == "" {
			return "emote " + r.Emote.GetId(), nil
		}
		return "emote " + r.Emote.GetId(), []string{"channel " + r.Emote.GetChannelId()}
	case *platformv1.Record_Vote:
		return "vote " + r.Vote.GetId(), []string{"channel " + r.Vote.GetChannelId()}
	case *platformv1.Record_Raid:
		return "raid " + r.Raid.GetChannelId() + r.Raid.GetKey(), []string{"channel " + r.Raid.GetChannelId(), "user " + r.Raid.GetRaiderId()}
	case *platformv1.Record_Activity:
		return "activity " + r.Activity.GetChannelId() + r.Activity.GetKey(),
			[]string{"channel " + r.Activity.GetChannelId(), "user " + r.Activity.GetInfo().GetFields()["userId"].GetStringValue()}
	}
	return "nothing", []string{"a kind"}
}

func TestUsernamesAreUniqueIgnoringCase(t *testing.T) {
	seen := map[string]string{}
	for _, u := range all((*platformv1.Record).GetUser) {
		slug := strings.ToLower(u.GetUsername())
		if other, ok := seen[slug]; ok {
			t.Errorf("%s and %s", other, u.GetUsername())
		}
		seen[slug] = u.GetUsername()
	}
}

func TestRecordsRespectLimits(t *testing.T) {
	var (
		username = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,40}$`)
		slug     = regexp.MustCompile(`^[a-z0-9_.-]{1,140}$`)
		v4       = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
		slugs    = map[string]bool{}
	)
	within := func(s string, low, high int) bool {
		n := utf8.RuneCountInString(s)
		return utf8.ValidString(s) && n >= low && n <= high && s == strings.TrimSpace(s)
	}
	for _, r := range Records(now, origin) {
		ok := true
		switch r := r.GetKind().(type) {
		case *platformv1.Record_Category:
			c := r.Category
			ok = c.GetId() >= 1 && within(c.GetName(), 1, 140) && slug.MatchString(c.GetSlug()) && c.GetImageUrl() == "" && !slugs[c.GetSlug()]
			slugs[c.GetSlug()] = true
		case *platformv1.Record_User:
			u := r.User
			ok = v4.MatchString(u.GetId()) && username.MatchString(u.GetUsername()) && within(u.GetDisplayName(), 1, 140) && u.GetAvatarUrl() == ""
		case *platformv1.Record_Channel:
			c := r.Channel
			tag, err := language.Parse(c.GetLang())
			ok = err == nil && tag.String() == c.GetLang() && within(c.GetTitle(), 1, 140) && within(c.GetBio(), 1, 300)
		case *platformv1.Record_Role:
			ok = r.Role.GetUserId() != r.Role.GetChannelId() && slices.Contains([]string{"moderator", "vip", "og"}, r.Role.GetRole())
		case *platformv1.Record_Message:
			m := r.Message
			ok = v4.MatchString(m.GetId()) && within(m.GetText(), 1, 500) && !strings.ContainsAny(m.GetText(), "{}")
		case *platformv1.Record_Client:
			ok = len(r.Client.GetId()) <= 64 && username.MatchString(r.Client.GetId()) && within(r.Client.GetName(), 1, 140)
		case *platformv1.Record_Grant:
			ok = slices.Equal(r.Grant.GetScopes(), []string{"users.read"})
		}
		if !ok {
			t.Errorf("%v", r)
		}
	}
}

func TestMessagesAreOrderedWithinTheLastTwoHours(t *testing.T) {
	last := now.Add(-2 * time.Hour)
	for _, m := range all((*platformv1.Record).GetMessage) {
		at := instant.OfProto(m.GetSentAt())
		if at < last || at >= now {
			t.Errorf("%s at %v, after %v", m.GetId(), at, last)
		}
		last = at
	}
}

func TestMostMessagesAreNotByOwner(t *testing.T) {
	messages, owners := all((*platformv1.Record).GetMessage), 0
	for _, m := range messages {
		if m.GetUserId() == m.GetChannelId() {
			owners++
		}
	}
	if owners == 0 || owners > len(messages)/5 {
		t.Errorf("%d of %d are the owners'", owners, len(messages))
	}
}

func TestOnlyTimestampsDependOnNow(t *testing.T) {
	for _, c := range []struct {
		what string
		by   time.Duration
	}{{"the same now", 0}, {"a later now", 1000 * time.Hour}, {"an earlier now", -90 * time.Second}} {
		t.Run(c.what, func(t *testing.T) {
			before, after := Records(now, origin), Records(now.Add(c.by), origin)
			if len(before) != len(after) {
				t.Fatalf("%d records, then %d", len(before), len(after))
			}
			for i := range before {
				shift(after[i].ProtoReflect(), -c.by)
				if !proto.Equal(before[i], after[i]) {
					t.Errorf("%v, then %v", before[i], after[i])
				}
			}
		})
	}
}

// shift adds by to every timestamp in a message.
func shift(m protoreflect.Message, by time.Duration) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Message() == nil || field.IsMap() {
			return true
		}
		if at, ok := value.Message().Interface().(*timestamppb.Timestamp); ok {
			m.Set(field, protoreflect.ValueOfMessage(instant.OfProto(at).Add(by).Proto().ProtoReflect()))
			return true
		}
		shift(value.Message(), by)
		return true
	})
}

func TestDemoFillsEveryList(t *testing.T) {
	kinds := map[string]int{}
	activities := map[string]int{}
	for _, r := range Records(now, origin) {
		field := r.ProtoReflect().WhichOneof(r.ProtoReflect().Descriptor().Oneofs().ByName("kind"))
		kinds[string(field.Name())]++
		activities[r.GetActivity().GetType()]++
	}
	for kind, least := range map[string]int{
		"follow": 1000, "subscription": 100, "stream": 40, "clip": 45, "vod": 36, "vote": 100, "activity": 180, "raid": 24, "emote": 6,
	} {
		if kinds[kind] < least {
			t.Errorf("%d records of %s, want at least %d", kinds[kind], kind, least)
		}
	}
	for _, kind := range activityOrder {
		if activities[kind] != 3*len(channels) {
			t.Errorf("%d activities of %s, want 3 in each channel", activities[kind], kind)
		}
	}
}

func TestDemoIDsAreStable(t *testing.T) {
	cast := People()
	for _, c := range []struct {
		who  string
		got  uid.ID
		want string
	}{
		{"owner", cast.Owner.ID, "bc9a2b75-d34a-4dc1-93aa-b198ebc0888c"},
		{"moderator", cast.Moderator.ID, "8cef16b6-62f4-450c-b4ca-8466819aa8c9"},
		{"viewer", cast.Viewer.ID, "b6dfc78a-4c2e-414d-9551-5b945537bab4"},
		{"raider", cast.Raider.ID, "74875a41-e1a1-482d-8dc6-37d4afe8a4b6"},
	} {
		t.Run(c.who, func(t *testing.T) {
			if c.got.String() != c.want {
				t.Errorf("got %s, want %s", c.got, c.want)
			}
		})
	}
}
