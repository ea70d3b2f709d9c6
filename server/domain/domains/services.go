package domains

import (
	"cmp"
	"slices"
	"time"

	"github.com/moderato-live/moderato/server/domain/access"
	"github.com/moderato-live/moderato/server/domain/activity"
	"github.com/moderato-live/moderato/server/domain/audience"
	"github.com/moderato-live/moderato/server/domain/channels"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/content"
	"github.com/moderato-live/moderato/server/domain/directory"
	"github.com/moderato-live/moderato/server/domain/held"
	"github.com/moderato-live/moderato/server/domain/livestream"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/domain/rules"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// Services holds the operations of the domains of a server.
type Services struct {
	Access     *access.Service
	Activity   *activity.Service
	Audience   *audience.Service
	Chat       *chat.Service
	PublicChat *chat.PublicService
	Content    *content.Service
	Directory  *directory.Service
	Livestream *livestream.Service
	Moderation *moderation.Service
	Held       *held.Service
	Rules      *rules.Service
	// Filter checks posts with the rules of their channels. Its Run must run.
	Filter *rules.Filter
	// Channels is ChannelsService, which consists of operations of the other domains.
	Channels *channels.Service
}

// Options configures Services.
type Options struct {
	// Lists holds the limits that all complete lists share.
	Lists *paging.Lists
	// Lifetimes holds the lifetimes of tokens whose issuer specifies none.
	Lifetimes authn.Lifetimes
	// SweepWait is how long the commit of a sweep waits for the end of the sweep; 0 means
	// moderation.DefaultCommitWait.
	SweepWait time.Duration
	// Live delivers the messages of chat to listeners; nil for tests without listeners.
	Live *live.Hub
	// ChatRate is how fast a sender may post in a channel over the public ChatService.
	ChatRate chat.Rate
}

// NewServices returns the Services over a database.
func NewServices(s *store.Store, o Options) *Services {
	sweeps := moderation.NewSweeps()
	afterglows := moderation.NewAfterglows(s, sweeps)
	limiter := chat.NewLimiter(o.ChatRate, func() time.Time { return s.Clock.Local().Time() })
	filter := rules.NewFilter(s, o.Live, sweeps)
	checks := postChecks(s, afterglows, filter, o.Live)
	all := &Services{
		Access:   &access.Service{Store: s, Lifetimes: o.Lifetimes},
		Activity: &activity.Service{Store: s},
		Audience: &audience.Service{Store: s},
		Chat:     &chat.Service{Store: s, Live: o.Live, Checks: checks},
		// What the platform's backends post has no rate.
		PublicChat: &chat.PublicService{Store: s, Live: o.Live, Checks: slices.Concat([]chat.PostCheck{limiter.Check}, checks), CancelHeld: held.CancelAll},
		Content:    &content.Service{Store: s, Lists: o.Lists},
		Directory:  &directory.Service{Store: s, Lists: o.Lists, Chatters: chat.NewChatters(s)},
		Livestream: &livestream.Service{Store: s},
		Moderation: &moderation.Service{
			Store: s, Lists: o.Lists, Sweeps: sweeps, Afterglows: afterglows, CommitWait: cmp.Or(o.SweepWait, moderation.DefaultCommitWait),
			PassRules: rules.PassRules, RevertRules: rules.RevertRules,
		},
		Held:   &held.Service{Store: s, Live: o.Live, Mute: moderation.MuteTogether, Posted: rules.RecordTexts},
		Rules:  &rules.Service{Store: s, Turns: sweeps},
		Filter: filter,
	}
	all.Channels = channels.New(s, all.Activity, all.Audience, all.Content, all.Directory, all.Livestream, all.Moderation)
	return all
}

// Jobs returns the jobs that refresh what the services have of their tables in memory, and that
// write what they have counted.
func (s *Services) Jobs() []jobs.Job {
	return []jobs.Job{s.Moderation.Afterglows.Job(), s.Moderation.MetricsJob(), s.Held.Job()}
}

// postChecks returns the checks of a post, in their order. Checks that hold messages come last:
// moderators decide about nothing that another check refuses.
func postChecks(s *store.Store, afterglows *moderation.Afterglows, filter *rules.Filter, to *live.Hub) []chat.PostCheck {
	return slices.Concat(
		[]chat.PostCheck{chat.CheckSilenced, afterglows.Check, held.Check(s)},
		rules.Modes(s),
		[]chat.PostCheck{chat.CheckReply(s), filter.Check, rules.HoldFirst(s, to)},
	)
}
