package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

type eventsTail struct {
	database
	Channel string   `help:"Only events of this channel." placeholder:"UUID"`
	Type    []string `help:"Only events of this type, such as channel.ban. Can be repeated." sep:"none" complete:"events" placeholder:"TYPE"`
	Cursor  string   `help:"Resume after this cursor. Without it, print events from now on."`
	JSON    bool     `name:"json" help:"Print each event as one line of JSON, with its cursor."`
}

// Validate rejects channels that are no UUIDs, and unknown types.
func (c *eventsTail) Validate() error {
	if _, err := parseChannel(c.Channel); err != nil {
		return err
	}
	return checkTypes(c.Type, eventtype.Types())
}

// checkTypes rejects types that are not among those that are known.
func checkTypes(types, known []string) error {
	for _, kind := range types {
		if !slices.Contains(known, kind) {
			return fmt.Errorf("--type %q: must be one of %s", kind, strings.Join(known, ", "))
		}
	}
	return nil
}

// Run prints events as they happen, until the process receives SIGINT or SIGTERM.
func (c *eventsTail) Run(ctx context.Context, s *streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	channelID, err := parseChannel(c.Channel)
	if err != nil {
		return err
	}
	wants := c.filter(channelID)
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	after, err := outbox.ParseCursor(ctx, db, c.Cursor)
	if err != nil {
		return inWords("--cursor", err)
	}
	if err := checkChannel(ctx, db, channelID); err != nil {
		return err
	}
	hub := watch.NewHub(db, newLog(s.err, slog.LevelWarn, "text"))
	from, err := hub.Subscribe(ctx, after, nil)
	if errors.Is(err, watch.ErrTrimmed) {
		return fmt.Errorf("--cursor: %w; leave it out", err)
	}
	if err != nil {
		return err
	}
	go jobs.NewRunner(db, hub.Log, prometheus.NewRegistry()).Run(ctx, hub.Job())
	fmt.Fprintln(s.err, "listening; a server must be running, or events get no order")
	for {
		page, err := from.Next(ctx, nil)
		for _, e := range page {
			if e.IsGone || !wants(e) {
				continue
			}
			if err := printEvent(s.out, c.JSON, e.Cursor, e.JSON()); err != nil {
				return err
			}
		}
		if err == nil {
			continue
		}
		position := from.Position()
		from.Close()
		if ctx.Err() != nil {
			cursor, err := outbox.Cursor(context.WithoutCancel(ctx), db, position)
			fmt.Fprintf(s.err, "to go on from here: --cursor %s\n", cursor)
			return err
		}
		// The reader of the output was too slow; the events are still in the database.
		if errors.Is(err, watch.ErrTooSlow) {
			from, err = hub.Subscribe(ctx, &position, nil)
		}
		if err != nil {
			return err
		}
	}
}

// parseChannel parses the flag --channel; it returns the zero ID if the flag is empty.
func parseChannel(text string) (uid.ID, error) {
	if text == "" {
		return uid.ID{}, nil
	}
	id, err := uid.Parse(text)
	if err != nil {
		return id, fmt.Errorf("--channel %q: must be a UUID in its 36-character form", text)
	}
	return id, nil
}

// checkChannel rejects an id that is not a channel: a listener would receive no events
// for it, without a reason. It accepts the zero ID.
func checkChannel(ctx context.Context, db *store.Store, id uid.ID) error {
	if id.IsZero() {
		return nil
	}
	return inWords("--channel "+id.String(), listing.CheckChannel(ctx, db, id))
}

func (c *eventsTail) filter(channelID uid.ID) func(*outbox.Event) bool {
	return func(e *outbox.Event) bool {
		return (channelID.IsZero() || e.ChannelID == channelID) && (len(c.Type) == 0 || slices.Contains(c.Type, string(e.Type)))
	}
}

// printEvent prints an event, given in its JSON form, and the cursor after it: as one
// line of JSON, or as a line for people.
func printEvent(w io.Writer, asJSON bool, cursor string, event []byte) error {
	if asJSON {
		fmt.Fprintf(w, "{\"cursor\":%q,%s\n", cursor, bytes.TrimPrefix(event, []byte("{")))
		return nil
	}
	var e struct {
		Metadata struct {
			SubscriptionType, ChannelID string
			MessageTimestamp            time.Time
			Sequence                    int64
		}
		Payload json.RawMessage
	}
	if err := json.Unmarshal(event, &e); err != nil {
		return err
	}
	m := e.Metadata
	fmt.Fprintf(w, "%s  %s  #%d  %-32s  %s  %s\n", m.MessageTimestamp.Format("15:04:05.000"), m.ChannelID, m.Sequence, m.SubscriptionType, cursor, e.Payload)
	return nil
}
