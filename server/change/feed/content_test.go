package feed_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent/channel"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const (
	noCategory  = `{"id":0,"parentId":null,"name":"Uncategorized","slug":"uncategorized","imageUrl":""}`
	chessOfREST = `{"id":7,"parentId":null,"name":"Chess","slug":"chess","imageUrl":""}`
	inesOfREST  = `{"id":"0b6f0001-0000-4000-8000-00000000000a","username":"Ines","avatarUrl":"https://img.example.com/Ines.png"}`
	amaraOfREST = `{"id":"0b6f0003-0000-4000-8000-00000000000c","username":"amara.okafor","avatarUrl":"https://img.example.com/amara.okafor.png"}`
)

func aClip() *platformv1.ClipRecord {
	return &platformv1.ClipRecord{
		ClipId: clip1, ChannelId: servertest.Owner.String(), CreatorId: servertest.Viewer.String(), Title: "Stalemate",
	}
}

func aVod(start instant.Instant) *platformv1.VodRecord {
	return &platformv1.VodRecord{
		Id: vod1, ChannelId: servertest.Owner.String(), Title: "Yesterday", StartedAt: start.Proto(), EndedAt: start.Add(time.Hour).Proto(),
	}
}

// wantCounted checks the channel's numbers of clips and VODs.
func (f *platformFeed) wantCounted(clips, vods int64) {
	f.t.Helper()
	row := storetest.Must(f.Store.Read.Channel.Query().Where(channel.ID(servertest.Owner)).Only(context.Background()))
	if row.ClipCount != clips || row.VodCount != vods {
		f.t.Errorf("%d clips and %d VODs are counted, want %d and %d", row.ClipCount, row.VodCount, clips, vods)
	}
	servertest.CheckCounters(f.t, f.Store, "content")
}

func TestPutReplaceAndDeleteClip(t *testing.T) {
	const clips, none = "/clips?channelId=0b6f0001-0000-4000-8000-00000000000a", `{"count":0,"rows":[],"pagination":{"cursor":""}}`
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		owner, at := f.owners[servertest.Owner], f.now
		stored := aClip()
		stored.CreatedAt = at.Proto()
		if got, _ := f.once(&platformv1.PutClipRequest{Clip: aClip()}).(*platformv1.PutClipResponse); !proto.Equal(got.GetClip(), stored) {
			t.Errorf("PutClip answers %v, want %v", got, stored)
		}
		f.wantREST(owner, clips,
			`{"count":1,"rows":[{"clipId":%q,"title":"Stalemate","viewCount":0,"duration":0,"previewImgUrl":"","clipUrl":"","creator":%s,"channel":%s,"category":%s}],"pagination":{"cursor":""}}`,
			clip1, amaraOfREST, inesOfREST, noCategory)
		f.wantCounted(1, 0)

		full := aClip()
		full.Title, full.ViewCount, full.Duration, full.CategoryId = " Mate ", 9, 30, chess
		full.PreviewImgUrl, full.ClipUrl = poster, "http://clips.example.com/1"
		want, _ := proto.Clone(full).(*platformv1.ClipRecord)
		want.Title, want.CreatedAt = "Mate", stored.GetCreatedAt() // CreatedAt is omitted, and must remain
		if got, _ := f.once(&platformv1.PutClipRequest{Clip: full}).(*platformv1.PutClipResponse); !proto.Equal(got.GetClip(), want) {
			t.Errorf("PutClip answers %v, want %v", got, want)
		}
		full.CreatedAt = (at - 5).Proto()
		want.CreatedAt = full.GetCreatedAt()
		if got, _ := f.once(&platformv1.PutClipRequest{Clip: full}).(*platformv1.PutClipResponse); !proto.Equal(got.GetClip(), want) {
			t.Errorf("PutClip answers %v, want %v", got, want)
		}
		f.wantREST(owner, clips,
			`{"count":1,"rows":[{"clipId":%q,"title":"Mate","viewCount":9,"duration":30,"previewImgUrl":%q,"clipUrl":"http://clips.example.com/1","creator":%s,"channel":%s,"category":%s}],"pagination":{"cursor":""}}`,
			clip1, poster, amaraOfREST, inesOfREST, chessOfREST)
		f.wantCounted(1, 0)

		for path, value := range map[string]uid.ID{"channelId": servertest.Other, "creatorId": servertest.Raider} {
			f.refuse(edit(&platformv1.PutClipRequest{Clip: full}, []string{"clip", path}, value.String()), "INVALID_ARGUMENT",
				"clip."+path+" must be that of the present clip, which does not change")
		}
		f.once(&platformv1.DeleteClipRequest{ClipId: clip1})
		f.wantREST(owner, clips, none)
		f.wantCounted(0, 0)

		// The id can be used again, also in another channel.
		full.ChannelId = servertest.Other.String()
		f.must(&platformv1.PutClipRequest{Clip: full})
		f.wantCounted(0, 0)
		f.wantEvents(servertest.Owner)
		f.wantActivities(servertest.Owner)
	})
}

