package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// world is a store with the data set of reads, both servers on it, and the requests
// to send to them.
type world struct {
	store           string
	moderato, floor *server
	service         credentials
	owners          []credentials // of the owner of each followed channel
	// followers and channels are pages that exist. Each has the cursors of Moderato
	// and of the floor for the same page, which are empty for the first page of a
	// list.
	followers []page
	channels  []page
}

// page is a page of a list; of is the number of its channel or the id of its
// category.
type page struct {
	of              int
	cursor, byFloor string
}

// cursorOf returns the page's cursor for a server.
func (p page) cursorOf(s *server) string {
	if s.name == "floor" {
		return p.byFloor
	}
	return p.cursor
}

func (b *bench) openWorld(ctx context.Context, store string) (*world, error) {
	db, err := b.database(ctx, store, &reads)
	if err != nil {
		return nil, err
	}
	w := &world{store: store}
	if w.service, err = b.serviceToken(ctx, db); err != nil {
		return nil, err
	}
	if w.moderato, err = b.startModerato(ctx, db); err != nil {
		return nil, err
	}
	if w.floor, err = b.startFloor(ctx, db); err != nil {
		return nil, err
	}
	if w.owners, err = b.issueOwners(ctx, w.moderato, db); err != nil {
		return nil, err
	}
	if err := w.findPages(ctx); err != nil {
		return nil, err
	}
	return w, w.compare(ctx)
}

// issueOwners issues a token to the owner of each of the first ownedChannels
// channels.
func (b *bench) issueOwners(ctx context.Context, s *server, db string) ([]credentials, error) {
	service, err := b.serviceToken(ctx, db)
	if err != nil {
		return nil, err
	}
	conns, closeAll, err := dial(ctx, s, 1)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	ctx = service.outgoing(ctx)
	var tokens []credentials
	for n := range ownedChannels {
		token, err := issueUser(ctx, conns[0], n)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, token)
	}
	return tokens, nil
}

// issueUser issues a token to a user.
func issueUser(ctx context.Context, conn *grpc.ClientConn, n int) (credentials, error) {
	issued, err := platformv1.NewAccessServiceClient(conn).IssueToken(ctx, &platformv1.IssueTokenRequest{
		Kind: platformv1.TokenKind_TOKEN_KIND_USER, ClientId: benchClient, UserId: id(n),
		Scopes: []string{"channel.moderate", "users.read"}, Lifetime: durationpb.New(24 * time.Hour),
	})
	if err != nil {
		return credentials{}, fmt.Errorf("issue token: %w", err)
	}
	return credentials{benchClient, issued.GetToken()}, nil
}

// findPages reads through the lists to collect the cursors of their pages, and
// shuffles them, so that neighbours are unrelated.
func (w *world) findPages(ctx context.Context) error {
	const perCategory = 20
	conns, closeAll, err := dial(ctx, w.moderato, 1)
	if err != nil {
		return err
	}
	defer closeAll()
	client := moderatov1.NewChannelsServiceClient(conns[0])
	for c := range reads.followed {
		next := page{of: c}
		for {
			w.followers = append(w.followers, next)
			res, err := client.ListFollowers(w.owners[c].outgoing(ctx), &moderatov1.ListFollowersRequest{ChannelId: id(c), Cursor: next.cursor})
			if err != nil {
				return fmt.Errorf("list followers: %w", err)
			}
			if next.cursor = res.GetPagination().GetCursor(); next.cursor == "" {
				break
			}
			last := res.GetRows()[len(res.GetRows())-1]
			next.byFloor = fmt.Sprintf("%d.%s", last.GetFollowedAt().AsTime().UnixMilli(), last.GetId())
		}
	}
	for c := range reads.categories {
		next := page{of: c + 1}
		for range perCategory {
			w.channels = append(w.channels, next)
			res, err := client.ListChannels(w.owners[c].outgoing(ctx), &moderatov1.ListChannelsRequest{CategoryId: []int64{int64(c) + 1}, Cursor: next.cursor})
			if err != nil {
				return fmt.Errorf("list channels: %w", err)
			}
			if next.cursor = res.GetPagination().GetCursor(); next.cursor == "" {
				break
			}
			next.byFloor = floorChannelCursor(res.GetRows()[len(res.GetRows())-1])
		}
	}
	shuffle := rand.New(rand.NewPCG(1, 2)) // the same in each run
	for _, pages := range [][]page{w.followers, w.channels} {
		shuffle.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
	}
	return nil
}

// floorChannelCursor returns the floor's cursor after a channel. It derives the
// number of viewers from the data set.
func floorChannelCursor(c *moderatov1.Channel) string {
	var n int
	_, _ = fmt.Sscanf(c.GetTitle(), "Channel %d", &n)
	isLive, viewers := 0, 0
	if c.GetIsLive() {
		isLive, viewers = 1, n/10%5000
	}
	return fmt.Sprintf("%d.%d.%s", isLive, viewers, c.GetId())
}

// readCase is a read that is compared with the floor's.
type readCase struct {
	name string
	// path returns the path of the nth request over REST; nil if REST does not have
	// it.
	path func(w *world, s *server, n int) string
	// call makes the nth request over gRPC.
	call func(ctx context.Context, conn *grpc.ClientConn, w *world, s *server, n int) (any, error)
	// by returns the number of the channel whose owner makes the nth request; nil if
	// the service client makes all requests.
	by func(w *world, n int) int
	// requests returns the number of distinct requests.
	requests func(w *world) int
	// targets are the targets of the ratio, by store.
	targets map[string]float64
}

