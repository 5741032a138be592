// Command servegithub runs the fake GitHub of tests for a shell script:
//
//	servegithub -pull 7=SHA -url FILE -state FILE [-fault NAME]...
//
// It listens on a free port of this machine, writes its address into one file
// and after each change everything that it holds into the other, until it is
// ended.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/aituner/opprof/report/post/fakegithub"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "servegithub:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	s := &fakegithub.Server{Pulls: map[int]string{}}
	flags := flag.NewFlagSet("servegithub", flag.ContinueOnError)
	address := flags.String("url", "", "file for the address")
	state := flags.String("state", "", "file for what the server holds")
	flags.Func("pull", "NUMBER=SHA of a pull request", func(text string) error {
		number, sha, found := strings.Cut(text, "=")
		n, err := strconv.Atoi(number)
		if err != nil || !found {
			return errors.New("want NUMBER=SHA")
		}
		s.Pulls[n] = sha
		return nil
	})
	flags.Func("fault", "one of "+strings.Join(fakegithub.Names(), ", "), func(name string) error {
		f, err := fakegithub.Named(name)
		s.Inject(f)
		return err
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *address == "" || *state == "" {
		return errors.New("-url and -state are needed")
	}
	var writing sync.Mutex
	s.Changed = func() {
		writing.Lock()
		defer writing.Unlock()
		if err := save(*state, s.State()); err != nil {
			fmt.Fprintln(os.Stderr, "servegithub:", err)
		}
	}
	s.Changed()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := replace(*address, []byte("http://"+l.Addr().String())); err != nil {
		return err
	}
	return http.Serve(l, s)
}

func save(path string, state fakegithub.State) error {
	data, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return err
	}
	return replace(path, data)
}

// replace never shows half a file.
func replace(path string, data []byte) error {
	if err := os.WriteFile(path+".new", data, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
