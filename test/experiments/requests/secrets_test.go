package requests_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/tracing/tracingtest"
	"github.com/moderato-live/moderato/server/domain/access"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// canary returns a text that occurs nowhere else.
func canary(name string) string {
	sum := digest.Of(name)
	return "canary" + hex.EncodeToString(sum[:8])
}

// exposure is a server with secrets everywhere, and all that can be read of it.
type exposure struct {
	*process.Server

	url       store.URL
	db        *store.Store
	client    *http.Client
	collector *tracingtest.Collector
	secrets   map[string]string // by what they are; they must be nowhere
	// stored are the secrets that the database has as they are, on purpose.
	stored map[string]bool
	texts  map[string]string // what can be read, by where
	bad    int               // responses that are errors
	// echoed are what a caller writes into its own requests: it may be in the errors that this
	// caller gets, but nowhere else.
	echoed []string
}

// TestSecretsAppearNowhere gives a server canaries as tokens, keys, passwords, secrets and
// messages, takes them through every path, also through failures, and looks for them in the
// log at its most verbose level, the metrics, the profiles, the traces, the errors, the output
// of the commands, and the files of the database and of a backup.
func TestSecretsAppearNowhere(t *testing.T) {
	t.Parallel()
	x := expose(t)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, canary("Answer"))
	}))
	defer receiver.Close()
	x.secrets["answer of a receiver"] = canary("Answer")
	owner := x.issue(t, "user token", authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Scopes: authn.Scopes(), Lifetime: time.Hour})
	app := x.issue(t, "app token", authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard, Scopes: authn.Scopes()})
	backend := x.issue(t, "service token", authn.NewToken{Kind: authn.Service, ClientID: servertest.ChatServer})

	x.signIn(t, backend)
	x.tickets(t, owner)
	x.webhooks(t, owner, receiver.URL)
	x.chat(t, owner)
	x.misplace(t, owner, app, backend)
	x.commands(t, owner)
	x.read(t)
	x.breakDatabase(t)
	for _, c := range []servertest.Credentials{owner, app, backend} {
		x.everything(t, c)
	}
	x.read(t)
	x.Terminate() // sends the spans that are left
	x.texts["log"] = x.Log()
	x.collector.Wait(t, "deliver webhook")
	x.texts["traces"] = string(bytes.Join(x.collector.Bodies(), nil))

	if x.bad < 100 {
		t.Errorf("%d responses were errors, so this test shows too little", x.bad)
	}
	for where, text := range x.texts {
		if text == "" {
			t.Errorf("nothing was read of the %s", where)
		}
		for _, what := range slices.Sorted(maps.Keys(x.secrets)) {
			isFile := strings.HasPrefix(where, "file ")
			if isFile && x.stored[what] {
				continue
			}
			for _, form := range forms(x.secrets[what], isFile) {
				if at := strings.Index(text, form); at >= 0 {
					t.Errorf("the %s has the %s, as %q: %.200q", where, what, form, text[max(0, at-80):])
					break
				}
			}
		}
	}
}

// forms returns the forms in which a secret could appear. The digests of tokens are stored.
func forms(secret string, isFile bool) []string {
	const part = 12
	all := []string{base64.StdEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret)), url.QueryEscape(secret)}
	for i := range max(1, len(secret)-part+1) {
		all = append(all, secret[i:min(len(secret), i+part)])
	}
	if !isFile {
		sum := digest.Of(secret)
		all = append(all, hex.EncodeToString(sum[:]), base64.StdEncoding.EncodeToString(sum[:]))
	}
	return all
}

