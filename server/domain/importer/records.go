package importer

import (
	"context"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/domain/domains"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// imports holds the Import of each kind of record except follows, which are stored in
// bulk.
var imports = func() map[protoreflect.FieldNumber]tables.Import {
	all := map[protoreflect.FieldNumber]tables.Import{}
	for _, table := range domains.Tables() {
		for _, i := range table.Imports {
			all[i.Field.Number()] = i
		}
	}
	return all
}()

// importOf returns the Import of a record.
func importOf(rec *platformv1.Record) (tables.Import, bool) {
	m := rec.ProtoReflect()
	field := m.WhichOneof(m.Descriptor().Oneofs().ByName("kind"))
	if field == nil {
		return tables.Import{}, false
	}
	i, ok := imports[field.Number()]
	return i, ok
}

// put stores a record of any kind except a follow.
func put(ctx context.Context, tx feed.Tx, rec *platformv1.Record) error {
	i, isKnown := importOf(rec)
	if !isKnown {
		return apierr.Invalid(apierr.Violation{Description: "must have one kind of record: " + strings.Join(recordKinds(), ", ")})
	}
	return i.Put(ctx, tx, rec)
}
