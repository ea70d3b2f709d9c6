package directory_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

// loadCategories imports categories with these names; the ids count from 1.
func loadCategories(t *testing.T, s *servertest.Server, names ...string) {
	t.Helper()
	records := make([]*platformv1.Record, len(names))
	for i, name := range names {
		records[i] = &platformv1.Record{Kind: &platformv1.Record_Category{Category: &platformv1.CategoryRecord{
			Id: int64(i + 1), Name: name, Slug: strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), "É", "e")),
		}}}
	}
	s.Load(t, records...)
}

func TestCategoriesAreRankedByMatch(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		loadCategories(t, s, "Mega Art", "Smart Home", "Art", "Artisans", "ÉCOLE", "Arcade")
		client, ctx := moderatov1.NewChannelsServiceClient(s.Conn), s.As(t, servertest.Viewer).Context()
		for _, test := range []struct {
			query string
			want  []string
		}{
			{"aRt", []string{"Art", "Artisans", "Mega Art", "Smart Home"}},
			{" école ", []string{"ÉCOLE"}},
			{"%", nil},
			{"", []string{"Arcade", "Art", "Artisans", "Mega Art", "Smart Home", "ÉCOLE"}},
		} {
			limit, cursor := int32(2), ""
			var got []string
			for {
				page, err := client.ListCategories(ctx, &moderatov1.ListCategoriesRequest{Query: test.query, Limit: &limit, Cursor: cursor})
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range page.GetRows() {
					got = append(got, row.GetTitle())
				}
				if cursor = page.GetPagination().GetCursor(); cursor == "" {
					break
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("query %q: got %q, want %q", test.query, got, test.want)
			}
		}
	})
}

// TestCategoriesAreListedAsClientsAsk has the parameters and rows of the clients that exist.
func TestCategoriesAreListedAsClientsAsk(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		names := []string{"Art", "Chess"}
		for i := range 200 {
			names = append(names, fmt.Sprint("Game ", i))
		}
		loadCategories(t, s, names...)
		withoutScope := s.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Viewer})
		for _, test := range []struct {
			query string
			rows  int
			want  string // in the body
		}{
			{"", 200, `"name":"Art"`},
			{"?limit=200", 200, `"slug":"chess"`},
			{"?limit=201", 0, `limit must be between 1 and 200`},
			{"?term=%20aRt%20", 1, `"title":"Art"`},
			{"?query=art&term=", 1, `"parentId":null`},
			{"?query=art&term=art", 0, `Give query or term, not both.`},
			{"?term=" + strings.Repeat("a", 141), 0, `term must be`},
		} {
			r := s.REST(t, withoutScope, http.MethodGet, "/v1/categories"+test.query, "")
			if n := len(slugs(r.Body)); n != test.rows || !strings.Contains(r.Body, test.want) {
				t.Errorf("%q: got %d rows in %.300s, want %d and %s", test.query, n, r.Body, test.rows, test.want)
			}
		}
	})
}

func TestUsersAreListedInTheOrderOfTheRequest(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		owner, other := servertest.Owner.String(), servertest.Other.String()
		for _, test := range []struct {
			name    string
			query   string
			want    string // the slugs
			message string // of the error
		}{
			{"ids before names, each user once", "username=INES&userId[]=" + other + "&userId[]=" + owner + "&username[]=%20@amara.okafor%20", "zoe-l ines amara.okafor", ""},
			{"unknown users are left out", "userId=" + servertest.Nobody.String() + "&username=nobody&username=ines", "ines", ""},
			{"only unknown users", "username=nobody", "", ""},
			{"no user", "", "", "userId[] is required, or username[] instead"},
			{"a damaged id", "userId=x", "", "userId[] must be a UUID in its 36-character form"},
			{"too many", strings.Repeat("username=a&", 51) + strings.Repeat("userId="+owner+"&", 50), "", "username[] must have at most 100 values, together with userId[]"},
			{"too many names", strings.Repeat("username=a&", 101), "", "username[] must have at most 100 values"},
			{"a misspelt name", "userIds=" + owner, "", "unknown parameter userIds; did you mean userId[]?"},
		} {
			t.Run(test.name, func(t *testing.T) {
				r := s.REST(t, s.AsApp(t), http.MethodGet, "/v1/users?"+test.query, "")
				if test.message != "" {
					if r.Status != http.StatusBadRequest || !strings.Contains(r.Body, `"message":"`+test.message) {
						t.Errorf("got %d %s, want the message %q", r.Status, r.Body, test.message)
					}
				} else if got := strings.Join(slugs(r.Body), " "); r.Status != http.StatusOK || got != test.want {
					t.Errorf("got %d %q, want %q", r.Status, got, test.want)
				}
			})
		}
	})
}

// slugs returns the slugs in a body, in their order.
func slugs(body string) (found []string) {
	for _, part := range strings.Split(body, `"slug":"`)[1:] {
		slug, _, _ := strings.Cut(part, `"`)
		found = append(found, slug)
	}
	return found
}

func TestProfileIsThatOfTheTokensUserOrOfWhomAnAppNames(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ines := `"data":{"userId":"` + servertest.Owner.String() + `","username":"Ines"`
		owner, viewer, app, acting := s.As(t, servertest.Owner), s.As(t, servertest.Viewer), s.AsApp(t), s.AsService(t)
		acting.ActingUser = servertest.Viewer
		id := "userId=" + servertest.Owner.String()
		for _, test := range []struct {
			name   string
			caller servertest.Credentials
			query  string
			want   string // in the body
		}{
			{"a user with a channel", owner, "", `"data":{"userId":"` + servertest.Owner.String() + `","username":"Ines","slug":"ines","displayName":"Inês Carvalho","avatarUrl":"https://img.example.com/Ines.png","channelId":"` + servertest.Owner.String() + `"}`},
			{"a user without a channel", viewer, "", `"channelId":null`},
			{"a user by the own id", owner, "userId=" + strings.ToUpper(servertest.Owner.String()), ines},
			{"a user by the own name", owner, "username=INES", ines},
			{"a user by the id of another", viewer, id, `"code":"NOT_SELF"`},
			{"a user by the name of another", viewer, "username=ines", `"code":"NOT_SELF"`},
			{"an app by id", app, id, ines},
			{"an app by name", app, "username=%20@INES%20", ines},
			{"a backend by name", s.AsService(t), "username=ines", ines},
			{"a backend for another", acting, id, `"code":"NOT_SELF"`},
			{"an app by both", app, id + "&username=ines", "Give userId or username, not both."},
			{"a user by both", owner, id + "&username=ines", "Give userId or username, not both."},
			{"an app by neither", app, "", "userId is required, or username instead."},
			{"an app with a damaged id", app, "userId=x", "userId must be a UUID"},
			{"nobody", app, "username=nobody", `"code":"USER_NOT_FOUND"`},
			{"a token without the scope", s.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner}), "", `"code":"SCOPE_MISSING"`},
		} {
			if r := s.REST(t, test.caller, http.MethodGet, "/v1/users/profile?"+test.query, ""); !strings.Contains(r.Body, test.want) {
				t.Errorf("%s: got %s, want %s", test.name, r.Body, test.want)
			}
		}
	})
}
