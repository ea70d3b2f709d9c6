// Package pictures fills empty picture URLs in what clients receive: many clients discard a
// person whose avatarUrl is empty. Stored data keeps the empty URL. The option
// default_picture in the .proto files says which fields are filled.
package pictures

import (
	"bytes"
	"encoding/json"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// Filler fills empty picture URLs. A nil Filler fills none.
type Filler struct {
	value protoreflect.Value
	// members are the empty members of events, and what replaces each.
	members [][2][]byte
}

// New returns a Filler that fills in a URL; nil for an empty URL.
func New(url string) *Filler {
	if url == "" {
		return nil
	}
	f := &Filler{value: protoreflect.ValueOfString(url)}
	quoted, _ := json.Marshal(url) // text always has an encoding
	names := map[string]bool{}
	planOf((*moderatov1.Event)(nil).ProtoReflect().Descriptor()).addNames(names)
	for name := range names {
		member := []byte(`"` + name + `":`)
		f.members = append(f.members, [2][]byte{append(bytes.Clone(member), `""`...), append(member, quoted...)})
	}
	return f
}

// Fill fills the pictures of a message.
func (f *Filler) Fill(m proto.Message) {
	if f == nil {
		return
	}
	r := m.ProtoReflect()
	if p := planOf(r.Descriptor()); p != nil {
		p.fill(r, f.value)
	}
}

// FillJSON returns the payload of an event, as it was stored, with its pictures. The quotes
// of a text are escaped in JSON, so only members match.
func (f *Filler) FillJSON(payload []byte) []byte {
	if f == nil {
		return payload
	}
	for _, m := range f.members {
		if bytes.Contains(payload, m[0]) {
			payload = bytes.ReplaceAll(payload, m[0], m[1])
		}
	}
	return payload
}
