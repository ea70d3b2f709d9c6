package jsonapi

import (
	"errors"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Options configures what Unmarshal accepts.
type Options struct {
	// RejectUnknown refuses fields that the message does not have. The bodies of REST
	// calls may contain such fields, because a client may be newer than the server. In
	// the lines of an import, they are mistakes.
	RejectUnknown bool
	// Refuse, if not nil, returns why an unknown field of m is refused, or an empty string
	// if RejectUnknown decides. path is the field's path in the text, as in a Violation.
	Refuse func(m protoreflect.MessageDescriptor, name, path string) (description string)
}

// Unmarshal resets m and reads one JSON object into it. Only lowerCamelCase names are
// accepted; null leaves a field unset. An error is always an *Error; m is then empty.
func Unmarshal(data []byte, m proto.Message, opts Options) error {
	proto.Reset(m)
	d := decoder{scanner: scanner{data: data}, opts: opts}
	if err := d.document(m.ProtoReflect()); err != nil {
		// report would drop the error after maxViolations; it is always listed.
		d.violations = append(d.violations, Violation{Description: err.Error()})
	}
	if len(d.violations) == 0 {
		return nil
	}
	proto.Reset(m)
	return &Error{Violations: d.violations}
}

// maxViolations bounds the length of an error, which could otherwise be many times as
// long as the text.
const maxViolations = 100

// decoder reads one text. An error that a method returns ends the decoding. A value that
// is well-formed JSON but wrong for the message is reported, and the decoding continues.
type decoder struct {
	scanner
	opts       Options
	path       []step
	violations []Violation
}

// report adds a violation for the value at the path.
func (d *decoder) report(description string) {
	if len(d.violations) < maxViolations {
		d.violations = append(d.violations, Violation{Field: pathText(d.path), Description: description})
	}
}

// refuse skips the next value and reports a violation for it. It returns an error if
// the value is not well-formed.
func (d *decoder) refuse(description string) error {
	if err := d.skip(); err != nil {
		return err
	}
	d.report(description)
	return nil
}

func (d *decoder) enter(s step) { d.path = append(d.path, s) }
func (d *decoder) leave()       { d.path = d.path[:len(d.path)-1] }

// document reads the whole text.
func (d *decoder) document(m protoreflect.Message) error {
	if at := invalidUTF8(d.data); at >= 0 {
		return &syntaxError{description: descUnicode, before: d.data[:at]}
	}
	if d.atEnd() {
		return errors.New(descEmpty)
	}
	if d.peek() != '{' {
		return d.refuse(descNotObject)
	}
	if err := d.message(m, planOf(m.Descriptor())); err != nil {
		return err
	}
	if !d.atEnd() {
		return errors.New(descTrailing)
	}
	return nil
}

// invalidUTF8 returns the offset of the first byte of data that is not valid UTF-8, or
// -1 if all of data is.
func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	at := 0
	for {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size <= 1 {
			return at
		}
		at += size
	}
}

// message reads a message in the form of its type.
func (d *decoder) message(m protoreflect.Message, p *plan) error {
	switch p = p.of(m); p.form {
	case formTimestamp:
		return d.timestamp(m, p)
	case formStruct:
		return d.field(m, &p.fields[structFields])
	case formList:
		return d.field(m, &p.fields[listValues])
	case formValue:
		return d.any(m, p)
	default:
		return d.fields(m, p)
	}
}

// fields reads an object of the fields of a message.
func (d *decoder) fields(m protoreflect.Message, p *plan) error {
	if d.peek() != '{' {
		return d.refuse(descObject)
	}
	if d.depth == maxDepth && len(p.fields) > 0 {
		return d.fail(descDepth) // even for {}, which is written with its fields
	}
	var (
		seen    = make([]bool, p.names)
		oneofs  = make([]bool, p.oneofs)
		unknown map[string]bool
	)
	return d.object(func(key []byte) error {
		f := p.byName[string(key)]
		if f == nil {
			if unknown == nil {
				unknown = make(map[string]bool)
			}
			return d.unknown(m.Descriptor(), string(key), unknown)
		}
		d.enter(step{name: f.name, index: -1})
		defer d.leave()
		if seen[f.index] {
			return d.refuse(descDuplicate)
		}
		seen[f.index] = true
		m := m
		if f.outer != nil {
			m = m.Mutable(f.outer.desc).Message()
		}
		if d.peek() == 'n' {
			return d.literal("null")
		}
		if f.oneof != nil {
			if oneofs[f.oneof.Index()] {
				return d.refuse(descOneof(f.oneof))
			}
			oneofs[f.oneof.Index()] = true
		}
		return d.field(m, f)
	})
}

