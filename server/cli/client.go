package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/server/domain/access"
	"github.com/moderato-live/moderato/server/domain/oauth"
	"github.com/moderato-live/moderato/server/store"
)

// clientCommands are the commands on clients.
type clientCommands struct {
	Create       clientCreate       `cmd:"" help:"Create a client."`
	List         clientList         `cmd:"" help:"List the clients."`
	Show         clientShow         `cmd:"" help:"Print a client."`
	Update       clientUpdate       `cmd:"" help:"Change a client: only what is given."`
	RotateSecret clientRotateSecret `cmd:"" help:"Make a new secret for a client and print it, once. The previous one is accepted for a time as well."`
	Delete       clientDelete       `cmd:"" help:"Delete a client with its tokens, grants and webhooks."`
}

type clientCreate struct {
	database
	ID      string `help:"The id that the client sends: 1 to 64 of A-Z a-z 0-9 _ . -" required:"" placeholder:"ID"`
	Name    string `help:"The name shown to people." required:"" placeholder:"NAME"`
	Service bool   `help:"The client is one of the platform's backends and may hold service tokens."`

	RedirectURI []string `name:"redirect-uri" help:"Where a sign-in may send browsers back. Compared exactly; a loopback address matches with any port. Can be repeated." sep:"none" placeholder:"URI"`
	Scope       []string `help:"A scope that the client may ask for: users.read, channel.moderate, offline.access or users.bot. Can be repeated." sep:"none" complete:"scopes" placeholder:"S"`
	Public      bool     `help:"The client cannot keep a secret: it runs in browsers or on its users' devices." xor:"kind"`
	Secret      bool     `help:"Make a secret for the client and print it, once." xor:"kind"`
	JSON        bool     `name:"json" help:"Print the client, with its secret, as one line of JSON."`
}

// Validate rejects unknown scopes.
func (c *clientCreate) Validate() error { return checkScopes(c.Scope) }

// Run creates the client. It writes only the secret to standard output.
func (c *clientCreate) Run(ctx context.Context, s *streams) error {
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	secret, err := access.CreateClient(ctx, db, &platformv1.ClientRecord{
		Id: c.ID, Name: c.Name, Service: c.Service, RedirectUris: c.RedirectURI, Scopes: c.Scope, Public: c.Public,
	}, c.Secret)
	if err != nil {
		return inWords("create client", err)
	}
	if err := writeSecret(ctx, s.out, db, c.ID, secret, c.JSON); err != nil {
		return err
	}
	if secret == "" && !c.Public {
		fmt.Fprintf(s.err, "created client %s without a secret; 'moderato client rotate-secret %s' makes one\n", c.ID, c.ID)
		return nil
	}
	fmt.Fprintf(s.err, "created client %s\n", c.ID)
	return nil
}

type clientList struct {
	database
	JSON bool `name:"json" help:"Print each client as one line of JSON."`
}

// Run prints the clients.
func (c *clientList) Run(ctx context.Context, s *streams) error {
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if c.JSON {
		return access.EachClient(ctx, db, func(row *ent.Application) error { return printJSON(s.out, describeClient(row)) })
	}
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tKIND\tSCOPES\tCREATED")
	err = access.EachClient(ctx, db, func(row *ent.Application) error {
		d := describeClient(row)
		_, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", d.ID, d.Name, d.kind(), strings.Join(d.Scopes, " "), d.CreatedAt)
		return err
	})
	return errors.Join(err, table.Flush())
}

type clientShow struct {
	database
	ID   string `arg:"" help:"The client's id." placeholder:"ID"`
	JSON bool   `name:"json" help:"Print the client as one line of JSON."`
}

// Run prints the client.
func (c *clientShow) Run(ctx context.Context, s *streams) error {
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	row, err := access.Client(ctx, db, c.ID)
	if err != nil {
		return inWords("show client", err)
	}
	return writeClient(s.out, row, c.JSON)
}

type clientUpdate struct {
	database
	ID          string   `arg:"" help:"The client's id." placeholder:"ID"`
	Name        *string  `help:"The name shown to people." placeholder:"NAME"`
	Service     *bool    `help:"Whether the client is one of the platform's backends. With --no-service its service tokens end." negatable:""`
	RedirectURI []string `name:"redirect-uri" help:"Where a sign-in may send browsers back. Replaces all earlier ones; '' removes them. Can be repeated." sep:"none" placeholder:"URI"`
	Scope       []string `help:"A scope that the client may ask for. Replaces all earlier ones; '' removes them. Can be repeated." sep:"none" complete:"scopes" placeholder:"S"`
	Public      *bool    `help:"Whether the client cannot keep a secret. With --public its secrets end." negatable:""`
	JSON        bool     `name:"json" help:"Print the client as one line of JSON."`
}

// Validate rejects an update of nothing.
func (c *clientUpdate) Validate() error {
	if c.Name == nil && c.Service == nil && c.RedirectURI == nil && c.Scope == nil && c.Public == nil {
		return errors.New("nothing to change: give --name, --service, --redirect-uri, --scope or --public")
	}
	return checkScopes(slices.DeleteFunc(slices.Clone(c.Scope), func(scope string) bool { return scope == "" }))
}

// Run changes the client and prints it.
func (c *clientUpdate) Run(ctx context.Context, s *streams) error {
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	row, err := access.UpdateClient(ctx, db, c.ID, c.apply)
	if err != nil {
		return inWords("update client", err)
	}
	return writeClient(s.out, row, c.JSON)
}

