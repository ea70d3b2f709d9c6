package importer

import (
	"context"
	"errors"
	"io"
	"maps"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/store"
)

// Metadata keys of the error of an import that stopped.
const (
	failedRecord  = "record"
	storedRecords = "stored"
)

// Service serves ImportService.
type Service struct {
	platformv1.UnsafeImportServiceServer

	// Store is the database.
	Store *store.Store
}

// Import stores the records of a stream.
func (s *Service) Import(stream grpc.ClientStreamingServer[platformv1.ImportRequest, platformv1.ImportResponse]) error {
	im := incoming{Importer: Importer{
		Store: s.Store,
		Admit: func(ctx context.Context, tx *ent.Tx) error { return authz.Reauthenticate(ctx, s.Store, tx) },
	}}
	for {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return im.apiError(transferred(err))
		}
		if err := im.take(stream.Context(), req); err != nil {
			return im.apiError(err)
		}
	}
	if err := im.flush(stream.Context()); err != nil {
		return im.apiError(err)
	}
	return transferred(stream.SendAndClose(&platformv1.ImportResponse{Records: int64(im.stored)}))
}

// transferred returns the API error for a gRPC error in receiving or sending a
// message. The error is attributed to the caller.
func transferred(err error) error {
	switch status.Code(err) {
	case codes.ResourceExhausted:
		return apierr.Invalid(apierr.Violation{Field: "records", Description: "must be at most 1 MiB in a message"})
	case codes.Canceled, codes.DeadlineExceeded, codes.Unavailable: // Unavailable: the connection broke
		return &apierr.Error{Reason: moderatov1.Reason_REASON_DEADLINE_EXCEEDED, Cause: err}
	}
	return err
}

// incoming collects the received records into batches.
type incoming struct {
	Importer

	pending      batch
	seen, stored int
}

func (im *incoming) take(ctx context.Context, req *platformv1.ImportRequest) error {
	for _, rec := range req.GetRecords() {
		im.seen++
		if err := im.Importer.take(ctx, &im.pending, newRecord(rec, im.seen), proto.Size(rec), &im.stored); err != nil {
			return err
		}
	}
	return nil
}

func (im *incoming) flush(ctx context.Context) error { return im.put(ctx, &im.pending, &im.stored) }

// apiError returns the error of an import. Its metadata has the number of stored records,
// and the number of the record that failed, if there is one.
func (im *incoming) apiError(err error) error {
	e := *apierr.Of(err)
	e.Metadata = maps.Clone(e.Metadata)
	if e.Metadata == nil {
		e.Metadata = map[string]string{}
	}
	e.Metadata[storedRecords] = strconv.Itoa(im.stored)
	var line *feed.LineError
	if errors.As(err, &line) {
		e.Metadata[failedRecord] = strconv.Itoa(line.Line)
	}
	return &e
}
