package jsonapi

import (
	"bytes"
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// scalar reads a value that is not a message. ok is false if the value was refused.
func (d *decoder) scalar(t *valueType) (v protoreflect.Value, ok bool, err error) {
	next := d.peek()
	var text []byte
	switch t.kind {
	case protoreflect.BoolKind:
		switch next {
		case 't':
			return protoreflect.ValueOfBool(true), true, d.literal("true")
		case 'f':
			return protoreflect.ValueOfBool(false), true, d.literal("false")
		}
		return v, false, d.refuse(descBool)
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.EnumKind:
		if next != '"' {
			return v, false, d.refuse(describe(t))
		}
		text, err = d.text()
	default:
		switch {
		case t.quoted && next == '"':
			if text, err = d.text(); err == nil && !isNumber(text) {
				d.report(describe(t))
				return v, false, nil
			}
		case next != '-' && (next < '0' || next > '9'):
			return v, false, d.refuse(describe(t))
		default:
			text, err = d.number()
		}
	}
	if err != nil {
		return v, false, err
	}
	v, wrong := parse(text, t)
	if wrong != "" {
		d.report(wrong)
		return v, false, nil
	}
	return v, true, nil
}

// parse converts the unquoted text of a string, or the text of a number, to a value of
// type t. It returns what is wrong with the text, or an empty string.
func parse(text []byte, t *valueType) (v protoreflect.Value, wrong string) {
	switch t.kind {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(string(text)), ""
	case protoreflect.BytesKind:
		decoded, err := base64.StdEncoding.Strict().AppendDecode([]byte{}, text)
		if err != nil || bytes.ContainsAny(text, "\r\n") { // package base64 ignores line breaks
			return v, describe(t)
		}
		return protoreflect.ValueOfBytes(decoded), ""
	case protoreflect.EnumKind:
		value := t.enum.Values().ByName(protoreflect.Name(text))
		if value == nil {
			return v, describe(t)
		}
		return protoreflect.ValueOfEnum(value.Number()), ""
	case protoreflect.FloatKind:
		f, err := strconv.ParseFloat(string(text), 32)
		if err != nil {
			return v, descNumber + between(t.kind)
		}
		return protoreflect.ValueOfFloat32(float32(f)), ""
	case protoreflect.DoubleKind:
		f, err := strconv.ParseFloat(string(text), 64)
		if err != nil {
			return v, descNumber + between(t.kind)
		}
		return protoreflect.ValueOfFloat64(f), ""
	default:
		return parseInteger(text, t.kind)
	}
}

// ParseInteger converts the text of a JSON number to a value of an integer kind. It returns
// what is wrong with the text, or an empty string.
func ParseInteger(text string, kind protoreflect.Kind) (v protoreflect.Value, wrong string) {
	if !isNumber([]byte(text)) {
		return v, descInteger
	}
	return parseInteger([]byte(text), kind)
}

// parseInteger converts a number to a value of an integer kind. Languages whose numbers are
// all floating-point write 600 as 600.0 or 6e2.
func parseInteger(number []byte, kind protoreflect.Kind) (v protoreflect.Value, wrong string) {
	text := string(number)
	if bytes.ContainsAny(number, ".eE") {
		var ok bool
		if text, ok = wholeNumber(text); !ok {
			return v, descInteger
		}
	}
	if text == "-0" {
		text = "0" // JSON allows -0, ParseUint does not
	}
	var err error
	switch kind {
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		var i int64
		i, err = strconv.ParseInt(text, 10, 32)
		v = protoreflect.ValueOfInt32(int32(i))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		var i int64
		i, err = strconv.ParseInt(text, 10, 64)
		v = protoreflect.ValueOfInt64(i)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		var u uint64
		u, err = strconv.ParseUint(text, 10, 32)
		v = protoreflect.ValueOfUint32(uint32(u))
	default: // 64-bit unsigned kinds
		var u uint64
		u, err = strconv.ParseUint(text, 10, 64)
		v = protoreflect.ValueOfUint64(u)
	}
	if err != nil { // at this point, only the range can be wrong
		return v, descInteger + between(kind)
	}
	return v, ""
}

// wholeNumber returns a number without its fraction and exponent. ok is false if it is not
// whole. A number that no integer kind can hold may become another such number.
func wholeNumber(number string) (text string, ok bool) {
	const tooLarge = 20 // zeros: 64 bits cannot hold any digit before them
	at := strings.IndexAny(number+"e", "eE")
	whole, fraction, _ := strings.Cut(number[:at], ".")
	digits := strings.TrimRight(whole+fraction, "0")
	if strings.Trim(digits, "-0") == "" {
		return "0", true
	}
	zeros := int64(len(whole) - len(digits))
	if at < len(number) {
		exponent, _ := strconv.ParseInt(number[at+1:], 10, 32) // out of range: the largest or smallest int32
		zeros += exponent
	}
	if zeros < 0 {
		return "", false
	}
	return digits + strings.Repeat("0", int(min(zeros, tooLarge))), true
}

// mapKey converts the name of a member to the key of a map. A number has only one
// spelling, so keys with different texts are different numbers.
func mapKey(name string, kind protoreflect.Kind) (key protoreflect.MapKey, wrong string) {
	switch kind {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(name).MapKey(), ""
	case protoreflect.BoolKind:
		if name == "true" || name == "false" {
			return protoreflect.ValueOfBool(name == "true").MapKey(), ""
		}
		return key, asKey(descBool)
	}
	if !isNumber([]byte(name)) || name == "-0" || strings.ContainsAny(name, ".eE") {
		return key, asKey(descInteger)
	}
	v, wrong := parseInteger([]byte(name), kind)
	if wrong != "" {
		return key, asKey(wrong)
	}
	return v.MapKey(), ""
}

// isNumber reports whether the whole text is a JSON number.
func isNumber(text []byte) bool {
	s := scanner{data: text}
	number, err := s.number()
	return err == nil && len(number) == len(text)
}

// asKey converts a description of what a value must be to one of what a key must be.
func asKey(description string) string {
	return "must have " + strings.TrimPrefix(description, "must be ") + " as its key"
}

// describe returns what a value of a type that is not a message must be.
func describe(t *valueType) string {
	switch t.kind {
	case protoreflect.StringKind:
		return descString
	case protoreflect.BytesKind:
		return descBytes
	case protoreflect.BoolKind:
		return descBool
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return descNumber
	case protoreflect.EnumKind:
		values := t.enum.Values()
		names := make([]string, values.Len())
		for i := range names {
			names[i] = string(values.Get(i).Name())
		}
		return "must be one of " + strings.Join(names, ", ")
	default:
		return descInteger
	}
}

// plural returns the plural noun for values of a type, for use with an array.
func plural(t *valueType) string {
	switch t.kind {
	case protoreflect.StringKind, protoreflect.EnumKind:
		return "strings"
	case protoreflect.BytesKind:
		return "base64 strings"
	case protoreflect.BoolKind:
		return "booleans"
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return "numbers"
	case protoreflect.MessageKind, protoreflect.GroupKind:
		switch t.message.form {
		case formTimestamp:
			return "timestamps"
		case formList:
			return "arrays"
		case formValue:
			return "values"
		}
		return "objects"
	default:
		return "integers"
	}
}

// between returns the bounds of a numeric kind as text.
func between(kind protoreflect.Kind) string {
	switch kind {
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return " between -2147483648 and 2147483647"
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return " between -9223372036854775808 and 9223372036854775807"
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return " between 0 and 4294967295"
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return " between 0 and 18446744073709551615"
	case protoreflect.FloatKind:
		return bounds(math.MaxFloat32, 32)
	default:
		return bounds(math.MaxFloat64, 64)
	}
}

func bounds(limit float64, bits int) string {
	text := strconv.FormatFloat(limit, 'g', -1, bits)
	return " between -" + text + " and " + text
}
