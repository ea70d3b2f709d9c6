package feed_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent/channel"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
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
