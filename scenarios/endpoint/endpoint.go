// Package endpoint reads the address of an attached server.
package endpoint

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/aituner/opprof/scenarios/words"
)

// Parse gives the host and port of an attached server. It refuses an address of
// which a part would not be used: whoever names two back ends of one gateway by
// their paths would measure one of them twice.
func Parse(text string) (hostPort string, err error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("want an address like http://host:8000, got %s", words.Quote(text))
	case u.Scheme == "https":
		return "", errors.New("the client speaks no TLS: give the http address of the server behind it")
	case u.User != nil:
		return "", errors.New("the client sends no user or password: give an address that needs none")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", fmt.Errorf("the client would not use %s, it asks for /v1/completions of the host: give each server's own host and port",
			words.Quote(strings.TrimPrefix(text, u.Scheme+"://"+u.Host)))
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port), nil
}
