package bench

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A format that is added to the table is in the help and in every other place
// that names all formats: who reads one of them must not miss it.
func TestEveryExportFormatIsNamed(t *testing.T) {
	table, err := os.ReadFile("../report/README.md")
	require.NoError(t, err)
	readers, err := os.ReadFile("../report/export/readers.sh")
	require.NoError(t, err)
	command := (&app{}).exportCommand()
	for _, f := range exportFormats {
		assert.NotEqual(t, f.file == nil, f.folder == nil, "%s is a file or a folder", f.name)
		assert.Regexp(t, `(?m)^  `+f.name+` +\S`, command.Long)
		assert.Contains(t, command.Flag("format").Usage, f.name)
		assert.Regexp(t, "(?m)^\\| `"+f.name+"` \\| ", string(table))
		assert.Regexp(t, `for format in [a-z ]*\b`+f.name+`\b`, string(readers))
		got, err := (&exportFlags{format: f.name, out: "out"}).check()
		require.NoError(t, err)
		assert.Equal(t, f.name, got.name)
	}
	assert.Contains(t, command.Flag("output").Usage, "for parquet and llmd a folder")
}

func TestExportNamesReadAsASentence(t *testing.T) {
	named := func(names ...string) string {
		return exportNames(" or ", func(f *exportFormat) bool { return slices.Contains(names, f.name) })
	}
	assert.Empty(t, named())
	assert.Equal(t, "hud", named("hud"))
	assert.Equal(t, "hud or llmd", named("llmd", "hud"))
	assert.Equal(t, "junit, benchfmt, hud or llmd", named("hud", "llmd", "junit", "benchfmt"))
}
