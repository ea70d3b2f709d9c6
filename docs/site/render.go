package site

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"

	"github.com/moderato-live/moderato/docs"
	"github.com/moderato-live/moderato/gateway/static"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
)

//go:embed assets
var assets embed.FS

const (
	// notFound is where the page for unknown paths is stored; no request has this path.
	notFound     = "404"
	htmlType     = "text/html; charset=utf-8"
	markdownType = "text/markdown; charset=utf-8"
	textType     = "text/plain; charset=utf-8"
	jsonType     = "application/json"
	svgType      = "image/svg+xml"
)

// builder collects the files of the site.
type builder struct {
	files     map[string]*static.File
	assets    map[string]string // the paths of assets, by name
	templates *template.Template
	index     []entry
	sections  []section // the navigation, with a page for each service
}

// entry is a passage in the index of the search.
type entry struct {
	URL     string `json:"url"`
	Page    string `json:"page"`
	Heading string `json:"heading,omitempty"`
	Text    string `json:"text,omitempty"`
	// IsBackground is true for pages that answer few questions of those who search.
	IsBackground bool `json:"isBackground,omitempty"`
}

// view is what the template of a page gets.
type view struct {
	page

	Title    string
	Assets   map[string]string
	Sections []section
	Headings []heading
	Content  template.HTML
	Previous *page
	Next     *page
	// API is a service of the reference, if the page is about one.
	API *service
}

// renderAll renders all pages.
func renderAll(openAPI []byte, prefilled Credentials) (map[string]*static.File, error) {
	b := &builder{files: map[string]*static.File{}, assets: map[string]string{}}
	var err error
	if b.templates, err = template.New("site").Funcs(template.FuncMap{"json": jsonHTML}).ParseFS(assets, "assets/*.html"); err != nil {
		return nil, err
	}
	if err := b.addAssets(); err != nil {
		return nil, err
	}
	api, err := readReference(openAPI)
	if err != nil {
		return nil, err
	}
	api.Prefilled = prefilled
	b.sections = withServices(api)
	m, all := newMarkdown(links{codes: errorCodes(), types: eventTypes()}), pagesOf(b.sections)
	if err := api.describe(m, referenceName); err != nil {
		return nil, err
	}
	for i, p := range all {
		v := view{page: p}
		if i > 0 {
			v.Previous = &all[i-1]
		}
		if i+1 < len(all) {
			v.Next = &all[i+1]
		}
		switch g := api.group(p); {
		case p.Name == referenceName:
			err = b.addReference(m, v, api)
		case g != nil:
			err = b.addService(m, v, &service{group: g, Prefilled: api.Prefilled})
		default:
			err = b.addPage(m, v)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	b.addLists()
	return b.files, b.addHTML(notFound, view{Title: "Page not found", Content: "<h1>Page not found</h1><p>The documentation has no page at this address.</p>"})
}

func errorCodes() map[string]bool {
	all := map[string]bool{}
	for number := range moderatov1.Reason_name {
		if reason := moderatov1.Reason(number); reason != 0 {
			all[apierr.Code(reason)] = true
		}
	}
	return all
}

func eventTypes() map[string]bool {
	all := map[string]bool{}
	for _, name := range append(eventtype.Types(), eventtype.LiveTypes()...) {
		all[name] = true
	}
	return all
}

// addAssets adds the style sheet and the script with their hash in their path, and the
// pictures.
func (b *builder) addAssets() error {
	for name, contentType := range map[string]string{
		"style.css": "text/css; charset=utf-8", "script.js": "text/javascript; charset=utf-8", "search.js": "text/javascript; charset=utf-8", "icon.svg": svgType,
	} {
		content, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return err
		}
		f := static.New(contentType, static.Immutable, content)
		base, extension, _ := strings.Cut(name, ".")
		b.assets[base] = Root + "assets/" + base + "." + f.Tag + "." + extension
		b.files[b.assets[base]] = f
	}
	pictures, err := docs.Files.ReadDir(".")
	if err != nil {
		return err
	}
	for _, picture := range pictures {
		if strings.HasSuffix(picture.Name(), ".svg") {
			content, err := docs.Files.ReadFile(picture.Name())
			if err != nil {
				return err
			}
			b.files[Root+picture.Name()] = static.New(svgType, static.Revalidated, content)
		}
	}
	return nil
}

// addPage adds a page, and its Markdown.
func (b *builder) addPage(m *markdown, v view) error {
	source, err := v.read()
	if err != nil {
		return err
	}
	r, err := m.render(v.source(), source)
	if err != nil {
		return err
	}
	b.files[Root+v.Name+".md"] = static.New(markdownType, static.Revalidated, m.links.inMarkdown(source))
	b.addPassages(v.page, r.passages)
	v.Title, v.Headings, v.Content = r.title, r.headings, r.html
	return b.addHTML(v.URL(), v)
}

func (b *builder) addPassages(p page, all []passage) {
	for _, found := range all {
		e := entry{URL: p.URL(), Page: p.Label, Text: found.body, IsBackground: p.isBackground()}
		if found.Level > 1 {
			e.URL, e.Heading = e.URL+"#"+found.ID, found.Text
		}
		b.index = append(b.index, e)
	}
}

// addHTML adds a page at a path.
func (b *builder) addHTML(path string, v view) error {
	v.Sections, v.Assets = b.sections, b.assets
	var html bytes.Buffer
	if err := b.templates.ExecuteTemplate(&html, "page.html", v); err != nil {
		return err
	}
	b.files[path] = static.New(htmlType, static.Revalidated, html.Bytes())
	return nil
}

// addLists adds the index of the search, and the list of pages for programs.
func (b *builder) addLists() {
	index, _ := json.Marshal(b.index) // strings only: it cannot fail
	b.files[Root+"search.json"] = static.New(jsonType, static.Revalidated, index)
	var list strings.Builder
	list.WriteString("# Moderato\n\n> The moderation and channel-data service of a live-streaming platform: a REST API for bots, overlays and dashboards, and a gRPC core for the platform's backends.\n")
	for _, s := range b.sections {
		fmt.Fprintf(&list, "\n## %s\n\n", s.Label)
		for _, p := range s.Pages {
			fmt.Fprintf(&list, "- [%s](%s%s.md): %s\n", p.Label, Root, p.Name, p.About)
		}
	}
	for _, path := range llmsPaths {
		b.files[path] = static.New(textType, static.Revalidated, []byte(list.String()))
	}
}
