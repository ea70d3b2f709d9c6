package site

import (
	"bytes"
	"html/template"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// heading is a heading of a page.
type heading struct {
	ID, Text string
	Level    int
}

// passage is the text below one heading, for the search.
type passage struct {
	heading

	body string
}

// rendered is a page that was rendered from Markdown.
type rendered struct {
	title    string
	html     template.HTML
	headings []heading
	passages []passage
}

// markdown renders the pages. Raw HTML is left out, so a page contains only what
// goldmark and this package write.
type markdown struct {
	goldmark.Markdown

	links links
}

func newMarkdown(l links) *markdown {
	m := &markdown{links: l}
	m.Markdown = goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(
			parser.WithAutoHeadingID(),
			parser.WithASTTransformers(util.Prioritized(&m.links, 100)),
		),
	)
	// A number below that of the built-in renderers has priority.
	m.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(tables{}, 1)))
	return m
}

// render renders a page, or a part of one. file is the path in the project from which its
// links lead.
func (m *markdown) render(file string, source []byte) (rendered, error) {
	m.links.from = file
	document := m.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(&ids{}))))
	labelCells(document, source)
	var html bytes.Buffer
	if err := m.Renderer().Render(&html, source, document); err != nil {
		return rendered{}, err
	}
	page := rendered{html: template.HTML(html.String())} //nolint:gosec // goldmark escapes, and leaves out raw HTML
	for block := document.FirstChild(); block != nil; block = block.NextSibling() {
		page.add(block, source)
	}
	return page, nil
}

// add adds a block to the headings and passages.
func (r *rendered) add(block ast.Node, source []byte) {
	words := strings.Join(strings.Fields(textOf(block, source)), " ")
	if h, ok := block.(*ast.Heading); ok {
		id, _ := h.AttributeString("id")
		name, _ := id.([]byte)
		found := heading{ID: string(name), Text: words, Level: h.Level}
		if h.Level == 1 {
			r.title = words
		} else {
			r.headings = append(r.headings, found)
		}
		r.passages = append(r.passages, passage{heading: found})
		return
	}
	if n := len(r.passages); n > 0 {
		r.passages[n-1].body = strings.TrimSpace(r.passages[n-1].body + " " + words)
	}
}

// textOf returns the text within a node.
func textOf(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, isEntering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if isEntering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if isEntering {
				b.Write(n.Value)
			}
		case *ast.FencedCodeBlock:
			if isEntering {
				b.Write(n.Lines().Value(source))
			}
		default:
			if !isEntering && n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// ids makes the ids of headings as GitHub does. A heading that is one piece of code, such
// as an error's code, is its own id.
type ids struct{ taken map[string]bool }

// Generate returns the id of a heading.
func (s *ids) Generate(value []byte, _ ast.NodeKind) []byte {
	id := slug(string(value))
	for n := 1; s.taken[id]; n++ {
		id = slug(string(value)) + "-" + strconv.Itoa(n)
	}
	s.Put([]byte(id))
	return []byte(id)
}

// Put marks an id as taken.
func (s *ids) Put(value []byte) {
	if s.taken == nil {
		s.taken = map[string]bool{}
	}
	s.taken[string(value)] = true
}

func slug(title string) string {
	title = strings.TrimSpace(title)
	if code, ok := strings.CutPrefix(title, "`"); ok {
		if code, ok := strings.CutSuffix(code, "`"); ok && !strings.ContainsAny(code, "` ") {
			return code
		}
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// labelCells prepares tables for a phone, where each row is a list of its cells. The roles
// keep it a table for screen readers, although it is not displayed as one. In a table of
// two columns, the first cell is the heading of the second. In wider ones, each further
// cell has the heading of its column.
func labelCells(document ast.Node, source []byte) {
	_ = ast.Walk(document, func(n ast.Node, isEntering bool) (ast.WalkStatus, error) {
		row, ok := n.(*extensionast.TableRow)
		if !ok || !isEntering {
			return ast.WalkContinue, nil
		}
		row.SetAttributeString("role", "row")
		heading := row.Parent().FirstChild().FirstChild()
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cell.SetAttributeString("role", "cell")
			if row.ChildCount() > 2 && cell != row.FirstChild() {
				cell.SetAttributeString("data-label", strings.TrimSpace(textOf(heading, source)))
			}
			heading = heading.NextSibling()
		}
		return ast.WalkContinue, nil
	})
}

// tables renders tables in a box of their own, so that a wide one scrolls and the page does
// not. Code in a cell may break after a slash, an underscore, a period or a word, so that few are wide.
type tables struct{}

// wordEnd is where code may break: after these characters, and between the words of a name.
var wordEnd = regexp.MustCompile(`[/_.]|[a-z0-9][A-Z]`)

// breakable inserts where code may break.
func breakable(code string) string {
	return wordEnd.ReplaceAllStringFunc(code, func(end string) string { return end[:1] + "<wbr>" + end[1:] })
}

// RegisterFuncs registers the renderers of tables and of code.
func (tables) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(extensionast.KindTable, func(w util.BufWriter, _ []byte, _ ast.Node, isEntering bool) (ast.WalkStatus, error) {
		tags := "</table></div>\n"
		if isEntering {
			tags = "<div class=\"scroll\"><table role=\"table\">\n"
		}
		_, err := w.WriteString(tags)
		return ast.WalkContinue, err
	})
	r.Register(ast.KindFencedCodeBlock, func(w util.BufWriter, source []byte, n ast.Node, isEntering bool) (ast.WalkStatus, error) {
		if !isEntering {
			return ast.WalkContinue, nil
		}
		language, code := "", string(n.Lines().Value(source))
		if block, ok := n.(*ast.FencedCodeBlock); ok {
			language = string(block.Language(source))
		}
		html := string(util.EscapeHTML([]byte(code)))
		if language == "json" || language == "http" {
			html = string(jsonHTML(code))
		}
		if language != "" {
			language = ` class="language-` + language + `"`
		}
		_, err := w.WriteString("<pre><code" + language + ">" + html + "</code></pre>\n")
		return ast.WalkSkipChildren, err
	})
	r.Register(ast.KindCodeSpan, func(w util.BufWriter, source []byte, n ast.Node, isEntering bool) (ast.WalkStatus, error) {
		if !isEntering {
			return ast.WalkContinue, nil
		}
		code := string(util.EscapeHTML([]byte(textOf(n, source))))
		if isInTable(n) {
			code = breakable(code)
		}
		_, err := w.WriteString("<code>" + code + "</code>")
		return ast.WalkSkipChildren, err
	})
}

func isInTable(n ast.Node) bool {
	for ; n != nil; n = n.Parent() {
		if n.Kind() == extensionast.KindTable {
			return true
		}
	}
	return false
}