var readCases = []readCase{
	{
		name: "followers page (20 of 100,000)",
		path: func(w *world, s *server, n int) string {
			p := w.followers[n]
			return "/v1/channels/followers?channelId=" + id(p.of) + "&cursor=" + p.cursorOf(s)
		},
		call: func(ctx context.Context, conn *grpc.ClientConn, w *world, s *server, n int) (any, error) {
			p := w.followers[n]
			return moderatov1.NewChannelsServiceClient(conn).ListFollowers(ctx, &moderatov1.ListFollowersRequest{ChannelId: id(p.of), Cursor: p.cursorOf(s)})
		},
		by:       func(w *world, n int) int { return w.followers[n].of },
		requests: func(w *world) int { return len(w.followers) },
		targets:  map[string]float64{"sqlite": 0.9, "mariadb": 1},
	},
	{
		name: "channels page (20 of 100,000, by category)",
		path: func(w *world, s *server, n int) string {
			p := w.channels[n]
			return fmt.Sprintf("/v1/channels?%s=%d&cursor=%s", url.QueryEscape("categoryId[]"), p.of, p.cursorOf(s))
		},
		call: func(ctx context.Context, conn *grpc.ClientConn, w *world, s *server, n int) (any, error) {
			p := w.channels[n]
			return moderatov1.NewChannelsServiceClient(conn).ListChannels(ctx, &moderatov1.ListChannelsRequest{CategoryId: []int64{int64(p.of)}, Cursor: p.cursorOf(s)})
		},
		by:       func(_ *world, n int) int { return n % ownedChannels },
		requests: func(w *world) int { return len(w.channels) },
		targets:  map[string]float64{"sqlite": 0.9, "mariadb": 0.9},
	},
	{
		name: "stats",
		path: func(_ *world, _ *server, n int) string { return "/v1/channels/stats?channelId=" + id(n) },
		call: func(ctx context.Context, conn *grpc.ClientConn, _ *world, _ *server, n int) (any, error) {
			return moderatov1.NewChannelsServiceClient(conn).GetStats(ctx, &moderatov1.GetStatsRequest{ChannelId: id(n)})
		},
		by:       func(_ *world, n int) int { return n },
		requests: func(*world) int { return ownedChannels },
		targets:  map[string]float64{"sqlite": 0.9, "mariadb": 0.9},
	},
	{
		name: "moderators (10)",
		path: func(_ *world, _ *server, n int) string { return "/v1/moderation/moderators?channelId=" + id(n) },
		call: func(ctx context.Context, conn *grpc.ClientConn, _ *world, _ *server, n int) (any, error) {
			return moderatov1.NewModerationServiceClient(conn).ListModerators(ctx, &moderatov1.ListModeratorsRequest{ChannelId: id(n)})
		},
		by:       func(_ *world, n int) int { return n },
		requests: func(*world) int { return ownedChannels },
		targets:  map[string]float64{"sqlite": 0.9, "mariadb": 0.9},
	},
	{
		name: "GetStanding",
		call: func(ctx context.Context, conn *grpc.ClientConn, _ *world, _ *server, n int) (any, error) {
			return platformv1.NewChatServiceClient(conn).GetStanding(ctx, &platformv1.GetStandingRequest{
				ChannelId: id(n % ownedChannels), UserId: id(reads.person(n%ownedChannels, n)),
			})
		},
		requests: func(*world) int { return 50_000 },
		targets:  map[string]float64{"sqlite": 0.9, "mariadb": 0.9},
	},
}

// caller returns the credentials for the nth request.
func (c readCase) caller(w *world, n int) credentials {
	if c.by == nil {
		return w.service
	}
	return w.owners[c.by(w, n)]
}

// lines returns the requests for wrk.
func (c readCase) lines(w *world, s *server) []string {
	lines := make([]string, c.requests(w))
	for n := range lines {
		lines[n] = c.path(w, s, n) + " " + c.caller(w, n).token
	}
	return lines
}

func (c readCase) rpc(w *world) load {
	requests := c.requests(w)
	return rpcLoad(func(ctx context.Context, conn *grpc.ClientConn, s *server, n int) error {
		n %= requests
		_, err := c.call(c.caller(w, n).outgoing(ctx), conn, w, s, n)
		return err
	})
}

// compare checks that the floor returns the same responses as Moderato. Otherwise the
// ratio would be meaningless.
func (w *world) compare(ctx context.Context) error {
	for _, c := range readCases {
		for n := range min(10, c.requests(w)) {
			var answers []string
			for _, s := range []*server{w.moderato, w.floor} {
				text, err := c.answer(ctx, w, s, n)
				if err != nil {
					return fmt.Errorf("%s of %s: %w", c.name, s.name, err)
				}
				answers = append(answers, text)
			}
			if answers[0] != answers[1] {
				return fmt.Errorf("%s: the floor answers\n%s\nand Moderato\n%s", c.name, answers[1], answers[0])
			}
		}
	}
	return nil
}

// answer returns a server's responses over both transports, without the cursors,
// because each server has its own format for them.
func (c readCase) answer(ctx context.Context, w *world, s *server, n int) (string, error) {
	var text []byte
	if c.path != nil {
		by := c.caller(w, n)
		var err error
		text, err = get(ctx, "http://"+s.http+c.path(w, s, n), map[string]string{"client-id": by.client, "authorization": "Bearer " + by.token})
		if err != nil {
			return "", err
		}
	}
	conns, closeAll, err := dial(ctx, s, 1)
	if err != nil {
		return "", err
	}
	defer closeAll()
	message, err := c.call(c.caller(w, n).outgoing(ctx), conns[0], w, s, n)
	if err != nil {
		return "", err
	}
	encoded, err := json.Marshal(message)
	lines := strings.FieldsFunc(string(text)+"\n"+string(encoded), func(r rune) bool { return r == ',' })
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, `"pagination"`) }), ","), err
}