func (c *clientUpdate) apply(client *platformv1.ClientRecord) {
	if c.Name != nil {
		client.Name = *c.Name
	}
	if c.Service != nil {
		client.Service = *c.Service
	}
	if c.Public != nil {
		client.Public = *c.Public
	}
	isEmpty := func(value string) bool { return value == "" }
	if c.RedirectURI != nil {
		client.RedirectUris = slices.DeleteFunc(slices.Clone(c.RedirectURI), isEmpty)
	}
	if c.Scope != nil {
		client.Scopes = slices.DeleteFunc(slices.Clone(c.Scope), isEmpty)
	}
}

// maxOverlap is how long the previous secret of a client is accepted at most.
const maxOverlap = 30 * 24 * time.Hour

type clientRotateSecret struct {
	database
	ID      string        `arg:"" help:"The client's id." placeholder:"ID"`
	Overlap time.Duration `help:"How long the previous secret is accepted as well, at most 720h; 0 ends it immediately." default:"24h"`
	JSON    bool          `name:"json" help:"Print the client, with its secret, as one line of JSON."`
}

// Validate rejects overlaps that no rotation needs.
func (c *clientRotateSecret) Validate() error {
	if c.Overlap < 0 || c.Overlap > maxOverlap {
		return fmt.Errorf("--overlap %s: must be 0 to %s", c.Overlap, hours(maxOverlap))
	}
	return nil
}

// Run makes the secret. It writes only the secret to standard output.
func (c *clientRotateSecret) Run(ctx context.Context, s *streams) error {
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	secret, err := access.RotateSecret(ctx, db, c.ID, c.Overlap)
	if err != nil {
		return inWords("rotate secret", err)
	}
	if err := writeSecret(ctx, s.out, db, c.ID, secret, c.JSON); err != nil {
		return err
	}
	row, err := access.Client(ctx, db, c.ID)
	if err != nil {
		return inWords("rotate secret", err)
	}
	if row.PreviousSecretUntil == nil {
		fmt.Fprintf(s.err, "no earlier secret of client %s is accepted\n", c.ID)
		return nil
	}
	fmt.Fprintf(s.err, "the previous secret of client %s is accepted until %s\n", c.ID, row.PreviousSecretUntil)
	return nil
}

type clientDelete struct {
	database
	confirmation
	ID string `arg:"" help:"The client's id." placeholder:"ID"`
}

// Run deletes the client.
func (c *clientDelete) Run(ctx context.Context, s *streams) error {
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	row, err := access.Client(ctx, db, c.ID)
	if err != nil {
		return inWords("delete client", err)
	}
	if err := c.ask(s, fmt.Sprintf("Delete client %s (%s) with its tokens, grants and webhooks?", row.ID, row.Name)); err != nil {
		return err
	}
	if err := oauth.DeleteClient(ctx, db, c.ID, digest.SHA256{}, nil); err != nil {
		return inWords("delete client", err)
	}
	fmt.Fprintf(s.err, "deleted client %s\n", c.ID)
	return nil
}

// clientDescription is a client as commands print it.
type clientDescription struct {
	ID                  string   `json:"id"`
	Name                string   `json:"name"`
	Service             bool     `json:"service"`
	Public              bool     `json:"public"`
	RedirectURIs        []string `json:"redirectUris"`
	Scopes              []string `json:"scopes"`
	CreatedAt           string   `json:"createdAt"`
	HasSecret           bool     `json:"hasSecret"`
	PreviousSecretUntil *string  `json:"previousSecretUntil"`
	Secret              string   `json:"secret,omitempty"`
}

func describeClient(row *ent.Application) clientDescription {
	d := clientDescription{
		ID: row.ID, Name: row.Name, Service: row.Service, Public: row.Public,
		RedirectURIs: strings.Fields(row.RedirectUris), Scopes: strings.Fields(row.Scopes),
		CreatedAt: row.CreatedAt.String(), HasSecret: row.Secret != nil,
	}
	if row.PreviousSecretUntil != nil {
		until := row.PreviousSecretUntil.String()
		d.PreviousSecretUntil = &until
	}
	return d
}

// kind returns what the client is, in words.
func (d clientDescription) kind() string {
	var kinds []string
	if d.Service {
		kinds = append(kinds, "service")
	}
	if d.Public {
		kinds = append(kinds, "public")
	}
	return cmp.Or(strings.Join(kinds, ", "), "app")
}

func (d clientDescription) secrets() string {
	switch {
	case d.Public:
		return "none: the client is public"
	case !d.HasSecret:
		return "none"
	case d.PreviousSecretUntil != nil:
		return "one, and the previous one until " + *d.PreviousSecretUntil
	}
	return "one"
}

// writeClient writes a client as a line of JSON or for people.
func writeClient(w io.Writer, row *ent.Application, asJSON bool) error {
	d := describeClient(row)
	if asJSON {
		return printJSON(w, d)
	}
	return writeFields(w, [][2]string{
		{"id", d.ID}, {"name", d.Name}, {"kind", d.kind()}, {"redirect URIs", strings.Join(d.RedirectURIs, " ")},
		{"scopes", strings.Join(d.Scopes, " ")}, {"created", d.CreatedAt}, {"secrets", d.secrets()},
	})
}

// writeSecret writes a new secret of a client: alone, or in the client as JSON.
func writeSecret(ctx context.Context, w io.Writer, db *store.Store, id, secret string, asJSON bool) error {
	if !asJSON {
		if secret != "" {
			fmt.Fprintln(w, secret)
		}
		return nil
	}
	row, err := access.Client(ctx, db, id)
	if err != nil {
		return err
	}
	d := describeClient(row)
	d.Secret = secret
	return printJSON(w, d)
}
