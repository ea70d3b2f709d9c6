package main

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

// settle is how long a server may finish its work after a load, before it is paused.
const settle = 100 * time.Millisecond

// pair are Moderato and the floor, each on a database of its own.
type pair struct {
	*bench

	group           string
	moderato, floor *server
}

// open starts both servers.
func (b *bench) open(ctx context.Context, store string, crowd bool) (*pair, error) {
	p := &pair{bench: b}
	for name, s := range map[string]**server{"moderato": &p.moderato, "floor": &p.floor} {
		db, err := b.database(ctx, store, name, crowd)
		if err != nil {
			return nil, err
		}
		started, err := b.startModerato(ctx, name, b.program("moderato"), db)
		if err != nil {
			return nil, err
		}
		if err := b.issueTokens(ctx, started); err != nil {
			return nil, err
		}
		*s = started
	}
	with := *p.floor // the floor reads the tokens as Moderato does
	p.floor.stop()
	var err error
	if b.against == "" {
		p.floor, err = b.launch(ctx, with.name, b.program("floor"), with.db, "--db", with.db)
	} else {
		p.floor, err = b.startModerato(ctx, with.name, b.against, with.db)
	}
	if err == nil {
		p.floor.owners, p.floor.service = with.owners, with.service
	}
	return p, err
}

// issueTokens issues tokens to the owners of the first channels, and to the platform.
func (b *bench) issueTokens(ctx context.Context, s *server) error {
	out, err := exec.CommandContext(ctx, b.program("moderato"), "token", "issue", "--db", s.db, "--client", benchService, "--service").Output()
	if err != nil {
		return fmt.Errorf("token issue: %w", err)
	}
	s.service = credentials{benchService, strings.TrimSpace(string(out))}
	conns, closeAll, err := dial(ctx, s, 1)
	if err != nil {
		return err
	}
	defer closeAll()
	for n := range owned() {
		issued, err := platformv1.NewAccessServiceClient(conns[0]).IssueToken(s.service.outgoing(ctx), &platformv1.IssueTokenRequest{
			Kind: platformv1.TokenKind_TOKEN_KIND_USER, ClientId: benchClient, UserId: id(n),
			Scopes: []string{"channel.moderate", "users.read"}, Lifetime: durationpb.New(24 * time.Hour),
		})
		if err != nil {
			return fmt.Errorf("issue token: %w", err)
		}
		s.owners = append(s.owners, credentials{benchClient, issued.GetToken()})
	}
	return nil
}

// inTurns measures Moderato and the floor in turns, after a warm-up of both, in round -1. Each
// is paused while the other is measured. inTurns returns the medians, and the median of the
// ratios of the rounds.
func (p *pair) inTurns(r row, measure func(s *server, round int) (figures, error)) (row, error) {
	var ratios []float64
	measured := map[*server][]figures{}
	defer p.floor.pause(false)
	defer p.moderato.pause(false)
	for round := -1; round < p.rounds; round++ {
		order := []*server{p.floor, p.moderato}
		if round%2 != 0 {
			slices.Reverse(order)
		}
		latest := map[*server]figures{}
		for _, s := range order {
			p.floor.pause(s != p.floor)
			p.moderato.pause(s != p.moderato)
			f, err := measure(s, round)
			if err != nil {
				return r, fmt.Errorf("%s: %w", s.name, err)
			}
			latest[s] = f
			time.Sleep(settle)
		}
		if round < 0 {
			continue
		}
		for s, f := range latest {
			measured[s] = append(measured[s], f)
		}
		ratios = append(ratios, latest[p.moderato].PerSecond/latest[p.floor].PerSecond)
	}
	r.Floor, r.Moderato = medianFigures(measured[p.floor]), medianFigures(measured[p.moderato])
	r.Ratio = median(ratios)
	return r, nil
}

// compare measures the rates at which both servers take a load.
func (p *pair) compare(ctx context.Context, r row, l load) error {
	r, err := p.inTurns(r, func(s *server, round int) (figures, error) {
		d := p.leg
		if round < 0 {
			d = time.Second
		}
		return s.costOf(func() (figures, float64, error) {
			f, err := l(ctx, s, r.Connections, d)
			return f, f.PerSecond * d.Seconds(), err
		})
	})
	return p.report(r, err)
}

// costOf adds to the figures of n calls the CPU time that each has cost the server.
func (s *server) costOf(calls func() (f figures, n float64, err error)) (figures, error) {
	before, err := s.processorTime()
	if err != nil {
		return figures{}, err
	}
	f, n, err := calls()
	if err != nil {
		return f, err
	}
	after, err := s.processorTime()
	f.CPU = time.Duration(float64(after-before) / n)
	return f, err
}

// timed makes some calls one after the other, and returns the time and the cost of each.
func timed(s *server, n int, call func(i int) error) (figures, error) {
	return s.costOf(func() (figures, float64, error) {
		var took []time.Duration
		began := time.Now()
		for i := range n {
			start := time.Now()
			if err := call(i); err != nil {
				return figures{}, 0, err
			}
			took = append(took, time.Since(start))
		}
		return figures{PerSecond: float64(n) / time.Since(began).Seconds(), P50: median(took), P99: slices.Max(took)}, float64(n), nil
	})
}

func median[T cmp.Ordered](values []T) T {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

func medianFigures(all []figures) figures {
	var rates []float64
	var p50, p99, cpu []time.Duration
	for _, f := range all {
		rates, p50, p99, cpu = append(rates, f.PerSecond), append(p50, f.P50), append(p99, f.P99), append(cpu, f.CPU)
	}
	return figures{median(rates), median(p50), median(p99), median(cpu)}
}
