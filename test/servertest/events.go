package servertest

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	"github.com/moderato-live/moderato/internal/jsonapi"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// Events returns the payloads of the events of a type in Owner's channel, in their order.
func Events[E any, P interface {
	*E
	proto.Message
}](t testing.TB, s *store.Store, kind string) (all []P) {
	t.Helper()
	for _, row := range storetest.Must(s.Read.Event.Query().Where(event.ChannelID(Owner), event.Type(kind)).Order(ent.Asc(event.FieldSequence)).All(t.Context())) {
		e := P(new(E))
		if err := jsonapi.Unmarshal([]byte(row.Payload), e, jsonapi.Options{}); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}
