package standing

import (
	"context"

	"github.com/google/uuid"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

// fail returns what Options.OnFailure says of a user of whom nothing is known.
func (c *Client) fail(channel, user uuid.UUID) Standing {
	policy := c.options.OnFailure
	if policy == AskServer {
		if standing, ok := c.ask(channel, user); ok {
			return standing
		}
		policy = c.options.IfUnanswered
	}
	c.counts.fromPolicy.Add(1)
	if policy == FailOpen {
		return Standing{Verdict: Allowed}
	}
	return Standing{}
}

// ask asks the server, and reports whether it answered.
func (c *Client) ask(channel, user uuid.UUID) (Standing, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), c.options.AskTimeout)
	defer cancel()
	select {
	case c.asks <- struct{}{}:
		defer func() { <-c.asks }()
	case <-ctx.Done():
		c.counts.unanswered.Add(1)
		return Standing{}, false
	}
	c.counts.asked.Add(1)
	response, err := c.chat.GetStanding(ctx, &platformv1.GetStandingRequest{ChannelId: channel.String(), UserId: user.String()})
	if err != nil {
		verdict := verdictOf(err)
		if verdict == Unknown {
			c.counts.unanswered.Add(1)
		}
		return Standing{Verdict: verdict, Source: FromServer}, verdict != Unknown
	}
	return standingOf(response), true
}

// standingOf returns the standing in a response of the server.
func standingOf(r *platformv1.GetStandingResponse) Standing {
	standing := Standing{Verdict: PostFirst, Source: FromServer}
	for _, role := range r.GetRoles() {
		standing.Roles |= roleOf(role)
	}
	if r.GetMuteExpiresAt() != nil {
		standing.Verdict, standing.muted = Muted, r.GetMuteExpiresAt().AsTime().UnixMilli()
	}
	if r.GetIsBanned() {
		standing.Verdict, standing.banned = Banned, forever
	}
	return standing
}

// verdictOf returns the verdict in an error of the server; Unknown if there is none.
func verdictOf(err error) Verdict {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			switch info.GetReason() {
			case "CHANNEL_NOT_FOUND":
				return ChannelNotFound
			case "USER_NOT_FOUND":
				return UserNotFound
			}
		}
	}
	return Unknown
}
