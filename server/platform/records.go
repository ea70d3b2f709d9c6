package platform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/grant"
	"github.com/moderato-live/moderato/ent/message"
	"github.com/moderato-live/moderato/ent/role"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/messages"
	"github.com/moderato-live/moderato/server/roles"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
)

// putter stores records in a transaction. For each record it validates the fields,
// updates the row with the same key or else creates it, and returns the row.
type putter struct {
	*store.Store
	*ent.Tx

	now instant.Instant
}

// orNow returns the time of a record, or now if it has none.
func (p putter) orNow(t *timestamppb.Timestamp) instant.Instant {
	if t == nil {
		return p.now
	}
	return instant.OfProto(t)
}

// put stores a record of any kind except a follow; follows are stored in bulk.
func (p putter) put(ctx context.Context, rec *platformv1.Record) (err error) {
	switch kind := rec.GetKind().(type) {
	case *platformv1.Record_Category:
		_, err = p.category(ctx, kind.Category)
	case *platformv1.Record_User:
		_, err = p.user(ctx, kind.User)
	case *platformv1.Record_Channel:
		_, err = p.channel(ctx, kind.Channel)
	case *platformv1.Record_Role:
		err = p.role(ctx, kind.Role)
	case *platformv1.Record_Message:
		err = p.message(ctx, kind.Message)
	case *platformv1.Record_Client:
		_, err = p.client(ctx, kind.Client)
	case *platformv1.Record_Grant:
		_, err = p.grant(ctx, kind.Grant)
	case *platformv1.Record_Subscription:
		_, _, err = p.subscription(ctx, kind.Subscription)
	case *platformv1.Record_Stream:
		err = p.stream(ctx, kind.Stream)
	case *platformv1.Record_Clip:
		_, err = p.clip(ctx, kind.Clip)
	case *platformv1.Record_Vod:
		_, err = p.vod(ctx, kind.Vod)
	case *platformv1.Record_Vote:
		err = p.vote(ctx, kind.Vote)
	case *platformv1.Record_Activity:
		_, err = p.activity(ctx, kind.Activity, true)
	default:
		err = apierr.Invalid(apierr.Violation{Description: "must have one kind of record: " + strings.Join(recordKinds(), ", ")})
	}
	return err
}

func (p putter) role(ctx context.Context, r *platformv1.RoleRecord) error {
	var f validate.Fields
	channelID := f.UUID("channelId", r.GetChannelId())
	userID := f.UUID("userId", r.GetUserId())
	name := f.Choice("role", r.GetRole(), roles.Names()...)
	if err := f.Err(); err != nil {
		return err
	}
	if channelID == userID {
		return apierr.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL)
	}
	_, err := p.lockChannel(ctx, channelID) // see authz.RightsChanged
	if err := errors.Join(err, p.requireUser(ctx, userID)); err != nil {
		return err
	}
	held, err := p.Role.Query().Where(role.ChannelID(channelID), role.UserID(userID), role.Role(name)).Exist(ctx)
	if err != nil || held {
		return err
	}
	err = p.Role.Create().SetID(uid.New()).SetChannelID(channelID).SetUserID(userID).
		SetRole(name).SetCreatedAt(p.now).
		Exec(ctx)
	if err != nil || name != roles.Moderator.Name {
		return err
	}
	return authz.RightsChanged(ctx, p.Tx, userID)
}

func (p putter) message(ctx context.Context, r *platformv1.MessageRecord) error {
	var f validate.Fields
	m := messages.Message{
		ID:        f.UUID("id", r.GetId()),
		ChannelID: f.UUID("channelId", r.GetChannelId()),
		UserID:    f.UUID("userId", r.GetUserId()),
		Text:      f.Message("text", r.GetText()),
	}
	m.SentAt, _ = f.RequiredTime("sentAt", r.GetSentAt())
	if err := f.Err(); err != nil {
		return err
	}
	if err := errors.Join(p.requireChannel(ctx, m.ChannelID), p.requireUser(ctx, m.UserID)); err != nil {
		return err
	}
	exists, err := p.Message.Query().Where(message.ID(m.ID)).Exist(ctx)
	if err != nil || exists {
		return err
	}
	return messages.Import(ctx, p.Tx, m)
}

func (p putter) client(ctx context.Context, r *platformv1.ClientRecord) (*ent.Application, error) {
	var f validate.Fields
	id := f.ClientID("id", r.GetId())
	name := f.Text("name", r.GetName(), 1, validate.MaxName)
	if err := f.Err(); err != nil {
		return nil, err
	}
	row, err := p.Application.UpdateOneID(id).SetName(name).SetService(r.GetService()).Save(ctx)
	if ent.IsNotFound(err) {
		return p.Application.Create().SetID(id).SetName(name).SetService(r.GetService()).SetCreatedAt(p.now).Save(ctx)
	}
	if err == nil && !row.Service {
		err = authn.RevokeServiceTokens(ctx, p.Tx, id, p.now)
	}
	return row, err
}

func clientRecord(c *ent.Application) *platformv1.ClientRecord {
	return &platformv1.ClientRecord{Id: c.ID, Name: c.Name, Service: c.Service}
}

func (p putter) grant(ctx context.Context, r *platformv1.GrantRecord) (*ent.Grant, error) {
	var f validate.Fields
	g := &ent.Grant{
		ClientID: f.ClientID("clientId", r.GetClientId()),
		UserID:   f.UUID("userId", r.GetUserId()),
		Scopes:   strings.Join(scopes(&f, r.GetScopes()), " "),
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := errors.Join(p.requireClient(ctx, g.ClientID), p.requireUser(ctx, g.UserID)); err != nil {
		return nil, err
	}
	updated, err := p.Grant.Update().Where(grant.ClientID(g.ClientID), grant.UserID(g.UserID)).SetScopes(g.Scopes).Save(ctx)
	if err != nil || updated > 0 {
		return g, err
	}
	return p.Grant.Create().SetID(uid.New()).SetClientID(g.ClientID).SetUserID(g.UserID).SetScopes(g.Scopes).Save(ctx)
}

// maxScopes bounds a list of scopes. Few scopes exist.
const maxScopes = 20

// scopes validates a list of scopes, and returns it sorted and without duplicates.
func scopes(f *validate.Fields, names []string) []string {
	if !f.AtMost("scopes", len(names), maxScopes) {
		return nil
	}
	for i, scope := range names {
		if !slices.Contains(authn.Scopes(), scope) {
			f.Add(fmt.Sprintf("scopes[%d]", i), "must be one of "+strings.Join(authn.Scopes(), ", "))
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

func grantRecord(g *ent.Grant) *platformv1.GrantRecord {
	return &platformv1.GrantRecord{ClientId: g.ClientID, UserId: g.UserID.String(), Scopes: strings.Fields(g.Scopes)}
}
