package conformance

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// shape is an object of the document.
type shape struct {
	name, section string
	fields        []field
}

type field struct {
	name string
	typ  *valueType
}

// valueType is the type of a value. The zero conditions are those of a value that is always
// there and not null.
type valueType struct {
	text    string // as the table has it
	base    string
	values  []string // of "one of"
	element *valueType
	shape   *shape
	// orNull is true if null is permitted at any time.
	orNull bool
	// conditions are fields of the same object. If none is true, the value must be otherwise.
	conditions []string
	otherwise  any
}

// parseType parses a type such as "timestamp if isLive, else null". shapeOf returns the shape
// with a name.
func parseType(text string, shapeOf func(string) *shape) *valueType {
	t := &valueType{text: text, base: text}
	if base, condition, ok := strings.Cut(t.base, " if "); ok {
		fields, otherwise, _ := strings.Cut(condition, ", else ")
		t.base, t.conditions = base, strings.Split(fields, " or ")
		if otherwise == `""` {
			t.otherwise = ""
		}
	}
	t.base, t.orNull = strings.CutSuffix(t.base, " or null")
	if element, ok := strings.CutPrefix(t.base, "array of "); ok {
		t.base, t.element = "array", parseType(element, shapeOf)
	} else if values, ok := strings.CutPrefix(t.base, "one of "); ok {
		t.base, t.values = "one of", strings.Split(values, ", ")
	} else if matchers[t.base] == nil {
		t.shape = shapeOf(t.base)
	}
	return t
}

var (
	uuidPattern      = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	timestampPattern = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	languagePattern  = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)
	integerPattern   = regexp.MustCompile(`^-?(0|[1-9]\d*)$`)
)

// matchers report whether a value is of a type.
var matchers = map[string]func(any) bool{
	"string":                 func(v any) bool { return isText(v, func(string) bool { return true }) },
	"string (UUID)":          func(v any) bool { return isText(v, uuidPattern.MatchString) },
	"string (language code)": func(v any) bool { return isText(v, languagePattern.MatchString) },
	"string (URL)": func(v any) bool {
		return isText(v, func(s string) bool {
			u, err := url.Parse(s)
			return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
		})
	},
	"timestamp": func(v any) bool {
		return isText(v, func(s string) bool {
			_, err := time.Parse(time.RFC3339, s)
			return err == nil && timestampPattern.MatchString(s)
		})
	},
	"integer": func(v any) bool {
		n, ok := v.(json.Number)
		return ok && integerPattern.MatchString(n.String())
	},
	"boolean": func(v any) bool { _, ok := v.(bool); return ok },
	"object":  func(v any) bool { _, ok := v.(map[string]any); return ok },
}

func isText(v any, matches func(string) bool) bool {
	s, ok := v.(string)
	return ok && matches(s)
}

// inspection collects what is wrong with the values of an answer, and what they do not show.
type inspection struct {
	find func(section, path, text string)
	// shown says of each path that may be null or an empty list whether a value was seen.
	shown map[string]bool
}

// value checks a value. owner is the object that has it.
func (i *inspection) value(t *valueType, v any, owner map[string]any, section, path string) {
	isWrong := func() { i.find(section, path, fmt.Sprintf("is %s, want %s", abbreviate(v), t.text)) }
	if t.conditions != nil {
		isConditionMet := slices.ContainsFunc(t.conditions, func(name string) bool { return owner[name] == true })
		i.shown[path] = i.shown[path] || isConditionMet
		if !isConditionMet {
			if v != t.otherwise {
				isWrong()
			}
			return
		}
	}
	if t.orNull {
		i.shown[path] = i.shown[path] || v != nil
		if v == nil {
			return
		}
	}
	switch {
	case t.shape != nil:
		object, ok := v.(map[string]any)
		if !ok {
			isWrong()
			return
		}
		i.object(t.shape, object, path)
	case t.element != nil:
		list, ok := v.([]any)
		if !ok {
			isWrong()
			return
		}
		i.shown[path+"[]"] = i.shown[path+"[]"] || len(list) > 0
		for _, element := range list {
			i.value(t.element, element, nil, section, path+"[]")
		}
	case t.values != nil:
		if s, ok := v.(string); !ok || !slices.Contains(t.values, s) {
			isWrong()
		}
	case !matchers[t.base](v):
		isWrong()
	}
}

// object checks the fields of an object. Others may be there: fields are only ever added.
func (i *inspection) object(s *shape, object map[string]any, path string) {
	for _, f := range s.fields {
		v, ok := object[f.name]
		if !ok {
			i.find(s.section, path+"."+f.name, "is missing, want "+f.typ.text)
			continue
		}
		i.value(f.typ, v, object, s.section, path+"."+f.name)
	}
}

// abbreviate returns a value as short JSON.
func abbreviate(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if short := []rune(string(text)); len(short) > 60 {
		return string(short[:60]) + "…"
	}
	return string(text)
}
