// Package eventtype holds the event types that the contract declares, and how long the
// events of each type are kept.
package eventtype

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// Type is the name of an event type, such as channel.ban. The contract declares the
// types, as options of the payloads of moderato.v1.Event.
type Type string

// declared is an event type as the contract declares it.
type declared struct {
	*optionsv1.EventType

	// payload is the field of moderato.v1.Event that holds the type's payload.
	payload protoreflect.FieldDescriptor
}

// types holds all event types, in the order of the contract, and byName holds them by
// name.
var types, byName = readTypes()

func readTypes() ([]declared, map[Type]declared) {
	var all []declared
	named := map[Type]declared{}
	fields := (*moderatov1.Event)(nil).ProtoReflect().Descriptor().Oneofs().ByName("payload").Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		options, _ := proto.GetExtension(field.Options(), optionsv1.E_Event).([]*optionsv1.EventType)
		for _, option := range options {
			d := declared{EventType: option, payload: field}
			all = append(all, d)
			named[Type(option.GetName())] = d
		}
	}
	return all, named
}

// IsType reports whether name is the name of an event type.
func IsType(name string) bool {
	_, isType := byName[Type(name)]
	return isType
}

// Types returns the names of the event types that are kept: all but the live ones.
func Types() []string {
	var names []string
	for _, t := range types {
		if !t.GetLive() {
			names = append(names, t.GetName())
		}
	}
	return names
}

// LiveTypes returns the names of the live event types, which are not kept.
func LiveTypes() []string {
	var names []string
	for _, t := range types {
		if t.GetLive() {
			names = append(names, t.GetName())
		}
	}
	return names
}

// Kept returns those of some types whose events are kept.
func Kept(all []Type) []Type { return slices.DeleteFunc(slices.Clone(all), Type.IsLive) }

// IsLive reports whether events of a type are live, that is, not kept.
func (t Type) IsLive() bool { return byName[t].GetLive() }

// MayBeLive reports whether events of a type are live, or some of them are.
func (t Type) MayBeLive() bool { return t.IsLive() || byName[t].GetAlsoLive() }

// TypesOf returns the names of the event types with an origin that are kept.
func TypesOf(origin optionsv1.Origin) []string {
	var names []string
	for _, t := range types {
		if t.GetOrigin() == origin && !t.GetLive() {
			names = append(names, t.GetName())
		}
	}
	return names
}

// TypesNamed returns the types with some names.
func TypesNamed(names []string) []Type {
	named := make([]Type, len(names))
	for i, name := range names {
		named[i] = Type(name)
	}
	return named
}

// GrantsRight reports whether events of a type may give their target a right to a channel.
func (t Type) GrantsRight() bool { return byName[t].GetGrantsRight() }

// EndsRight reports whether events of a type may end their target's right to a channel.
func (t Type) EndsRight() bool { return byName[t].GetEndsRight() }

// Audience returns who hears events of a type.
func (t Type) Audience() optionsv1.Audience { return byName[t].GetAudience() }

// CheckPayload returns an error if the contract does not declare the type, or declares
// it with another payload.
func (t Type) CheckPayload(payload proto.Message) error {
	d, isDeclared := byName[t]
	if !isDeclared {
		return fmt.Errorf("the contract does not declare the event type %q", t)
	}
	if d.GetLive() {
		return fmt.Errorf("events of the type %q are live, and are not stored", t)
	}
	if got := payload.ProtoReflect().Descriptor(); got != d.payload.Message() {
		return fmt.Errorf("the payload of %s is a %s, not a %s", t, d.payload.Message().FullName(), got.FullName())
	}
	return nil
}

// MutablePayload returns the payload of an event of the type, which it adds if there is
// none. It returns nil if the contract does not declare the type.
func (t Type) MutablePayload(e *moderatov1.Event) proto.Message {
	d, isDeclared := byName[t]
	if !isDeclared {
		return nil
	}
	return e.ProtoReflect().Mutable(d.payload).Message().Interface()
}
