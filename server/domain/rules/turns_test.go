package rules_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/domain/rules"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestReadsTakeNoTurn holds back a read of a change of rules, and one of a post that took long to
// match. Meanwhile other channels have all turns.
func TestReadsTakeNoTurn(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		r, turns := open(t, config), moderation.NewSweeps()
		r.rules(`"put":[` + repeated("same", `"sameSender":4`) + `,{"name":"a","kind":"pattern","action":"flag","patterns":["` + strings.Repeat("[ab]", 100) + `"]}]`)
		ctx, _ := r.posting()
		f := rules.NewFilter(r.Store, nil, turns)
		post := func() error {
			st := storetest.Must(chat.ReadSender(ctx, r.Store, servertest.Owner, servertest.Viewer))
			return f.Check(ctx, st, chat.Message{ID: uid.New(), ChannelID: servertest.Owner, UserID: servertest.Viewer, Text: strings.Repeat("x", 5000)})
		}
		if err := post(); err != nil { // compiles
			t.Fatal(err)
		}
		caller := &authn.Caller{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Token: digest.Of(r.owner.Token)}
		change := authz.NewContext(authn.NewContext(t.Context(), caller), authz.Table[moderatov1.ChatRulesService_UpdateChatRules_FullMethodName])
		for _, c := range []struct {
			what, read string
			do         func() error
		}{
			{"a change of rules", "until_version IS NULL", func() error {
				service := &rules.Service{Store: r.Store, Turns: turns}
				_, err := service.UpdateChatRules(change, &moderatov1.UpdateChatRulesRequest{ChannelId: servertest.Owner.String(), Put: []*moderatov1.ChatRule{
					{Name: "b", Kind: "mentions", Action: "block", Max: new(int32(3))},
				}})
				return err
			}},
			{"a post", "`messages`", post},
		} {
			held, done := gate.Shut(c.read), make(chan error, 1)
			go func() { done <- c.do() }()
			<-held
			within, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			var releases []func()
			for range max(1, min(2, runtime.GOMAXPROCS(0)/2)) {
				release, err := turns.Turn(within, uid.New())
				if err != nil {
					t.Errorf("%s: another channel gets no turn: %v", c.what, err)
				} else {
					releases = append(releases, release)
				}
			}
			cancel()
			for _, release := range releases {
				release()
			}
			gate.Open()
			if err := <-done; err != nil {
				t.Errorf("%s: got %v", c.what, err)
			}
		}
	})
}
