// Command sign-in is a sample of the page that a platform runs at --login-url. It shows who is
// signed in and what a client asks for, and tells Moderato what the user decides. A platform
// replaces signedIn, and writes the page in its own style and languages.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"html/template"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	moderato "github.com/moderato-live/moderato/clients/go"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

// policy keeps the page out of frames. Browsers apply form-action to what follows a form too,
// so a page whose form leads to a client adds where that may be.
const policy = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

var pages = template.Must(template.New("").Parse(`
{{define "head"}}<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{{.}}</title></head><body><h1>{{.}}</h1>{{end}}
{{define "message"}}{{template "head" "Sign in"}}<p role="status">{{.}}</p></body></html>{{end}}
{{define "code"}}{{template "head" "Connect a device"}}<form>
<label>The code that your device shows <input name="user_code" required maxlength="16" autocomplete="off"></label>
<button>Continue</button></form></body></html>{{end}}
{{define "consent"}}{{template "head" "Give access?"}}
<p>You are <strong>{{.User.Name}}</strong>. <strong>{{.Request.ClientName}}</strong> asks for access to your account.</p>
{{with .Request.UserCode}}<p>Your device shows the code <code>{{.}}</code>. If it shows another one, deny.</p>{{end}}
{{with .Host}}<p>You then return to <strong>{{.}}</strong>.</p>{{end}}
<form method="post"><input type="hidden" name="request" value="{{.Request.RequestId}}"><input type="hidden" name="csrf" value="{{.CSRF}}">
{{range .Request.Scopes}}<p><label><input type="checkbox" name="scope" value="{{.}}" checked> {{.}}</label></p>{{end}}
<button name="action" value="approve">Approve</button> <button name="action" value="deny">Deny</button></form></body></html>{{end}}`))

type user struct{ ID, Name, Session string }

type page struct {
	platform platformv1.AuthorizationServiceClient
	// signedIn returns who is signed in, as the platform's session says, and false for nobody.
	signedIn func(*http.Request) (user, bool)
	key      []byte        // of CSRF tokens; servers that share the page share it
	codes    *rate.Limiter // of guesses; a platform has one for each user
}

func main() {
	listen := flag.String("listen", "127.0.0.1:8090", "the address of the page")
	server := flag.String("server", "127.0.0.1:9090", "the gRPC address of Moderato, in the platform's own network")
	client := flag.String("client", "demo-chat", "the service client to which TOKEN belongs")
	only := user{Session: rand.Text()} // the sample's only user, signed in since it started
	flag.StringVar(&only.ID, "user", "", "the id of the user who is signed in")
	flag.StringVar(&only.Name, "name", "", "the name of the user who is signed in")
	flag.Parse()
	c, err := moderato.New(moderato.Config{Address: *server, Plaintext: true, ClientID: *client, Tokens: moderato.StaticToken(os.Getenv("TOKEN"))})
	if err != nil {
		log.Fatal(err)
	}
	p := &page{
		platform: c.Platform.Authorization, key: []byte(rand.Text()), codes: rate.NewLimiter(rate.Every(6*time.Second), 10),
		signedIn: func(*http.Request) (user, bool) { return only, only.ID != "" },
	}
	var listening net.ListenConfig
	listener, err := listening.Listen(context.Background(), "tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	s := &http.Server{Handler: http.MaxBytesHandler(p, 64<<10), ReadTimeout: 10 * time.Second, WriteTimeout: 20 * time.Second}
	log.Printf("the page is at http://%s/", listener.Addr())
	log.Fatal(s.Serve(listener))
}

// ServeHTTP shows the page, and takes its form.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Cache-Control": "no-store", "Content-Security-Policy": policy, "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
	} {
		w.Header().Set(name, value)
	}
	ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
	defer cancel()
	u, ok := p.signedIn(r)
	switch {
	case !ok: // a platform sends the browser to its own sign-in, and then back to this URL
		write(w, http.StatusUnauthorized, "message", "Nobody is signed in.")
	case r.Method == http.MethodPost:
		p.decide(ctx, w, r, u)
	default:
		p.show(ctx, w, r, u)
	}
}

func (p *page) show(ctx context.Context, w http.ResponseWriter, r *http.Request, u user) {
	id, code := r.FormValue("request"), r.FormValue("user_code")
	switch {
	case id == "" && code == "":
		write(w, http.StatusOK, "code", nil)
		return
	case code != "" && !p.codes.Allow():
		write(w, http.StatusTooManyRequests, "message", "Too many codes were tried. Wait a minute.")
		return
	}
	request, err := p.platform.GetRequest(ctx, &platformv1.GetRequestRequest{RequestId: id, UserCode: code})
	if err != nil {
		failed(w, err)
		return
	}
	host := ""
	if to, err := url.Parse(request.GetRedirectUri()); err == nil && to.Scheme != "" { // no device's
		host = to.Scheme + "://" + to.Host
		w.Header().Set("Content-Security-Policy", policy+" http: https: "+to.Scheme+":")
	}
	write(w, http.StatusOK, "consent", map[string]any{"User": u, "Request": request, "Host": host, "CSRF": p.csrf(u, request.GetRequestId())})
}

func (p *page) decide(ctx context.Context, w http.ResponseWriter, r *http.Request, u user) {
	id := r.PostFormValue("request")
	if !hmac.Equal([]byte(r.PostFormValue("csrf")), []byte(p.csrf(u, id))) {
		write(w, http.StatusForbidden, "message", "This form is not of your session. Go back to the application, and start again.")
		return
	}
	var decided interface{ GetRedirectTo() string }
	var err error
	if r.PostFormValue("action") == "approve" {
		decided, err = p.platform.Approve(ctx, &platformv1.ApproveRequest{RequestId: id, UserId: u.ID, Scopes: r.PostForm["scope"]})
	} else {
		decided, err = p.platform.Deny(ctx, &platformv1.DenyRequest{RequestId: id})
	}
	switch {
	case err != nil:
		failed(w, err)
	case decided.GetRedirectTo() == "":
		write(w, http.StatusOK, "message", "You can close this page. The device continues by itself.")
	default:
		http.Redirect(w, r, decided.GetRedirectTo(), http.StatusSeeOther)
	}
}

// csrf returns the token of a form, which is good for one request in one session.
func (p *page) csrf(u user, request string) string {
	mac := hmac.New(sha256.New, p.key)
	mac.Write([]byte(u.Session + "\n" + u.ID + "\n" + request))
	return hex.EncodeToString(mac.Sum(nil))
}

func failed(w http.ResponseWriter, err error) {
	code, text := http.StatusBadGateway, "This does not work at the moment. Try again."
	switch status.Code(err) {
	case codes.NotFound:
		code, text = http.StatusNotFound, "No sign-in waits for you here. Compare the code with that of your device, or start again in the application."
	case codes.InvalidArgument:
		code, text = http.StatusBadRequest, "Go back, and choose what the application may do, or deny."
	default:
		log.Print(err)
	}
	write(w, code, "message", text)
}

func write(w http.ResponseWriter, code int, name string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_ = pages.ExecuteTemplate(w, name, data)
}
