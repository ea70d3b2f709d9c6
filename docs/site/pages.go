package site

import "strings"

// Root is the path of the site's first page; the other pages are below it.
const Root = "/docs/"

// repository is where links to files outside of docs/ lead.
const repository = "https://github.com/moderato-live/moderato/blob/main/"

// page is a page of the site.
type page struct {
	// Name is the name of the Markdown file, without extension.
	Name string
	// Label is the page's name in the navigation, and About describes the page in one line.
	Label, About string
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
}

const (
	indexName     = "index"
	referenceName = "reference"
	errorsName    = "errors"
	eventsName    = "event-types"
)

// sections is the navigation.
var sections = []section{
	{"Start", []page{
		{indexName, "Overview", "What Moderato is, and where to begin."},
		{"getting-started", "Getting started", "A bot that signs in, reads chat, answers and bans, in JavaScript, Python and shell."},
		{"oauth", "Signing in", "OAuth 2.1: clients, scopes, endpoints, tokens and the platform's sign-in page."},
	}},
	{"Guides", []page{
		{"moderation", "Moderation", "Bans, mutes, moderators and the log of who did what."},
		{"chat", "Chat", "Post, delete and list messages; hear new messages live."},
		{"events", "Events", "Receive changes over Server-Sent Events, gRPC or Socket.IO, and resume."},
		{"webhooks", "Webhooks", "Receive events as signed requests to your own server."},
	}},
	{"Reference", []page{
		{referenceName, "API reference", "Every operation of the REST API, with a form to try it."},
		{eventsName, "Event types", "Every type of event, with its payload and an example."},
		{errorsName, "Errors", "Every error code: what it means, and what to do next."},
		{"idempotency", "Idempotency keys", "Repeat a change safely when its response was lost."},
		{"paging", "Paging", "Cursors, limits, and the order of lists."},
		{"limits", "Limits", "The rate limit, and bounds of requests."},
		{"contract", "Contract", "Operations with their tokens and scopes, formats, and the bounds of every field."},
		{"decisions", "Behaviour", "The order of checks, rights, requests, values, channels and the feed."},
	}},
	{"Operate", []page{
		{"operations", "Operations", "Run, upgrade, configure, monitor and stop the servers."},
		{"performance", "Performance", "How fast Moderato is, compared with what."},
		{"architecture", "Architecture", "The path of a request, the transaction of a ban, and how events travel."},
	}},
}

// pages returns all pages in the order of the navigation.
func pages() []page {
	var all []page
	for _, s := range sections {
		all = append(all, s.Pages...)
	}
	return all
}

// pageOf returns the page of a Markdown file.
func pageOf(file string) (page, bool) {
	name := strings.TrimSuffix(file, ".md")
	for _, p := range pages() {
		if p.Name == name && name != file {
			return p, true
		}
	}
	return page{}, false
}