func expose(t *testing.T) *exposure {
	t.Helper()
	x := &exposure{
		url: storetest.SQLite(t), collector: tracingtest.Start(t), client: &http.Client{CheckRedirect: generatedClient.CheckRedirect, Timeout: 30 * time.Second},
		secrets: map[string]string{}, texts: map[string]string{}, stored: map[string]bool{},
	}
	storetest.Migrate(t, x.url)
	db, err := store.Open(t.Context(), x.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	x.db = db
	servertest.Import(t, db, servertest.World()...)
	x.secrets["password of NATS"], x.secrets["password of the collector"] = canary("Nats"), canary("Collector")
	traced := []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=" + x.collector.URL, "OTEL_EXPORTER_OTLP_TRACES_HEADERS=authorization=" + canary("Collector")}
	x.Server = process.ServeWith(t, x.url, traced, "--log-level=debug", "--webhook-allow-private", "--login-url=https://login.example/",
		"--nats-url=nats://moderato:"+canary("Nats")+"@127.0.0.1:1")
	return x
}

// issue issues a token.
func (x *exposure) issue(t *testing.T, what string, n authn.NewToken) servertest.Credentials {
	t.Helper()
	issued, err := authn.Issue(t.Context(), x.db, n)
	if err != nil {
		t.Fatal(err)
	}
	x.secrets[what] = issued.Text
	return servertest.Credentials{Token: issued.Text, ClientID: n.ClientID}
}

// call makes a call over REST. The body of an error is kept.
func (x *exposure) call(t *testing.T, c servertest.Credentials, method, path, body string, headers ...string) (status int, answer map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+x.REST+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if strings.HasPrefix(path, "/oauth2/") {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + c.Token, "client-id": c.ClientID} {
		if c.Token != "" {
			r.Header.Set(name, value)
		}
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := x.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	x.readHeader(response)
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		return response.StatusCode, nil
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		x.fail("errors", string(text))
	}
	answer = map[string]any{"location": response.Header.Get("Location")}
	_ = json.Unmarshal(text, &answer)
	if data, isObject := answer["data"].(map[string]any); isObject {
		answer = data
	}
	return response.StatusCode, answer
}

// want returns a field of a response that must succeed, and remembers it as a secret.
func (x *exposure) want(t *testing.T, what string, answer map[string]any, field string) string {
	t.Helper()
	secret, _ := answer[field].(string)
	if secret == "" {
		t.Fatalf("%s: there is no %s in %v", what, field, answer)
	}
	x.secrets[what] = secret
	return secret
}

const webApp, webAppCallback = "web-app", "https://app.example.com/callback"

// signIn takes every secret of the sign-in through success and failure.
func (x *exposure) signIn(t *testing.T, backend servertest.Credentials) {
	t.Helper()
	secret, err := access.CreateClient(t.Context(), x.db, &platformv1.ClientRecord{
		Id: webApp, Name: "Web app", RedirectUris: []string{webAppCallback}, Scopes: authn.Scopes(),
	}, true)
	if err != nil {
		t.Fatal(err)
	}
	x.secrets["client secret"] = secret
	verifier := oauth2.GenerateVerifier()
	x.secrets["verifier"] = verifier
	nobody := servertest.Credentials{}
	client := url.Values{"client_id": {webApp}, "client_secret": {secret}}
	post := func(path string, more url.Values) map[string]any {
		form := url.Values{}
		maps.Copy(form, client)
		maps.Copy(form, more)
		_, answer := x.call(t, nobody, http.MethodPost, path, form.Encode())
		return answer
	}
	_, answer := x.call(t, nobody, http.MethodGet, "/oauth2/authorize?"+url.Values{
		"client_id": {webApp}, "redirect_uri": {webAppCallback}, "response_type": {"code"}, "scope": {"users.read offline.access"},
		"state": {canary("State")}, "code_challenge_method": {"S256"}, "code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)},
	}.Encode(), "")
	x.secrets["state"] = canary("State")
	x.stored["state"] = true // the redirect needs it
	to, err := url.Parse(answer["location"].(string))
	if err != nil || to.Query().Get("request") == "" {
		t.Fatalf("authorize: got %v", answer)
	}
	conn, err := grpc.NewClient(x.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	approved, err := platformv1.NewAuthorizationServiceClient(conn).Approve(backend.Context(), &platformv1.ApproveRequest{
		RequestId: to.Query().Get("request"), UserId: servertest.Viewer.String(), Scopes: []string{"users.read", "offline.access"},
	})
	if err != nil {
		t.Fatal(err)
	}
	back, err := url.Parse(approved.GetRedirectTo())
	if err != nil {
		t.Fatal(err)
	}
	code := back.Query().Get("code")
	x.secrets["code"], x.secrets["sign-in request"] = code, to.Query().Get("request")
	redeem := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {webAppCallback}, "code_verifier": {verifier}}
	tokens := post("/oauth2/token", redeem)
	x.want(t, "access token of the sign-in", tokens, "access_token")
	refresh := x.want(t, "refresh token", tokens, "refresh_token")
	next := post("/oauth2/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}})
	x.want(t, "second refresh token", next, "refresh_token")
	device := post("/oauth2/device_authorization", url.Values{"scope": {"users.read"}})
	x.want(t, "device code", device, "device_code")
	x.want(t, "user code", device, "user_code")
	wrong := canary("Wrong")
	x.secrets["wrong secret"] = wrong
	for _, form := range []url.Values{
		redeem, {"grant_type": {"refresh_token"}, "refresh_token": {wrong}}, {"grant_type": {"authorization_code"}, "code": {wrong}, "redirect_uri": {webAppCallback}},
		{"grant_type": {"unknown"}}, {"client_secret": {wrong}}, {"client_id": {wrong}}, {"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {wrong}},
		{"grant_type": {"client_credentials"}, "scope": {wrong}}, {"client_secret": {wrong, secret}},
	} {
		for _, path := range []string{"/oauth2/token", "/oauth2/revoke", "/oauth2/introspect", "/oauth2/device_authorization"} {
			post(path, form)
		}
	}
	for _, path := range []string{"generate-auth-url", "token", "refresh"} {
		for _, body := range []map[string]string{
			{"clientId": webApp, "clientSecret": wrong, "code": code, "codeVerifier": verifier, "refreshToken": refresh, "redirectUri": webAppCallback, "scopes": wrong},
			{"clientId": wrong, "clientSecret": secret, "code": wrong, "refreshToken": wrong, "redirectUri": wrong, "scopes": "users.read"},
		} {
			text, _ := json.Marshal(body) //nolint:errchkjson // it is a map of texts
			x.call(t, nobody, http.MethodPost, "/bapi/oauth2/"+path, string(text))
			x.call(t, nobody, http.MethodPost, "/bapi/oauth2/"+path, strings.TrimSuffix(string(text), "}"))
		}
	}
	for _, query := range []string{"client_id=" + wrong, "client_id=" + webApp + "&redirect_uri=" + wrong, "client_id=" + webApp + "&client_secret=" + secret} {
		x.call(t, nobody, http.MethodGet, "/oauth2/authorize?"+query, "")
	}
}

// tickets uses tickets, once and again.
func (x *exposure) tickets(t *testing.T, owner servertest.Credentials) {
	t.Helper()
	_, answer := x.call(t, owner, http.MethodPost, "/v1/events/tickets", "{}")
	ticket := x.want(t, "ticket", answer, "ticket")
	for range 2 {
		x.call(t, servertest.Credentials{}, http.MethodGet, "/v1/events?ticket="+ticket, "")
	}
	x.call(t, owner, http.MethodPost, "/v1/events/tickets", `{"ticket":"`+ticket+`"}`)
}

// webhooks creates webhooks whose deliveries fail.
func (x *exposure) webhooks(t *testing.T, owner servertest.Credentials, receiver string) {
	t.Helper()
	for what, address := range map[string]string{
		"webhook that is refused": receiver + "/" + canary("Path") + "?key=" + canary("Query"), "webhook without a receiver": "http://127.0.0.1:1/" + canary("Path"),
	} {
		_, answer := x.call(t, owner, http.MethodPost, "/v1/webhooks", `{"url":"`+address+`","type":["channel.update"]}`)
		x.stored["secret of a "+what], x.stored["second secret of a "+what] = true, true // deliveries are signed with it
		x.want(t, "secret of a "+what, answer, "secret")
		id, _ := answer["id"].(string)
		_, answer = x.call(t, owner, http.MethodPost, "/v1/webhooks/rotate-secret", `{"webhookId":"`+id+`"}`)
		x.want(t, "second secret of a "+what, answer, "secret")
	}
	x.secrets["path of a webhook"], x.secrets["query of a webhook"], x.secrets["password of a webhook"] = canary("Path"), canary("Query"), canary("UserInfo")
	x.stored["path of a webhook"], x.stored["query of a webhook"] = true, true // it is called there
	x.call(t, owner, http.MethodPost, "/v1/webhooks", `{"url":"https://user:`+canary("UserInfo")+`@hooks.example.com/"}`)
	x.call(t, owner, http.MethodPost, "/v1/channels/info", `{"title":"cause an event","lang":"en"}`)
	for deadline := time.Now().Add(servertest.Slack); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		_, list := x.call(t, owner, http.MethodGet, "/v1/webhooks", "")
		webhooks, _ := list["data"].([]any)
		if !slices.ContainsFunc(webhooks, func(w any) bool { return w.(map[string]any)["lastError"] == "" }) {
			return
		}
	}
	t.Error("the deliveries did not fail")
}

// chat posts messages, of which the log has nothing.
func (x *exposure) chat(t *testing.T, owner servertest.Credentials) {
	t.Helper()
	x.secrets["chat message"], x.secrets["idempotency key"] = canary("Message"), canary("Key")
	x.stored["chat message"] = true
	body := `{"channelId":"` + servertest.Owner.String() + `","message":"` + canary("Message") + `"}`
	for _, sent := range []string{body, body, strings.Replace(body, servertest.Owner.String(), servertest.Nobody.String(), 1), body + "x", strings.Replace(body, "message", "massage", 1)} {
		x.call(t, owner, http.MethodPost, "/v1/chats/messages", sent, "Idempotency-Key", canary("Key"))
	}
	x.call(t, owner, http.MethodPost, "/v1/chats/messages", body, "Idempotency-Key", strings.Repeat(canary("Key"), 20))
	x.call(t, owner, http.MethodPost, "/v1/moderation/sweeps", `{"channelId":"`+servertest.Owner.String()+`","phrase":"`+canary("Message")+`","withinSeconds":600}`)
	rows := storetest.Must(x.db.Read.CursorKey.Query().All(t.Context()))
	for _, key := range rows {
		x.secrets["key of cursors"] = string(key.Secret)
		x.stored["key of cursors"] = true // every server derives the keys from it
	}
}
