package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/domains"
	"github.com/moderato-live/moderato/server/domain/erasure"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// userCommands are the commands on users.
type userCommands struct {
	Show   userShow   `cmd:"" help:"Print a user."`
	Export userExport `cmd:"" help:"Print all data about a user, as JSON Lines."`
	Erase  userErase  `cmd:"" help:"Erase a user with their channel, permanently."`
}

// userFlags name a user of a database.
type userFlags struct {
	database
	User string `arg:"" help:"The user: a UUID or a username." placeholder:"USER"`
}

// findUser returns the user with an id or a username.
func findUser(ctx context.Context, db *store.Store, text string) (*ent.User, error) {
	key := users.Key{Slug: strings.ToLower(strings.TrimPrefix(text, "@"))}
	if id, err := uid.Parse(text); err == nil {
		key = users.Key{ID: id}
	}
	u, err := users.Find(ctx, db.Read.User, key)
	if errors.Is(err, apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND)) {
		return nil, &apierr.Error{Reason: moderatov1.Reason_REASON_USER_NOT_FOUND, Message: fmt.Sprintf("There is no user %q.", text)}
	}
	return u, db.Classify(err)
}

type userShow struct {
	userFlags
	JSON bool `name:"json" help:"Print the user as one line of JSON."`
}

// userDescription is a user as commands print one.
type userDescription struct {
	ID          string `json:"id"`
	Username    string `json:"username"`
	DisplayName string `json:"displayName"`
	AvatarURL   string `json:"avatarUrl"`
	CreatedAt   string `json:"createdAt"`
	// Channel is the title of the user's channel; nil if there is none.
	Channel *string `json:"channel"`
}

// Run prints the user.
func (c *userShow) Run(ctx context.Context, s *streams) error {
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	u, err := findUser(ctx, db, c.User)
	if err != nil {
		return inWords("show user", err)
	}
	d := userDescription{ID: u.ID.String(), Username: u.Username, DisplayName: u.DisplayName, AvatarURL: u.AvatarURL, CreatedAt: u.CreatedAt.String()}
	switch channel, err := db.Read.Channel.Get(ctx, u.ID); {
	case err == nil:
		d.Channel = &channel.Title
	case !ent.IsNotFound(err):
		return db.Classify(err)
	}
	if c.JSON {
		return printJSON(s.out, d)
	}
	channel := "none"
	if d.Channel != nil {
		channel = *d.Channel
	}
	return writeFields(s.out, [][2]string{
		{"id", d.ID}, {"username", d.Username}, {"display name", d.DisplayName}, {"avatar", d.AvatarURL}, {"created", d.CreatedAt}, {"channel", channel},
	})
}

type userExport struct {
	userFlags
	Output string `help:"Write to this new file, which only its owner may read. Default: standard output." type:"path" placeholder:"FILE"`
}

// Run writes every row about the user.
func (c *userExport) Run(ctx context.Context, s *streams) (err error) {
	db, err := c.openWithoutBound(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	u, err := findUser(ctx, db, c.User)
	if err != nil {
		return inWords("export user", err)
	}
	out := s.out
	if c.Output != "" {
		file, err := createPrivate(c.Output)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		out = file
	}
	n, err := exportUser(ctx, db, u, out)
	if err != nil {
		return fmt.Errorf("export user: %w", err)
	}
	fmt.Fprintf(s.err, "exported %d rows about %s (%s)\n", n, u.DisplayName, u.Username)
	return nil
}

// createPrivate creates a file that must not exist.
func createPrivate(path string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Clean(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("--output %s: the file exists", path)
	}
	return file, err
}

// exportUser writes every row about a user, one in a line, and returns their number.
func exportUser(ctx context.Context, db *store.Store, u *ent.User, w io.Writer) (n int, err error) {
	buffered := bufio.NewWriter(w)
	err = erasure.Export(ctx, db, domains.Tables(), u, func(line erasure.Line) error {
		n++
		return printJSON(buffered, line)
	})
	return n, errors.Join(err, buffered.Flush())
}

type userErase struct {
	userFlags
	confirmation
}

// Run erases the user. The servers remove the rest.
func (c *userErase) Run(ctx context.Context, s *streams) error {
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	id, who, err := c.find(ctx, db)
	if err != nil {
		return inWords("erase user", err)
	}
	if err := c.ask(s, "Erase "+who+" permanently?"); err != nil {
		return err
	}
	pending, err := erasure.Erase(ctx, db, id)
	if err != nil {
		return inWords("erase user", err)
	}
	if pending == nil {
		fmt.Fprintf(s.err, "there is no trace of %s\n", who)
		return nil
	}
	fmt.Fprintf(s.err, "%s is erased for every caller. Servers remove the rest until %s or later; run the command again, with the id, to see whether they are done.\n",
		id, erasure.DoneAfter(pending))
	return nil
}

// find returns the id of the user and what to call them. A user who is being erased is known
// by the id alone.
func (c *userErase) find(ctx context.Context, db *store.Store) (id uid.ID, who string, err error) {
	u, err := findUser(ctx, db, c.User)
	if err == nil {
		return u.ID, fmt.Sprintf("%s (%s)", u.DisplayName, u.Username), nil
	}
	if id, parseErr := uid.Parse(c.User); parseErr == nil && errors.Is(err, apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND)) {
		return id, "user " + id.String(), nil
	}
	return id, "", err
}
