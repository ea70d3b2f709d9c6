package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// readCase is a read that is compared with the floor's. There is a request for each channel
// with followers.
type readCase struct {
	name string
	// path returns the path of the request for a channel over REST; nil if REST does not have it.
	path func(channel int) string
	// call makes the nth request over gRPC.
	call func(ctx context.Context, conn *grpc.ClientConn, channel, n int) (any, error)
}

var readCases = []readCase{
	{
		name: "followers page (20 of 1,000)",
		path: func(channel int) string { return "/v1/channels/followers?channelId=" + id(channel) },
		call: func(ctx context.Context, conn *grpc.ClientConn, channel, _ int) (any, error) {
			return moderatov1.NewChannelsServiceClient(conn).ListFollowers(ctx, &moderatov1.ListFollowersRequest{ChannelId: id(channel)})
		},
	},
	{
		name: "stats",
		path: func(channel int) string { return "/v1/channels/stats?channelId=" + id(channel) },
		call: func(ctx context.Context, conn *grpc.ClientConn, channel, _ int) (any, error) {
			return moderatov1.NewChannelsServiceClient(conn).GetStats(ctx, &moderatov1.GetStatsRequest{ChannelId: id(channel)})
		},
	},
	{
		name: "GetStanding",
		call: func(ctx context.Context, conn *grpc.ClientConn, channel, n int) (any, error) {
			return platformv1.NewChatServiceClient(conn).GetStanding(ctx, &platformv1.GetStandingRequest{ChannelId: id(channel), UserId: id(user(n))})
		},
	},
}

// caller returns who makes the request for a channel.
func (c readCase) caller(s *server, channel int) credentials {
	if c.path == nil {
		return s.service
	}
	return s.owners[channel]
}

// readBound is the least rate of each read, as a multiple of the floor.
const readBound = 0.6

func readRows() (all []measurement) {
	for _, c := range readCases {
		for _, connections := range []int{1, 32, 256} {
			for _, transport := range []string{"REST", "gRPC"} {
				if transport == "REST" && c.path == nil {
					continue
				}
				all = append(all, measurement{
					row: row{What: c.name, Transport: transport, Connections: connections, Bound: readBound}, group: "reads",
					run: func(ctx context.Context, p *pair, r row) error {
						if err := c.check(ctx, p); err != nil {
							return err
						}
						return p.compare(ctx, r, c.load(p, transport))
					},
				})
			}
		}
	}
	return all
}

func (c readCase) load(p *pair, transport string) load {
	if transport == "gRPC" {
		return rpcLoad(func(ctx context.Context, conn *grpc.ClientConn, s *server, n int) error {
			channel := n % data.followed
			_, err := c.call(c.caller(s, channel).outgoing(ctx), conn, channel, n)
			return err
		})
	}
	return p.restLoad(func(s *server) []string {
		lines := make([]string, data.followed)
		for channel := range lines {
			lines[channel] = c.path(channel) + " " + c.caller(s, channel).token
		}
		return lines
	})
}

// check checks that the floor returns the same responses as Moderato. Otherwise the
// ratio would be meaningless.
func (c readCase) check(ctx context.Context, p *pair) error {
	for channel := range 3 {
		var answers []string
		for _, s := range []*server{p.moderato, p.floor} {
			text, err := c.answer(ctx, s, channel)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			answers = append(answers, text)
		}
		if answers[0] != answers[1] {
			return fmt.Errorf("the floor answers\n%s\nand Moderato\n%s", answers[1], answers[0])
		}
	}
	return nil
}

// answer returns a server's responses over both transports, without the cursors,
// because each server has its own format for them.
func (c readCase) answer(ctx context.Context, s *server, channel int) (string, error) {
	var text []byte
	if c.path != nil {
		var err error
		if text, err = get(ctx, "http://"+s.http+c.path(channel), c.caller(s, channel)); err != nil {
			return "", err
		}
	}
	conns, closeAll, err := dial(ctx, s, 1)
	if err != nil {
		return "", err
	}
	defer closeAll()
	message, err := c.call(c.caller(s, channel).outgoing(ctx), conns[0], channel, channel)
	if err != nil {
		return "", err
	}
	encoded, err := json.Marshal(message)
	lines := strings.Split(string(text)+"\n"+string(encoded), ",")
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, `"pagination"`) }), ","), err
}