// unknown skips or refuses a field that the message does not have.
func (d *decoder) unknown(m protoreflect.MessageDescriptor, key string, seen map[string]bool) error {
	d.enter(step{name: key, index: -1})
	defer d.leave()
	again := seen[key]
	seen[key] = true
	switch {
	case again:
		return d.refuse(descDuplicate)
	case d.opts.Refuse != nil:
		if len(d.violations) >= maxViolations {
			return d.skip() // without the effort: it would not be reported
		}
		if description := d.opts.Refuse(m, key, pathText(d.path)); description != "" {
			return d.refuse(description)
		}
	}
	if d.opts.RejectUnknown {
		return d.refuse(descUnknown)
	}
	return d.skip()
}

// descOneof returns the description for a second member of a oneof.
func descOneof(oneof protoreflect.OneofDescriptor) string {
	b := []byte("only one of ")
	for i := range oneof.Fields().Len() {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, oneof.Fields().Get(i).JSONName()...)
	}
	return string(append(b, " may be given"...))
}

// field reads the value of a field of m. Its callers handle null.
func (d *decoder) field(m protoreflect.Message, f *field) error {
	switch f.shape {
	case shapeList:
		return d.list(m, f)
	case shapeMap:
		return d.mapping(m, f)
	}
	if f.value.message != nil {
		return d.message(m.Mutable(f.desc).Message(), f.value.message)
	}
	v, ok, err := d.scalar(&f.value)
	if ok {
		m.Set(f.desc, v)
	}
	return err
}

func (d *decoder) list(m protoreflect.Message, f *field) error {
	if d.peek() != '[' {
		return d.refuse(descArray + " of " + plural(&f.value))
	}
	values := m.Mutable(f.desc).List()
	return d.array(func(index int) error {
		d.enter(step{index: index})
		defer d.leave()
		if f.value.message != nil {
			return d.message(values.AppendMutable().Message(), f.value.message)
		}
		v, ok, err := d.scalar(&f.value)
		if ok {
			values.Append(v)
		}
		return err
	})
}

func (d *decoder) mapping(m protoreflect.Message, f *field) error {
	if d.peek() != '{' {
		return d.refuse(descObject)
	}
	values := m.Mutable(f.desc).Map()
	// The map itself cannot show duplicates, because refused values are not in it.
	seen := make(map[string]bool)
	return d.object(func(text []byte) error {
		name := string(text)
		d.enter(step{name: name, index: -1})
		defer d.leave()
		if seen[name] {
			return d.refuse(descDuplicate)
		}
		seen[name] = true
		key, wrong := mapKey(name, f.mapKey)
		if wrong != "" {
			return d.refuse(wrong)
		}
		if f.value.message != nil {
			return d.message(values.Mutable(key).Message(), f.value.message)
		}
		v, ok, err := d.scalar(&f.value)
		if ok {
			values.Set(key, v)
		}
		return err
	})
}

func (d *decoder) timestamp(m protoreflect.Message, p *plan) error {
	if d.peek() != '"' {
		return d.refuse(descTimestamp)
	}
	text, err := d.text()
	if err != nil {
		return err
	}
	seconds, nanos, ok := parseTimestamp(text)
	if !ok {
		d.report(descTimestamp)
		return nil
	}
	m.Set(p.fields[timestampSeconds].desc, protoreflect.ValueOfInt64(seconds))
	m.Set(p.fields[timestampNanos].desc, protoreflect.ValueOfInt32(nanos))
	return nil
}

// any reads a google.protobuf.Value.
func (d *decoder) any(m protoreflect.Message, p *plan) error {
	member := valueNumber
	switch d.peek() {
	case 'n':
		m.Set(p.fields[valueNull].desc, protoreflect.ValueOfEnum(0))
		return d.literal("null")
	case '"':
		member = valueString
	case 't', 'f':
		member = valueBool
	case '{':
		member = valueStruct
	case '[':
		member = valueList
	}
	return d.field(m, &p.fields[member])
}
