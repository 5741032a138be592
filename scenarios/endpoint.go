package scenarios

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Endpoint is the host and port of an attached server. It refuses an address of
// which a part would not be used: whoever names two back ends of one gateway by
// their paths would measure one of them twice.
func Endpoint(text string) (hostPort string, err error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("want an address like http://host:8000, got %s", quote(text))
	case u.Scheme == "https":
		return "", errors.New("the client speaks no TLS: give the http address of the server behind it")
	case u.User != nil:
		return "", errors.New("the client sends no user or password: give an address that needs none")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", fmt.Errorf("the client would not use %s, it asks for /v1/completions of the host: give each server's own host and port",
			quote(strings.TrimPrefix(text, u.Scheme+"://"+u.Host)))
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port), nil
}

// checkOneServer refuses arms that would load one server, whose difference is none.
// An A/A may do so.
func checkOneServer(f *file, s *Scenario) {
	if !s.Engine.attached() || s.Purpose == AA {
		return
	}
	first := map[string]Arm{}
	for _, a := range s.Arms {
		at, err := Endpoint(a.URL)
		if err != nil {
			continue // said by checkURL
		}
		if ip := net.ParseIP(hostOf(at)); hostOf(at) == "localhost" || ip.IsLoopback() {
			at = strings.Replace(at, hostOf(at), "localhost", 1)
		}
		other, taken := first[at]
		if taken && other.URL != a.URL { // equal ones are asked for same_as
			f.rule("arms."+a.Name+".url", "%s is the server of arm %s, too: give each arm a server of its own, or use purpose aa", at, other.Name)
		}
		if !taken {
			first[at] = a
		}
	}
}

func hostOf(hostPort string) string {
	host, _, _ := net.SplitHostPort(hostPort)
	return host
}
