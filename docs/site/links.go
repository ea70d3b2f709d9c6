package site

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// links turns the links of the Markdown files into those of the site, and links the codes
// of errors and the types of events wherever a page mentions them.
type links struct {
	// codes are the codes of errors, and types the types of events.
	codes, types map[string]bool
	// from is the path in the project of the file that is rendered.
	from string
}

// Transform changes the links of a page.
func (l *links) Transform(document *ast.Document, reader text.Reader, _ parser.Context) {
	var mentions []ast.Node
	_ = ast.Walk(document, func(n ast.Node, isEntering bool) (ast.WalkStatus, error) {
		if !isEntering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			l.follow(n, reader.Source())
			return ast.WalkSkipChildren, nil
		case *ast.Image:
			n.Destination = []byte(l.target(string(n.Destination)))
			return ast.WalkSkipChildren, nil
		case *ast.Heading:
			return ast.WalkSkipChildren, nil
		case *ast.CodeSpan:
			mentions = append(mentions, n)
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			joinTexts(n, reader.Source())
			mentions = append(mentions, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range mentions {
		l.mention(n, reader.Source())
	}
}

// joinTexts appends the texts that follow n to it. The parser ends a text at an underscore.
func joinTexts(n *ast.Text, source []byte) {
	for {
		next, ok := n.NextSibling().(*ast.Text)
		if !ok || !n.Merge(next, source) {
			return
		}
		n.Parent().RemoveChild(n.Parent(), next)
	}
}

// follow changes a link. A text that is only the name of the file becomes the page's.
func (l *links) follow(n *ast.Link, source []byte) {
	destination := string(n.Destination)
	n.Destination = []byte(l.target(destination))
	file, _, _ := strings.Cut(destination, "#")
	if p, isPage := pageOf(l.path(file)); isPage && textOf(n, source) == path.Base(file) {
		n.RemoveChildren(n)
		n.AppendChild(n, ast.NewString([]byte(p.Label)))
	}
}

// path returns the path in the project of a file to which the page links.
func (l *links) path(file string) string { return path.Join(path.Dir(l.from), file) }

// target returns where a link of a page leads on the site. Files that the site does not have
// are in the repository.
func (l *links) target(destination string) string {
	file, anchor, hasAnchor := strings.Cut(destination, "#")
	switch {
	case file == "", strings.Contains(destination, "://"), strings.HasPrefix(file, "/"):
		return destination
	case path.Ext(file) == ".svg" && path.Base(file) == file:
		return Root + file
	}
	to := repository + l.path(file)
	if p, isPage := pageOf(l.path(file)); isPage {
		to = p.URL()
	}
	if hasAnchor {
		to += "#" + anchor
	}
	return to
}

// linkPattern finds the destinations of links in Markdown.
var linkPattern = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// inMarkdown returns the Markdown of a page with its links as the site serves it.
func (l *links) inMarkdown(source []byte) []byte {
	return linkPattern.ReplaceAllFunc(source, func(found []byte) []byte {
		destination := string(found[len("](") : len(found)-len(")")])
		target := l.target(destination)
		if file, anchor, _ := strings.Cut(destination, "#"); file != "" && !strings.Contains(destination, "://") {
			if p, isPage := pageOf(l.path(file)); isPage {
				target = Root + p.Name + ".md"
				if anchor != "" {
					target += "#" + anchor
				}
			}
		}
		return []byte("](" + target + ")")
	})
}

// codePattern finds what may be a code of an error.
var codePattern = regexp.MustCompile(`\b[A-Z]+(?:_[A-Z]+)*\b`)

// mention links a piece of code that is an event type, or the codes of errors in a text.
func (l *links) mention(n ast.Node, source []byte) {
	if code, ok := n.(*ast.CodeSpan); ok {
		switch name := textOf(code, source); {
		case l.types[name]:
			wrap(code, Root+eventsName+"#"+name)
		case l.codes[name]:
			wrap(code, Root+errorsName+"#"+name)
		}
		return
	}
	words, ok := n.(*ast.Text)
	if !ok {
		return
	}
	value, begin := words.Segment.Value(source), words.Segment.Start
	start := begin // of what is not copied yet
	for _, at := range codePattern.FindAllIndex(value, -1) {
		code := string(value[at[0]:at[1]])
		if !l.codes[code] || bytes.HasSuffix(value[:at[0]], []byte("gRPC ")) { // a status of gRPC
			continue
		}
		from, to := begin+at[0], begin+at[1]
		if from > start {
			words.Parent().InsertBefore(words.Parent(), words, ast.NewTextSegment(text.NewSegment(start, from)))
		}
		link := ast.NewLink()
		link.Destination = []byte(Root + errorsName + "#" + code)
		link.AppendChild(link, ast.NewTextSegment(text.NewSegment(from, to)))
		words.Parent().InsertBefore(words.Parent(), words, link)
		start = to
	}
	words.Segment = words.Segment.WithStart(start)
}

// wrap puts a node into a link.
func wrap(n ast.Node, destination string) {
	link := ast.NewLink()
	link.Destination = []byte(destination)
	n.Parent().ReplaceChild(n.Parent(), n, link)
	link.AppendChild(link, n)
}
