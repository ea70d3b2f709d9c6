package validate

import (
	"fmt"
	"slices"

	"github.com/moderato-live/moderato/server/rpc/eventtype"
)

// EventTypes checks the list of event types in the field type, and returns it sorted and
// without duplicates.
func (f *Fields) EventTypes(names []string) []string {
	if !f.AtMost("type", len(names)) {
		return nil
	}
	for i, name := range names {
		if !eventtype.IsType(name) {
			f.Add(fmt.Sprintf("type[%d]", i), "must be an event type, such as channel.ban or stream.online")
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// KeptEventTypes is EventTypes, and rejects the live types.
func (f *Fields) KeptEventTypes(names []string) []string {
	if !f.AtMost("type", len(names)) {
		return nil
	}
	for i, name := range names {
		if eventtype.Type(name).IsLive() {
			f.Add(fmt.Sprintf("type[%d]", i), "must be a type of which events are kept; those of "+name+" are live")
		}
	}
	return f.EventTypes(names)
}
