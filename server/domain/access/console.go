package access

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
)

// Console is the id of the client of the console. Servers keep the client as their console
// needs it, so nobody else may change it. It has no registered redirect URI: only the server
// knows where its console is.
const Console = "moderato-console"

func consoleRecord() *platformv1.ClientRecord {
	return &platformv1.ClientRecord{
		Id: Console, Name: "Moderato console", Public: true,
		Scopes: []string{authn.ChannelModerate, authn.OfflineAccess, authn.UsersBot, authn.UsersRead},
	}
}

// PutConsole creates the client of the console, if it is not in the database as this version
// needs it.
func PutConsole(ctx context.Context, s *store.Store) error {
	want := consoleRecord()
	row, err := s.Read.Application.Get(ctx, Console)
	switch {
	case err != nil && !ent.IsNotFound(err):
		return s.Classify(err)
	case err == nil && proto.Equal(clientRecord(row), want):
		return nil
	}
	return write(ctx, s, func(ctx context.Context, tx feed.Tx, _ store.Attempt) error {
		_, err := saveClient(ctx, tx, want)
		return err
	})
}

// CheckReserved returns an error if a client is not for others to change.
func CheckReserved(id, field string) error {
	if id != Console {
		return nil
	}
	return apierr.Invalid(apierr.Violation{Field: field, Description: "must not be " + Console + ", which is reserved for the console of the server"})
}
