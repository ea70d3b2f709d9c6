package cli

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/moderato-live/moderato/internal/certificates"
)

// tlsFlags holds the flags with which a server serves TLS.
type tlsFlags struct {
	HTTPTLSCert  string `name:"http-tls-cert" help:"Serve REST with TLS: a PEM file with the certificate and its chain." env:"MODERATO_HTTP_TLS_CERT" placeholder:"FILE" type:"existingfile"`
	HTTPTLSKey   string `name:"http-tls-key" help:"A PEM file with the key of the certificate of REST." env:"MODERATO_HTTP_TLS_KEY" placeholder:"FILE" type:"existingfile"`
	GRPCTLSCert  string `name:"grpc-tls-cert" help:"Serve gRPC with TLS: a PEM file with the certificate and its chain." env:"MODERATO_GRPC_TLS_CERT" placeholder:"FILE" type:"existingfile"`
	GRPCTLSKey   string `name:"grpc-tls-key" help:"A PEM file with the key of the certificate of gRPC." env:"MODERATO_GRPC_TLS_KEY" placeholder:"FILE" type:"existingfile"`
	GRPCClientCA string `name:"grpc-client-ca" help:"Require a certificate of every gRPC client: a PEM file with the authorities that sign them." env:"MODERATO_GRPC_CLIENT_CA" placeholder:"FILE" type:"existingfile"`
}

// validate rejects a certificate without a key, and the reverse.
func (f *tlsFlags) validate() error {
	if err := checkPair("--http-tls-cert", f.HTTPTLSCert, "--http-tls-key", f.HTTPTLSKey); err != nil {
		return err
	}
	if err := checkPair("--grpc-tls-cert", f.GRPCTLSCert, "--grpc-tls-key", f.GRPCTLSKey); err != nil {
		return err
	}
	if f.GRPCClientCA != "" && f.GRPCTLSCert == "" {
		return errors.New("--grpc-client-ca needs --grpc-tls-cert and --grpc-tls-key: clients have certificates only over TLS")
	}
	return nil
}

// checkPair rejects one of two flags without the other.
func checkPair(certFlag, cert, keyFlag, key string) error {
	switch {
	case cert != "" && key == "":
		return fmt.Errorf("%s needs %s, the file with its key", certFlag, keyFlag)
	case cert == "" && key != "":
		return fmt.Errorf("%s needs %s, the file with its certificate", keyFlag, certFlag)
	}
	return nil
}

func (f *tlsFlags) http() certificates.Files {
	return certificates.Files{Cert: f.HTTPTLSCert, Key: f.HTTPTLSKey}
}

func (f *tlsFlags) grpc() certificates.Files {
	return certificates.Files{Cert: f.GRPCTLSCert, Key: f.GRPCTLSKey, ClientCA: f.GRPCClientCA}
}

// trust holds the flags with which a command connects to a server over TLS.
type trust struct {
	TLSCA   string `name:"tls-ca" help:"Trust a server whose certificate is signed by an authority in this PEM file, instead of those that the system trusts." env:"MODERATO_TLS_CA" placeholder:"FILE" type:"existingfile"`
	TLSCert string `name:"tls-cert" help:"A PEM file with a client certificate, for a server that requires one." env:"MODERATO_TLS_CERT" placeholder:"FILE" type:"existingfile"`
	TLSKey  string `name:"tls-key" help:"A PEM file with the key of the client certificate." env:"MODERATO_TLS_KEY" placeholder:"FILE" type:"existingfile"`
}

// validate rejects half a client certificate, and flags without effect. with is what TLS
// needs, and isOn reports whether it is given.
func (c *trust) validate(isOn bool, with string) error {
	if err := checkPair("--tls-cert", c.TLSCert, "--tls-key", c.TLSKey); err != nil {
		return err
	}
	switch {
	case !isOn && c.TLSCA != "":
		return errors.New("--tls-ca needs " + with)
	case !isOn && c.TLSCert != "":
		return errors.New("--tls-cert needs " + with)
	}
	return nil
}

// unreachable returns the error of a server that cannot be called, with what to do. A server
// whose certificate is not trusted does answer.
func unreachable(server string, err error, otherwise string) error {
	// gRPC has only the text of the error.
	if strings.Contains(err.Error(), "x509: ") {
		return fmt.Errorf("the certificate of %s is not trusted: %w; name the authority that signed it with --tls-ca, and the server as its certificate does", server, err)
	}
	return fmt.Errorf("%s does not answer: %w; %s", server, err, otherwise)
}

// config returns the configuration of a TLS client.
func (c *trust) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	var err error
	if c.TLSCA != "" {
		if config.RootCAs, err = certificates.ReadPool(c.TLSCA); err != nil {
			return nil, fmt.Errorf("--tls-ca: %w", err)
		}
	}
	if c.TLSCert != "" {
		pair, err := certificates.ReadPair(c.TLSCert, c.TLSKey)
		if err != nil {
			return nil, fmt.Errorf("--tls-cert: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// httpClient returns a client for a server's REST address.
func (c *trust) httpClient() (*http.Client, error) {
	if *c == (trust{}) {
		return http.DefaultClient, nil
	}
	config, err := c.config()
	if err != nil {
		return nil, err
	}
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("the default HTTP transport was replaced")
	}
	transport = transport.Clone()
	transport.TLSClientConfig = config
	return &http.Client{Transport: transport}, nil
}

// Validate rejects flags of TLS without --grpc-tls.
func (a *grpcAPI) Validate() error { return a.validate(a.GRPCTLS, "--grpc-tls") }

// transport returns the credentials of a connection to the gRPC address.
func (a *grpcAPI) transport() (credentials.TransportCredentials, error) {
	if !a.GRPCTLS {
		return insecure.NewCredentials(), nil
	}
	config, err := a.config()
	if err != nil {
		return nil, err
	}
	return credentials.NewTLS(config), nil
}

// isHTTPS reports whether the server is called over TLS.
func (a *api) isHTTPS() bool { return strings.HasPrefix(a.Server, "https:") }
