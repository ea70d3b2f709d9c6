// Floor is the baseline of the measurements of Moderato: the same reads and writes on
// the same tables, written by hand, with nothing around them. It has no
// authentication, no policy, no validation, no metrics and no log. REST is net/http,
// a prepared statement and JSON that is appended by hand; gRPC is a bare grpc-go
// server with the same statement.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/grpc"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

func main() {
	db := flag.String("db", "", "the database: sqlite:FILE or mysql://USER:PASSWORD@HOST:PORT/NAME")
	httpAddr := flag.String("http-addr", "127.0.0.1:0", "where REST listens")
	grpcAddr := flag.String("grpc-addr", "127.0.0.1:0", "where gRPC listens")
	adminAddr := flag.String("admin-addr", "127.0.0.1:0", "where the Go runtime's metrics are")
	flag.Parse()
	if err := serve(context.Background(), *db, *httpAddr, *grpcAddr, *adminAddr); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context, db, httpAddr, grpcAddr, adminAddr string) error {
	t, err := open(ctx, db)
	if err != nil {
		return err
	}
	g := grpc.NewServer()
	fan := newFan()
	f := &rpc{tables: t}
	moderatov1.RegisterChannelsServiceServer(g, f)
	moderatov1.RegisterModerationServiceServer(g, moderation{tables: t})
	platformv1.RegisterChatServiceServer(g, chat{tables: t, fan: fan})
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", grpcAddr)
	if err != nil {
		return fmt.Errorf("gRPC: %w", err)
	}
	failed := make(chan error, 3)
	go func() { failed <- g.Serve(listener) }()
	for addr, handler := range map[string]http.Handler{httpAddr: newREST(t, fan), adminAddr: promhttp.Handler()} {
		server := &http.Server{Addr: addr, Handler: handler, ReadHeaderTimeout: 5 * time.Second}
		go func() { failed <- server.ListenAndServe() }()
	}
	return errors.Join(errors.New("a listener ended"), <-failed)
}
