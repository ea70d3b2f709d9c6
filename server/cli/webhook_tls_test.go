package cli_test

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestReceiverCertificateMustBeTrusted delivers over TLS to a receiver whose certificate
// the server does not trust at first. The delivery must fail and be listed as failed, and
// succeed once the server is started with the certificate among the system's.
func TestReceiverCertificateMustBeTrusted(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	db := prepare(t, url)
	v := &victim{id: uid.MustParse("0b6faaaa-0000-4000-8000-000000000001")}
	addUsers(t, db, []*victim{v})
	ctx := callerContext(t, db)
	box := newMailbox(t)
	receiver := httptest.NewUnstartedServer(box)
	receiver.EnableHTTP2 = true
	receiver.StartTLS()
	defer receiver.Close()
	dir := t.TempDir()
	trusted := filepath.Join(dir, "trusted.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: receiver.Certificate().Raw})
	if err := os.WriteFile(trusted, certificate, 0o600); err != nil {
		t.Fatal(err)
	}

	p := process.ServeWith(t, url, []string{"SSL_CERT_FILE=" + os.DevNull, "SSL_CERT_DIR=" + dir + "/none"}, "--webhook-allow-private")
	conn := p.Dial(t)
	hooks := moderatov1.NewWebhooksServiceClient(conn)
	created, err := hooks.CreateWebhook(ctx, &moderatov1.CreateWebhookRequest{Url: receiver.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, err = moderatov1.NewModerationServiceClient(conn).BanUser(ctx,
		&moderatov1.BanUserRequest{ChannelId: servertest.Owner.String(), BanUserId: v.id.String()})
	if err != nil {
		t.Fatal(err)
	}
	const want = "the receiver's certificate is not valid"
	for late := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		list, err := hooks.ListWebhookDeliveries(ctx, &moderatov1.ListWebhookDeliveriesRequest{WebhookId: created.GetId()})
		if err != nil {
			t.Fatal(err)
		}
		rows := list.GetRows()
		if len(rows) == 2 && rows[1].GetLastError() == want && rows[1].GetStatus() == "pending" && rows[1].NextAttemptAt != nil && rows[1].LastStatus == nil {
			break
		}
		if time.Now().After(late) {
			t.Fatalf("got %v, want %q", rows, want)
		}
	}
	if got := box.reached(); got != 0 {
		t.Errorf("%d events arrived where the certificate was not trusted", got)
	}
	_ = conn.Close()
	p.Kill()

	// Make the next attempt due.
	for _, statement := range []string{"UPDATE webhooks SET next_at = 0, is_claimed = 0", "UPDATE webhook_deliveries SET next_attempt_at = 0"} {
		if _, err := db.DB().Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	process.ServeWith(t, url, []string{"SSL_CERT_FILE=" + trusted}, "--webhook-allow-private")
	waitUntil(t, "arrived", box.moved, box.reached, 2)
}
