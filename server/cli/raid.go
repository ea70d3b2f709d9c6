package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/cli/raid"
	"github.com/moderato-live/moderato/server/demo"
	"github.com/moderato-live/moderato/server/rpc/authn"
)

const (
	// raidTokenLifetime is the lifetime of the token that a raid issues for itself, and of
	// the commands that it prints.
	raidTokenLifetime = time.Hour
	// maxRaiders is how many users one sweep can ban.
	maxRaiders = 20_000
	// maxRaidMessages is how many messages of a user the log keeps.
	maxRaidMessages = 10
	// sweepWindow is how long after a raid the command that is printed finds the raiders.
	sweepWindow = 10 * time.Minute
	// maxDuration is how long a raid takes at most. A sweep finds only the latest messages.
	maxDuration = 10 * time.Minute
	// progressInterval is the time between two lines about the progress.
	progressInterval = time.Second
)

// demoRaid raids a channel of a demo.
type demoRaid struct {
	database
	grpcAPI

	Server   string `help:"The server's REST address, for the command that is printed." default:"http://${http_addr}" env:"MODERATO_SERVER"`
	Channel  string `help:"The channel to raid. Default: the demo's first channel." placeholder:"UUID"`
	Raiders  int    `help:"How many new accounts raid, 1 to 20000." default:"2000"`
	Messages int    `help:"How many messages each of them posts, 1 to 10." default:"2"`

	Duration time.Duration `help:"Over how much time they come, at most 10m; 0s is as fast as possible." default:"50s"`
}

// Help returns the text below the usage.
func (c *demoRaid) Help() string {
	return "The server must be a demo. Without --token, a token is issued in the demo's database, --db."
}

// Validate rejects raids that are too large for one sweep.
func (c *demoRaid) Validate() error {
	switch {
	case c.Raiders < 1 || c.Raiders > maxRaiders:
		return fmt.Errorf("--raiders %d: must be 1 to %d", c.Raiders, maxRaiders)
	case c.Messages < 1 || c.Messages > maxRaidMessages:
		return fmt.Errorf("--messages %d: must be 1 to %d", c.Messages, maxRaidMessages)
	case c.Duration < 0 || c.Duration > maxDuration:
		return fmt.Errorf("--duration %s: must be 0s to %s", c.Duration, maxDuration)
	}
	if _, err := parseChannel(c.Channel); err != nil {
		return err
	}
	return c.grpcAPI.Validate()
}

// Run raids the channel, and prints how to find the raiders.
func (c *demoRaid) Run(ctx context.Context, s *streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := c.checkDemo(ctx); err != nil {
		return err
	}
	if err := c.complete(ctx); err != nil {
		return err
	}
	client, err := c.connect()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	if err := c.checkService(ctx, client); err != nil {
		return fmt.Errorf("%w; the token must be of the demo's database, which is %s if --db names no other", err, server.DefaultDB)
	}
	p := &progress{out: s.err, of: c.Raiders, isTerminal: isTerminal(s.err), shownAt: time.Now()}
	start := time.Now()
	r := raid.Raid{Client: client, ChannelID: c.Channel, Raiders: c.Raiders, Messages: c.Messages, Duration: c.Duration, Progress: p.show}
	result, err := r.Run(ctx)
	p.end()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted after %d of %d raiders", p.done, c.Raiders)
	case err != nil:
		return err
	}
	c.writeSummary(s.out, result, time.Since(start))
	return nil
}

// checkDemo returns an error if the server is not a demo.
func (c *demoRaid) checkDemo(ctx context.Context) error {
	transport, err := c.transport()
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient(c.GRPCServer, grpc.WithTransportCredentials(transport))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, err = healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{Service: server.DemoHealthService})
	switch status.Code(err) {
	case codes.OK:
		return nil
	case codes.NotFound, codes.Unimplemented:
		return fmt.Errorf("the server at %s is not a demo, and only a demo is raided; start one with: moderato serve --demo", c.GRPCServer)
	case codes.Unavailable:
		return unreachable("the server at "+c.GRPCServer, err, "start it with: moderato serve --demo, or name another with --grpc-server")
	}
	return err
}

// complete chooses the channel, and issues a service token in the demo's database, if they
// are not given.
func (c *demoRaid) complete(ctx context.Context) error {
	cast := demo.People()
	c.Channel = cmp.Or(c.Channel, cast.Owner.ID.String())
	if c.Token != "" {
		c.Client = cmp.Or(c.Client, cast.ServiceClient)
		return nil
	}
	c.Client = cast.ServiceClient
	token, err := c.issueToken(ctx)
	if err != nil {
		return fmt.Errorf("a raid needs a service token: --db must name the demo's database, or --token the token: %w", err)
	}
	c.Token = secret(token)
	return nil
}

func (c *demoRaid) issueToken(ctx context.Context) (string, error) {
	db, err := c.open(ctx)
	if err != nil {
		return "", err
	}
	defer db.Close()
	issued, err := authn.Issue(ctx, db, authn.NewToken{Kind: authn.Service, ClientID: c.Client, Lifetime: raidTokenLifetime})
	if err != nil {
		return "", inWords("issue token", err)
	}
	return issued.Text, nil
}

// writeSummary prints what was done, and the command that finds the raiders.
func (c *demoRaid) writeSummary(w io.Writer, result raid.Result, took time.Duration) {
	fmt.Fprintf(w, "%d accounts followed the channel and posted %d messages in %.1f s.\n", c.Raiders, result.Posted, took.Seconds())
	if result.Refused > 0 {
		fmt.Fprintf(w, "%d of the accounts were banned or muted before they had posted all their messages.\n", result.Refused)
	}
	if result.Posted == 0 {
		fmt.Fprintln(w, "So no message is left to sweep: the sweep of an earlier raid bans those who post its phrase during its afterglow.")
		return
	}
	fmt.Fprintf(w, "Each message contains %q, most in a disguise.\n", raid.Phrase)
	within := min((took + sweepWindow).Truncate(time.Minute), time.Hour) // the longest that a sweep allows
	address := strings.TrimSuffix(c.Server, "/")
	fmt.Fprintf(w, `
Preview a sweep that finds them, as the channel's owner:

curl -s %s/v1/moderation/sweeps -H 'client-id: %s' -H 'Authorization: Bearer %s' -H 'acting-user: %s' -H 'content-type: application/json' -d '{"channelId":"%s","phrase":"%s","withinSeconds":%d}'

The raid drill goes on from there: %s/docs/moderation#the-raid-drill
`,
		address, c.Client, c.Token, c.Channel, c.Channel, raid.Phrase, int(within.Seconds()), address)
}

// progress prints how many raiders are done.
type progress struct {
	out        io.Writer
	of         int
	isTerminal bool

	mu      sync.Mutex
	done    int
	shownAt time.Time
}

// show notes how many are done, and prints it from time to time. On a terminal it replaces
// what it printed before.
func (p *progress) show(done int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = max(p.done, done)
	interval := progressInterval
	if p.isTerminal {
		interval /= 10
	}
	if time.Since(p.shownAt) >= interval || p.done == p.of {
		p.shownAt = time.Now()
		p.print()
	}
}

func (p *progress) print() {
	if p.isTerminal {
		fmt.Fprintf(p.out, "\r%d of %d raiders", p.done, p.of)
		return
	}
	fmt.Fprintf(p.out, "%d of %d raiders\n", p.done, p.of)
}

// end ends the line on a terminal.
func (p *progress) end() {
	if p.isTerminal {
		fmt.Fprintln(p.out)
	}
}
