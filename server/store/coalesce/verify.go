package coalesce

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Verify checks that a query keeps its meaning when it is coalesced. union turns each
// query into a part of a UNION ALL, with a number as a further first column. Therefore a
// query must be one SELECT of columns: without DISTINCT or another modifier, without a
// set operation, lock or comment of its own. Its ORDER BY must have a LIMIT, because
// databases ignore the order of a part without one. ORDER BY and GROUP BY must not refer
// to columns by number. Each LIMIT must be a number and no parameter, because SQLite
// plans a statement again when a parameter is bound on which its plan may depend.
func Verify(query string) error {
	tokens, err := tokenize(query)
	if err != nil {
		return err
	}
	if len(tokens) < 2 || tokens[0].text != "SELECT" {
		return errors.New("the statement must begin with SELECT")
	}
	if first := tokens[1].text; slices.Contains(modifiers, first) || strings.HasPrefix(first, "SQL_") {
		return fmt.Errorf("the statement has %s after SELECT, which must be followed by a column", first)
	}
	for _, t := range tokens {
		if t.depth == 0 && slices.Contains(endings, t.text) {
			return fmt.Errorf("the statement has %s outside parentheses", t.text)
		}
	}
	if err := verifyLimits(tokens); err != nil {
		return err
	}
	return verifyOrder(tokens)
}

var (
	// modifiers are the words that may only stand directly after SELECT. The * may
	// not follow another column without the name of its table.
	modifiers = []string{"DISTINCT", "DISTINCTROW", "ALL", "HIGH_PRIORITY", "STRAIGHT_JOIN", "*"}
	// endings are the words that a part of a UNION must not contain.
	endings = []string{"UNION", "INTERSECT", "EXCEPT", "FOR", "LOCK", "INTO", "PROCEDURE", ";"}
)

func verifyLimits(tokens []token) error {
	for n, t := range tokens {
		if t.text == "LIMIT" && !isNumber(tokens, n+1) {
			return errors.New("the statement has a LIMIT that is no number")
		}
	}
	return nil
}

// verifyOrder checks the clauses ORDER BY and GROUP BY outside parentheses.
func verifyOrder(tokens []token) error {
	clause, needsLimit := "", false
	for n, t := range tokens {
		if t.depth > 0 {
			continue
		}
		switch t.text {
		case "ORDER", "GROUP":
			clause = t.text
			needsLimit = needsLimit || t.text == "ORDER"
		case "BY", ",":
			if clause != "" && isNumber(tokens, n+1) {
				return fmt.Errorf("the statement has %s BY a column's number", clause)
			}
		case "HAVING", "LIMIT", "WINDOW":
			clause = ""
			needsLimit = needsLimit && t.text != "LIMIT"
		}
	}
	if needsLimit {
		return errors.New("the statement has ORDER BY without LIMIT")
	}
	return nil
}

func isNumber(tokens []token, n int) bool {
	if n >= len(tokens) {
		return false
	}
	_, err := strconv.Atoi(tokens[n].text)
	return err == nil
}

// token is a word in upper case, a quoted text or name, or another character.
type token struct {
	text  string
	depth int // number of open parentheses
}

// tokenize splits a statement into its tokens, without spaces and parentheses.
func tokenize(query string) (tokens []token, err error) {
	depth := 0
	for at := 0; at < len(query); {
		rest := query[at:]
		length := tokenLength(rest)
		if length < 0 {
			return nil, errors.New("the statement has a quote without its end")
		}
		text := rest[:length]
		at += length
		switch {
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "/*"), text == "#":
			return nil, errors.New("the statement has a comment")
		case text == "(":
			depth++
		case text == ")":
			if depth--; depth < 0 {
				return nil, errors.New("the statement closes a parenthesis that is not open")
			}
		case strings.TrimSpace(text) != "":
			tokens = append(tokens, token{strings.ToUpper(text), depth})
		}
	}
	if depth > 0 {
		return nil, errors.New("the statement has an open parenthesis")
	}
	return tokens, nil
}

// tokenLength returns the length of the first token of text; it is negative if a quote
// does not end. Doubled quotes make two adjacent quoted tokens, which does no harm.
func tokenLength(text string) int {
	if quote := text[0]; quote == '\'' || quote == '"' || quote == '`' {
		end := strings.IndexByte(text[1:], quote)
		if end < 0 {
			return end
		}
		return end + 2
	}
	length := strings.IndexFunc(text, func(c rune) bool { return !isWord(c) })
	switch {
	case length < 0:
		return len(text)
	case length == 0:
		return 1
	}
	return length
}

func isWord(c rune) bool {
	return c == '_' || c == '.' || c == '$' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// union returns a UNION ALL of n copies of a query that Verify accepts, each with its
// number as the first column.
func union(query string, n int) string {
	columns := strings.TrimSpace(query)[len("SELECT"):]
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(" UNION ALL ")
		}
		b.WriteString("(SELECT " + strconv.Itoa(i) + "," + columns + ")")
	}
	return b.String()
}
