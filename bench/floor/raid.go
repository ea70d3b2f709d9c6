package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"google.golang.org/grpc/metadata"
)

// handleRaids adds batches and sweeps to the routes.
func (r rest) handleRaids(mux *http.ServeMux) {
	for route, handler := range map[string]func(context.Context, *json.Decoder) ([]byte, error){
		"POST /v1/moderation/bans":          r.banUsers,
		"DELETE /v1/moderation/bans":        r.undoBatch,
		"POST /v1/moderation/sweeps":        r.previewSweep,
		"POST /v1/moderation/sweeps/commit": r.commitSweep,
	} {
		mux.HandleFunc(route, func(w http.ResponseWriter, req *http.Request) {
			// A change reads its token as gRPC passes it.
			ctx := metadata.NewIncomingContext(req.Context(), metadata.Pairs("authorization", req.Header.Get("Authorization")))
			data, err := handler(ctx, json.NewDecoder(req.Body))
			answer(w, append([]byte(success), data...), err)
		})
	}
}

func (r rest) banUsers(ctx context.Context, body *json.Decoder) ([]byte, error) {
	var req struct {
		ChannelID string `json:"channelId"`
		Users     []struct {
			UserID uuid.UUID `json:"userId"`
		} `json:"users"`
	}
	if err := body.Decode(&req); err != nil {
		return nil, err
	}
	ids := make([]uuid.UUID, len(req.Users))
	for i, u := range req.Users {
		ids[i] = u.UserID
	}
	var users []*person
	batch := uuid.Must(uuid.NewV7())
	err := r.change(ctx, req.ChannelID, req.ChannelID, func(ctx context.Context, c *change) (err error) {
		users, err = c.banAll(ctx, ids, batch, func(first int64) error { return c.addBatch(ctx, batch, len(ids), first) })
		return err
	})
	counts := map[string]int{"banned": len(users), "alreadyBanned": 0, "userNotFound": 0, "targetIsChannel": 0, "duplicate": 0}
	return batchData(counts, users, "BANNED", batch.String()), err
}

func (r rest) undoBatch(ctx context.Context, body *json.Decoder) ([]byte, error) {
	var req struct {
		ChannelID string    `json:"channelId"`
		BatchID   uuid.UUID `json:"batchId"`
	}
	if err := body.Decode(&req); err != nil {
		return nil, err
	}
	var users []*person
	err := r.change(ctx, req.ChannelID, req.ChannelID, func(ctx context.Context, c *change) (err error) {
		users, err = c.undo(ctx, req.BatchID)
		return err
	})
	return batchData(map[string]int{"unbanned": len(users), "changed": 0, "notBanned": 0}, users, "UNBANNED", ""), err
}

// batchData returns the data of a response with a result for each user.
func batchData(counts map[string]int, users []*person, status, batch string) []byte {
	b := []byte(`{`)
	if batch != "" {
		b = append(appendString(append(b, `"batchId":`...), batch), ',')
	}
	b = append(b, `"counts":`...)
	text, err := json.Marshal(counts)
	if err != nil {
		return nil
	}
	b = append(append(b, text...), `,"results":[`...)
	first := true
	for _, u := range users {
		b = appendComma(b, &first)
		b = appendString(append(b, `{"userId":`...), u.id.String())
		b = appendString(append(b, `,"username":`...), u.username)
		b = appendString(append(b, `,"status":`...), status)
		b = append(b, '}')
	}
	return append(b, "]}"...)
}

func (r rest) previewSweep(ctx context.Context, body *json.Decoder) ([]byte, error) {
	var req sweep
	if err := body.Decode(&req); err != nil {
		return nil, err
	}
	token := strings.ReplaceAll(uuid.NewString(), "-", "")
	matched, err := r.preview(ctx, req, token)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"sweepToken": token, "matched": matched})
}

func (r rest) commitSweep(ctx context.Context, body *json.Decoder) ([]byte, error) {
	var req struct {
		ChannelID  string `json:"channelId"`
		SweepToken string `json:"sweepToken"`
	}
	if err := body.Decode(&req); err != nil {
		return nil, err
	}
	batch, err := r.commit(ctx, req.ChannelID, req.SweepToken)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"batchId": batch, "status": "COMPLETE"})
}
