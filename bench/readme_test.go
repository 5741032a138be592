package bench

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	readmeCommand = regexp.MustCompile(`(?m)^ {4}bin/opbench (.*)$`)
	readmeCode    = regexp.MustCompile(` +# exit code (\d+)$`)
)

// starts says what stands for a command that would start servers for minutes:
// the plan that it would carry out, with the same arguments. make test-vllm and
// make test-pr run such campaigns.
var starts = map[string]string{"run": "plan", "control": "plan"}

// tooLong are commands of the README that tests of their own run in a shorter form.
var tooLong = map[string]string{"selftest": "selftest.txtar"}

// Every command that the README shows is one: it runs in the repository, and its
// exit code is the one that stands beside it.
func TestReadmeCommands(t *testing.T) {
	t.Chdir("..")
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	lines := readmeCommand.FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(lines), 10)
	for _, line := range lines {
		t.Run(strings.ReplaceAll(line[1], " ", "_"), func(t *testing.T) {
			args, code := readmeArgs(t, line[1])
			if script, ok := tooLong[args[0]]; ok {
				require.FileExists(t, "bench/testdata/"+script)
				return
			}
			var out, log bytes.Buffer
			a := &app{stdout: &out, stderr: &log, cache: t.TempDir()}
			require.Equal(t, code, a.main(args), log.String())
			assert.NotEmpty(t, out.String())
		})
	}
}

func readmeArgs(t *testing.T, line string) (args []string, code int) {
	t.Helper()
	if m := readmeCode.FindStringSubmatch(line); m != nil {
		var err error
		code, err = strconv.Atoi(m[1])
		require.NoError(t, err)
		line = strings.TrimSuffix(line, m[0])
	}
	args = strings.Fields(line)
	if plan, ok := starts[args[0]]; ok {
		args[0] = plan
	}
	return args, code
}
