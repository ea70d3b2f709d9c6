package pictures

import (
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
)

// plan says where a type of message has pictures, so that responses without any cost
// nothing. It is nil for a type without pictures.
type plan struct {
	pictures []picture
	nested   []nested
}

// picture is a field that is filled.
type picture struct {
	field protoreflect.FieldDescriptor
	// while is the field that must be true; nil for none.
	while protoreflect.FieldDescriptor
}

// nested is a field whose messages have pictures.
type nested struct {
	field protoreflect.FieldDescriptor
	plan  *plan
}

// plans holds the plans by the full names of the types.
var plans sync.Map

func planOf(desc protoreflect.MessageDescriptor) *plan {
	if known, ok := plans.Load(desc.FullName()); ok {
		return known.(*plan)
	}
	p := newPlan(desc, map[protoreflect.FullName]bool{})
	plans.Store(desc.FullName(), p)
	return p
}

// newPlan returns the plan of a type. The types that enclose it are left out: those that
// contain themselves, such as google.protobuf.Struct, have no pictures.
func newPlan(desc protoreflect.MessageDescriptor, enclosing map[protoreflect.FullName]bool) *plan {
	if enclosing[desc.FullName()] {
		return nil
	}
	enclosing[desc.FullName()] = true
	defer delete(enclosing, desc.FullName())
	p := &plan{}
	for i := range desc.Fields().Len() {
		f := desc.Fields().Get(i)
		kind, _ := proto.GetExtension(f.Options(), optionsv1.E_DefaultPicture).(optionsv1.DefaultPicture)
		switch {
		case kind == optionsv1.DefaultPicture_DEFAULT_PICTURE_ALWAYS:
			p.pictures = append(p.pictures, picture{field: f})
		case kind == optionsv1.DefaultPicture_DEFAULT_PICTURE_WHILE_LIVE:
			p.pictures = append(p.pictures, picture{field: f, while: desc.Fields().ByName("is_live")})
		case f.Message() != nil && !f.IsMap():
			if inner := newPlan(f.Message(), enclosing); inner != nil {
				p.nested = append(p.nested, nested{f, inner})
			}
		}
	}
	if len(p.pictures)+len(p.nested) == 0 {
		return nil
	}
	return p
}

func (p *plan) fill(m protoreflect.Message, url protoreflect.Value) {
	for _, f := range p.pictures {
		if m.Get(f.field).String() == "" && (f.while == nil || m.Get(f.while).Bool()) {
			m.Set(f.field, url)
		}
	}
	for _, n := range p.nested {
		switch {
		case !m.Has(n.field):
		case n.field.IsList():
			for list, i := m.Get(n.field).List(), 0; i < list.Len(); i++ {
				n.plan.fill(list.Get(i).Message(), url)
			}
		default:
			n.plan.fill(m.Get(n.field).Message(), url)
		}
	}
}

// addNames adds the JSON names of the pictures to a set.
func (p *plan) addNames(names map[string]bool) {
	for _, f := range p.pictures {
		names[f.field.JSONName()] = true
	}
	for _, n := range p.nested {
		n.plan.addNames(names)
	}
}
