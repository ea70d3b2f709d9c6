package httploop

import (
	"bytes"
	"strings"
)

// isShortRead reports whether a header section is that of a request that the loop serves. It
// is strict: net/http's server decides about everything that is unusual.
func (s *Server) isShortRead(section []byte) bool {
	line, rest, _ := bytes.Cut(section, []byte("\r\n"))
	target, isGet := bytes.CutPrefix(line, []byte("GET "))
	target, isHTTP11 := bytes.CutSuffix(target, []byte(" HTTP/1.1"))
	path, _, _ := bytes.Cut(target, []byte("?"))
	if !isGet || !isHTTP11 || !s.Reads[string(path)] || !consistsOf(target, isTargetByte) {
		return false
	}
	hosts := 0
	for {
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		if len(line) == 0 {
			return hosts == 1
		}
		name, value, hasColon := bytes.Cut(line, []byte(":"))
		value = bytes.Trim(value, " ")
		if !hasColon || len(name) == 0 || !consistsOf(name, isNameByte) || !consistsOf(value, isValueByte) {
			return false
		}
		switch kindOf(name) {
		case hostField:
			if hosts++; !consistsOf(value, isHostByte) {
				return false
			}
		case connectionField:
			if !bytes.EqualFold(value, []byte("keep-alive")) {
				return false
			}
		case refusedField:
			return false
		}
	}
}

type fieldKind int

const (
	plainField fieldKind = iota
	hostField
	connectionField
	// refusedField is a field with which the loop does not serve a request: it has a body, or
	// wants another protocol or form of the response.
	refusedField
)

func kindOf(name []byte) fieldKind {
	is := func(field string) bool { return strings.EqualFold(string(name), field) }
	switch {
	case is("Host"):
		return hostField
	case is("Connection"):
		return connectionField
	case is("Content-Length"), is("Transfer-Encoding"), is("Upgrade"), is("Expect"):
		return refusedField
	}
	return plainField
}

func consistsOf(text []byte, is func(byte) bool) bool {
	for _, b := range text {
		if !is(b) {
			return false
		}
	}
	return true
}

func isAlphanumeric(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
}

func isTargetByte(b byte) bool { return ' ' < b && b <= '~' }

func isNameByte(b byte) bool { return isAlphanumeric(b) || b == '-' || b == '_' }

func isValueByte(b byte) bool { return ' ' <= b && b <= '~' }

func isHostByte(b byte) bool {
	return isAlphanumeric(b) || b == '.' || b == '-' || b == ':' || b == '[' || b == ']'
}