// emotesOf returns the response with emotes, over REST.
func (f *platformFeed) emotesOf(path string) servertest.Response {
	return f.REST(f.t, f.owners[servertest.Owner], "GET", "/v1/emotes/"+path, "")
}

func (f *platformFeed) wantEmotes(path, want string) {
	f.t.Helper()
	if r := f.emotesOf(path); !strings.Contains(r.Body, `"data":[`+want+`]`) {
		f.t.Errorf("%s: got %d %s, want %s", path, r.Status, r.Body, want)
	}
}

func TestPutReplaceAndDeleteEmote(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		channel := "channels/" + servertest.Owner.String()
		put := func(id, channel, name string, isPublic bool) *platformv1.PutEmoteRequest {
			return &platformv1.PutEmoteRequest{Emote: &platformv1.EmoteRecord{Id: id, ChannelId: channel, Name: name, ImageUrl: poster, IsPublic: isPublic}}
		}
		row := func(id, name string, isPublic bool) string {
			return fmt.Sprintf(`{"id":%q,"name":%q,"imageUrl":%q,"isPublic":%t}`, id, name, poster, isPublic)
		}
		owner := servertest.Owner.String()
		f.wantEmotes(channel, "")
		mine := put(emote1, strings.ToUpper(owner), " gg ", false)
		want := put(emote1, owner, "gg", false).GetEmote()
		if got, _ := f.once(mine).(*platformv1.PutEmoteResponse); !proto.Equal(got.GetEmote(), want) {
			t.Errorf("PutEmote answers %v, want %v", got, want)
		}
		f.once(put(emote2, owner, "GG", true)) // letter case distinguishes
		f.once(put(emote3, "", "gg", false))   // of the platform
		f.wantEmotes(channel, row(emote2, "GG", true)+","+row(emote1, "gg", false))
		f.wantEmotes("blaze", row(emote3, "gg", false))

		f.refuse(put(emote2, owner, "gg", true), "INVALID_ARGUMENT", "emote.name belongs to another emote of the channel")
		f.refuse(put(emote3, owner, "hi", true), "INVALID_ARGUMENT", "emote.channelId must be that of the present emote, which does not change")
		f.refuse(put(emote1, "", "hi", true), "INVALID_ARGUMENT", "emote.channelId must be that of the present emote, which does not change")
		f.refuse(put(clip1, servertest.Nobody.String(), "hi", true), "CHANNEL_NOT_FOUND")
		f.once(put(emote1, owner, "hi", true))
		f.once(&platformv1.DeleteEmoteRequest{EmoteId: emote2})
		f.wantEmotes(channel, row(emote1, "hi", true))
		if r := f.emotesOf("channels/" + servertest.Nobody.String()); !strings.Contains(r.Body, `"code":"CHANNEL_NOT_FOUND"`) {
			t.Errorf("of no channel: got %s", r.Body)
		}
		if r := f.emotesOf("channels/x"); !strings.Contains(r.Body, "channelId must be a UUID") {
			t.Errorf("of a damaged id: got %s", r.Body)
		}
		f.wantEvents(servertest.Owner)
	})
}

