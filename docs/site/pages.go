package site

import (
	"cmp"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/clients"
	"github.com/moderato-live/moderato/docs"
)

// Root is the path of the site's first page; the other pages are below it.
const Root = "/docs/"

// repository is where links to files outside of docs/ lead.
const repository = "https://github.com/moderato-live/moderato/blob/main/"

// page is a page of the site.
type page struct {
	// Name is the path of the page below Root.
	Name string
	// Label is the page's name in the navigation, and About describes the page in one line.
	Label, About string
	// file is the path of the Markdown file in the project; docs/NAME.md if it is empty.
	file string
}

// source returns the path of the page's Markdown file in the project.
func (p page) source() string { return cmp.Or(p.file, "docs/"+p.Name+".md") }

// read returns the Markdown of the page.
func (p page) read() ([]byte, error) {
	if name, isReadme := strings.CutPrefix(p.source(), "clients/"); isReadme {
		return clients.Files.ReadFile(name)
	}
	return docs.Files.ReadFile(p.Name + ".md")
}

// URL returns the path of the page.
func (p page) URL() string {
	if p.Name == indexName {
		return Root
	}
	return Root + p.Name
}

// section is a group of pages in the navigation.
type section struct {
	Label string
	Pages []page
	// isBackground is true if the pages are for operators, backends or developers of Moderato,
	// and not for who writes a client. The search lists their passages after those of other pages.
	isBackground bool
}

const (
	indexName     = "index"
	referenceName = "reference"
	errorsName    = "errors"
	eventsName    = "event-types"
)

// sections is the navigation.
var sections = []section{
	{Label: "Start", Pages: []page{
		{Name: indexName, Label: "Overview", About: "What Moderato is, and where to begin."},
		{Name: "start", Label: "Start with an address", About: "The client libraries from the server itself, a first bot and a token, with only the address of a server."},
		{Name: "getting-started", Label: "Getting started", About: "A bot that signs in, reads chat, answers and bans, in JavaScript, Python and shell."},
		{Name: "oauth", Label: "Signing in", About: "OAuth 2.1: clients, scopes, endpoints, tokens and the platform's sign-in page."},
		{Name: "coming-from-blaze", Label: "Coming from Blaze", About: "Run a client that was written for Blaze: what to change, what is the same, what differs."},
	}},
	{Label: "Client libraries", Pages: []page{
		{Name: "clients/typescript", Label: "JavaScript, TypeScript", About: "The client library for Node.js and browsers, with a moderator in twelve steps.", file: "clients/typescript/README.md"},
		{Name: "clients/python", Label: "Python", About: "The client library for Python, with a moderator in twelve steps.", file: "clients/python/README.md"},
		{Name: "clients/go", Label: "Go", About: "The client library for Go, over gRPC, with a moderator in twelve steps.", file: "clients/go/README.md"},
	}},
	{Label: "Guides", Pages: []page{
		{Name: "moderation", Label: "Moderation", About: "Bans, mutes, moderators and the log of who did what."},
		{Name: "console", Label: "Console", About: "The page for moderators and owners that every server has, and how to operate it."},
		{Name: "chat", Label: "Chat", About: "Post, delete and list messages; hear new messages live."},
		{Name: "chat-rules", Label: "Chat rules", About: "Settings, rules, the queue of held messages, and the shield."},
		{Name: "events", Label: "Events", About: "Receive changes over Server-Sent Events, gRPC or Socket.IO, and resume."},
		{Name: "overlay", Label: "Overlay", About: "One file for OBS that shows chat and alerts over a stream, and only reads."},
		{Name: "webhooks", Label: "Webhooks", About: "Receive events as signed requests to your own server."},
	}},
	{Label: "API reference", Pages: []page{
		{Name: referenceName, Label: "All operations", About: "Every operation of the REST API. The page of each service has a form to try it."},
	}},
	{Label: "Reference", Pages: []page{
		{Name: eventsName, Label: "Event types", About: "Every type of event, with its payload and an example."},
		{Name: errorsName, Label: "Errors", About: "Every error code: what it means, and what to do next."},
		{Name: "idempotency", Label: "Idempotency keys", About: "Repeat a change safely when its response was lost."},
		{Name: "paging", Label: "Paging", About: "Cursors, limits, and the order of lists."},
		{Name: "limits", Label: "Limits", About: "The rate limit, and bounds of requests."},
		{Name: "contract", Label: "Contract", About: "Operations with their tokens and scopes, formats, and the bounds of every field."},
		{Name: "conformance", Label: "Conformance", About: "Check any server against the interface document."},
		{Name: "decisions", Label: "Behaviour", About: "The order of checks, rights, requests, values, channels and the feed."},
	}},
	{Label: "Operate", Pages: []page{
		{Name: "operations", Label: "Operations", About: "Install, upgrade, back up, monitor and repair, and what to do at each alert."},
		{Name: "flags", Label: "Flags", About: "Every flag and variable of the server."},
		{Name: "chat-exchange", Label: "Chat between servers", About: "How servers pass chat on to each other: through the database, or over NATS."},
		{Name: "retention", Label: "Retention", About: "How much disk space messages and events use, and how to keep less."},
		{Name: "replication", Label: "Database clusters", About: "Set up and run MySQL group replication, replicas or Galera."},
		{Name: "metrics", Label: "Metrics and jobs", About: "Every metric and every background job."},
		{Name: "tracing", Label: "Tracing", About: "Send OpenTelemetry traces to a collector."},
		{Name: "command-line", Label: "Command line", About: "Call the API and test receivers from a shell."},
		{Name: "reliability", Label: "Reliability", About: "What is guaranteed when something fails, and the experiments that test it."},
		{Name: "alternatives", Label: "Alternatives", About: "Other services of the kind, and when to choose them."},
		{Name: "performance", Label: "Performance", About: "How fast Moderato is, compared with what."},
		{Name: "scaling", Label: "Scaling", About: "The limits of a channel, a server and a database, and what shards would need."},
	}, isBackground: true},
	{Label: "Platform backends", Pages: []page{
		{Name: "feed", Label: "Feed a platform", About: "Write users, channels, follows and messages from your backends, over gRPC, in Go and with grpcurl."},
		{Name: "feed-reference", Label: "Feed and import", About: "Every call of the feed and every record of the import, each with an example."},
	}, isBackground: true},
	{Label: "Develop Moderato", Pages: []page{
		{Name: "architecture", Label: "Architecture", About: "A ban, step by step, and the parts of the program."},
		{Name: "changes", Label: "How a channel changes", About: "Order, retries, idempotency, undo, sweeps and reverts."},
		{Name: "delivery", Label: "How events are delivered", About: "Positions, listeners, rights, live chat and webhooks."},
		{Name: "interface", Label: "Interface", About: "Every rule of the interface that Moderato implements: what it does, where, and which test shows it."},
	}, isBackground: true},
}

// pages returns all pages that are Markdown files, in the order of the navigation.
func pages() []page { return pagesOf(sections) }

// pagesOf returns all pages of sections.
func pagesOf(sections []section) []page {
	var all []page
	for _, s := range sections {
		all = append(all, s.Pages...)
	}
	return all
}

// isBackground reports whether a page is in such a section.
func (p page) isBackground() bool {
	return slices.ContainsFunc(sections, func(s section) bool { return s.isBackground && slices.Contains(s.Pages, p) })
}

// pageOf returns the page of a Markdown file, which is named by its path in the project.
func pageOf(file string) (page, bool) {
	for _, p := range pages() {
		if p.source() == file {
			return p, true
		}
	}
	return page{}, false
}
