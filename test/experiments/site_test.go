package experiments_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// usersOfSite is the number of users; each may be changed in every channel.
const usersOfSite = 200

// site is what an experiment runs on: servers on one database, behind a balancer.
type site struct {
	*balancer

	t *testing.T
	// url is the database as the servers reach it.
	url store.URL
	// store is the database as the oracle reads it.
	store   *store.Store
	args    []string
	servers []*node

	channels, users []uid.ID
	owners          map[uid.ID]servertest.Credentials // by channel
	backend         servertest.Credentials
	conn            *grpc.ClientConn // of the test itself
}

// node is a server of a site.
type node struct{ *process.Server }

// options are what experiments choose about their site.
type options struct {
	servers  int
	channels int
	via      store.URL // as the servers reach the database, if not directly
	args     []string
}

// newSite makes a database ready and starts servers on it.
func newSite(t *testing.T, url store.URL, o options) *site {
	t.Helper()
	storetest.Migrate(t, url)
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	s := &site{balancer: newBalancer(t), t: t, url: url, store: db, args: o.args}
	if o.via != (store.URL{}) {
		s.url = o.via
	}
	s.conn = dial(t, s.GRPC)
	s.populate(o.channels)
	for range o.servers {
		s.servers = append(s.servers, s.start())
	}
	for _, n := range s.servers {
		s.waitReady(t, n)
	}
	return s
}

func (s *site) populate(channels int) {
	s.t.Helper()
	servertest.Import(s.t, s.store, servertest.World()...)
	s.channels = servertest.AddChannels(s.t, s.store, channels)
	s.users = servertest.AddUsers(s.t, s.store, usersOfSite)
	s.owners = map[uid.ID]servertest.Credentials{}
	for _, id := range s.channels {
		s.owners[id] = s.token(authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: id, Scopes: authn.Scopes(), Lifetime: 24 * time.Hour})
	}
	s.backend = s.token(authn.NewToken{Kind: authn.Service, ClientID: servertest.ChatServer})
}

func (s *site) token(n authn.NewToken) servertest.Credentials {
	s.t.Helper()
	issued, err := authn.Issue(context.Background(), s.store, n)
	if err != nil {
		s.t.Fatal(err)
	}
	return servertest.Credentials{Token: issued.Text, ClientID: n.ClientID}
}

// start starts a server, and returns when it listens.
func (s *site) start() *node {
	s.t.Helper()
	n := &node{process.Serve(s.t, s.url, s.args...)}
	s.add(n)
	return n
}

// restart replaces a server that has ended, and returns the time until the new one was
// ready.
func (s *site) restart(i int) time.Duration {
	s.t.Helper()
	began := time.Now()
	s.remove(s.servers[i])
	s.servers[i] = s.start()
	s.waitReady(s.t, s.servers[i])
	return time.Since(began)
}

// admin requests a page of the server's admin address.
func (n *node) admin(path string) (status int, body string) { return get("http://" + n.Admin + path) }

// metric returns the value of a metric, or the sum over its labels if the name has none.
func (n *node) metric(name string) (float64, error) {
	sums, err := n.metrics(name)
	return sums[0], err
}

// metrics returns the sums of some metrics over their labels, all at one moment.
func (n *node) metrics(names ...string) (sums []float64, err error) {
	sums = make([]float64, len(names))
	status, text := n.admin("/metrics")
	if status != http.StatusOK {
		return sums, fmt.Errorf("metrics: %d %s", status, text)
	}
	found := make([]bool, len(names))
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		family, _, _ := strings.Cut(key, "{")
		for i, name := range names {
			if key != name && family != name {
				continue
			}
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return sums, err
			}
			sums[i], found[i] = sums[i]+v, true
		}
	}
	if i := slices.Index(found, false); i >= 0 {
		return sums, fmt.Errorf("there is no metric %s", names[i])
	}
	return sums, nil
}

// standing asks what a user may do in a channel.
func (s *site) standing(channel, user uid.ID) (*platformv1.GetStandingResponse, error) {
	return platformv1.NewChatServiceClient(s.conn).GetStanding(s.backend.Context(), &platformv1.GetStandingRequest{
		ChannelId: channel.String(), UserId: user.String(),
	})
}