// TestEmotesOfChannelAreLimited has 4,999 emotes, and calls that each put another one at the
// same time.
func TestEmotesOfChannelAreLimited(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		for _, channel := range []uid.ID{servertest.Owner, {}} {
			for i := range 4999 {
				f.exec("INSERT INTO emotes (id, channel_id, name, image_url, is_public) VALUES (?, ?, ?, 'https://img.example.com/x', ?)", uid.New(), channel, fmt.Sprint(i), false)
			}
			var requests []proto.Message
			for range 4 {
				r := &platformv1.EmoteRecord{Id: uid.New().String(), Name: uid.New().String(), ImageUrl: poster}
				if !channel.IsZero() {
					r.ChannelId = channel.String()
				}
				requests = append(requests, &platformv1.PutEmoteRequest{Emote: r})
			}
			_, errs := f.concurrently(f.Server, requests)
			ended := map[string]int{}
			for _, err := range errs {
				ended[refusalOf(err)[0]]++
			}
			if ended["OK"] != 1 || ended["INVALID_ARGUMENT"] != 3 {
				t.Errorf("channel %v: the calls ended with %v", channel, ended)
			}
		}
		if r := f.emotesOf("blaze"); r.Status != 200 || strings.Count(r.Body, `"id"`) != 5000 {
			t.Errorf("got %d, %d emotes", r.Status, strings.Count(r.Body, `"id"`))
		}
	})
}

func TestPutReplaceAndDeleteVod(t *testing.T) {
	const vods, none = "/vods?channelId=0b6f0001-0000-4000-8000-00000000000a", `{"count":0,"rows":[],"pagination":{"cursor":""}}`
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		owner, start := f.owners[servertest.Owner], f.now
		if got, _ := f.once(&platformv1.PutVodRequest{Vod: aVod(start)}).(*platformv1.PutVodResponse); !proto.Equal(got.GetVod(), aVod(start)) {
			t.Errorf("PutVod answers %v, want %v", got, aVod(start))
		}
		f.wantREST(owner, vods,
			`{"count":1,"rows":[{"id":%q,"previewImgUrl":"","title":"Yesterday","viewCount":0,"duration":0,"startedAt":%q,"endedAt":%q,"category":%s,"channel":%s}],"pagination":{"cursor":""}}`,
			vod1, start, start.Add(time.Hour), noCategory, inesOfREST)
		f.wantCounted(0, 1)

		full := aVod(start - 7)
		full.Title, full.ViewCount, full.Duration, full.CategoryId, full.PreviewImgUrl = "Before", 9, 30, chess, poster
		full.EndedAt = full.GetStartedAt() // a VOD may end at its start
		if got, _ := f.once(&platformv1.PutVodRequest{Vod: full}).(*platformv1.PutVodResponse); !proto.Equal(got.GetVod(), full) {
			t.Errorf("PutVod answers %v, want %v", got, full)
		}
		f.wantREST(owner, vods,
			`{"count":1,"rows":[{"id":%q,"previewImgUrl":%q,"title":"Before","viewCount":9,"duration":30,"startedAt":%q,"endedAt":%q,"category":%s,"channel":%s}],"pagination":{"cursor":""}}`,
			vod1, poster, start-7, start-7, chessOfREST, inesOfREST)
		f.wantCounted(0, 1)

		request := &platformv1.PutVodRequest{Vod: full}
		f.refuse(edit(request, []string{"vod", "channelId"}, servertest.Other.String()), "INVALID_ARGUMENT",
			"vod.channelId must be that of the present VOD, which does not change")
		f.refuse(edit(request, []string{"vod", "endedAt"}, (start-8).Proto()), "INVALID_ARGUMENT", "vod.endedAt must not be before startedAt")

		f.once(&platformv1.DeleteVodRequest{VodId: vod1})
		f.wantREST(owner, vods, none)
		f.wantCounted(0, 0)
		f.wantEvents(servertest.Owner)
		f.wantActivities(servertest.Owner)
	})
}

func TestDeletingMissingContentChangesNothing(t *testing.T) {
	eachFeed(t, func(_ *testing.T, f *platformFeed) {
		f.must(&platformv1.PutClipRequest{Clip: aClip()})
		f.must(&platformv1.PutVodRequest{Vod: aVod(f.now)})
		f.repeat(&platformv1.DeleteClipRequest{ClipId: vod1}, &platformv1.DeleteClipResponse{})
		f.repeat(&platformv1.DeleteVodRequest{VodId: clip1}, &platformv1.DeleteVodResponse{})
		f.wantCounted(1, 1)
	})
}
