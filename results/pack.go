package results

import (
	"archive/tar"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Packed says what an archive was made of.
type Packed struct {
	Files   int
	Size    int64    // of the archive, bytes
	Thinned []string // step files that were left out now or before, as in thinned.json
}

// Pack writes an archive of less than limit bytes: plan, ledger and all that the
// ledger vouches for, aborted runs and those of a control's pilot with it; no derived
// file. The same campaign gives the same bytes. Where it is too large, step
// files are left out, of runs that do not count, then of the largest; one run of
// every recording arm keeps its files. It refuses a campaign that is not over or is damaged.
func Pack(file string, c *Campaign, limit int64) (*Packed, error) {
	p := &packing{out: Packed{Thinned: slices.Sorted(maps.Keys(c.Thinned))}}
	if err := p.campaign(c, ""); err != nil {
		return nil, err
	}
	if err := p.spare(c); err != nil {
		return nil, fmt.Errorf("pack %s: %w", c.Dir, err)
	}
	for {
		b := &bounded{limit: limit}
		if err := p.write(b); err != nil {
			return nil, fmt.Errorf("pack %s: %w", c.Dir, err)
		}
		if b.size < limit {
			p.out.Size = b.size
			return &p.out, writeArchive(file, b.kept.Bytes())
		}
		if !p.thin(b.size - limit) {
			return nil, fmt.Errorf("pack %s: %d bytes, the limit is %d: "+
				"all step files but those of one run of each arm are left out", c.Dir, b.size, limit)
		}
		if err := p.leaveOut(c); err != nil {
			return nil, fmt.Errorf("pack %s: %w", c.Dir, err)
		}
	}
}

// writeArchive writes an archive that can be read: one that breaks a bound must not
// replace one that does not.
func writeArchive(file string, data []byte) error {
	if _, err := unpack(bytes.NewReader(data), whole); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return WriteFile(file, data)
}

// packing is an archive to be.
type packing struct {
	out     Packed
	members []member
	spared  []stepFiles // may be left out, the last one first
}

// member is one file of an archive.
type member struct {
	name string
	from files
	file string // its path there
}

// stepFiles are those of one run.
type stepFiles struct {
	key   Key
	names []string // as in thinned.json
	size  int64
	idle  int // 1 if the run does not count: left out before all others
}

// campaign adds the files of a campaign that stands in a folder of the archive.
func (p *packing) campaign(c *Campaign, folder string) error {
	if !c.Complete {
		return fmt.Errorf("%s is not finished: opbench resume goes on, opbench close gives it up", c.Dir)
	}
	if len(c.Damage) > 0 {
		return fmt.Errorf("%s is damaged: %s", c.Dir, c.Damage[0])
	}
	own := head
	if len(c.Thinned) > 0 {
		own = append(slices.Clone(head), thinnedFile)
	}
	for _, name := range own {
		p.members = append(p.members, member{path.Join(folder, name), c.files, name})
	}
	for i := range c.Attempts {
		a := &c.Attempts[i]
		if err := damaged(c, a); err != nil {
			return err
		}
		if err := p.tree(path.Join(folder, blocksFolder, a.Key.Dir()), c.run(a.Key)); err != nil {
			return err
		}
	}
	if err := p.packLost(c, folder); err != nil {
		return err
	}
	if c.Plan.Pilot == nil || !c.PilotRuns() {
		return nil
	}
	for i := range c.Plan.Pilot.Steps {
		step, err := c.LoadPilot(i + 1)
		if err != nil {
			return fmt.Errorf("read the pilot: %w", err)
		}
		if err := p.campaign(step, path.Join(folder, pilotFolder, strconv.Itoa(i+1))); err != nil {
			return err
		}
	}
	return nil
}

// packLost adds the sealed folders of aborted runs to an archive.
func (p *packing) packLost(c *Campaign, folder string) error {
	for i, e := range c.Aborted {
		if e.SumsSHA256 == "" {
			continue
		}
		if err := damaged(c, &c.Lost[i]); err != nil {
			return err
		}
		if err := p.tree(path.Join(folder, blocksFolder, e.Folder), c.files.sub(path.Join(blocksFolder, e.Folder))); err != nil {
			return err
		}
	}
	return nil
}

func damaged(c *Campaign, a *Attempt) error {
	if a.Damage != "" {
		return fmt.Errorf("%s is damaged: run %s: %s", c.Dir, a.Key, a.Damage)
	}
	return nil
}

// tree adds a sealed folder whole.
func (p *packing) tree(as string, from files) error {
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			p.members = append(p.members, member{path.Join(as, name), from, name})
		}
		return err
	})
}

// spare finds the runs whose step files may be left out: all but the smallest of
// each recording arm, one that counts if there is any.
func (p *packing) spare(c *Campaign) error {
	byArm := map[string][]stepFiles{}
	for i := range c.Attempts {
		s, err := stepFilesOf(c, &c.Attempts[i])
		if err != nil {
			return err
		}
		if len(s.names) > 0 {
			byArm[s.key.Arm] = append(byArm[s.key.Arm], s)
		}
	}
	order := func(a, b stepFiles) int {
		return cmp.Or(cmp.Compare(a.idle, b.idle), cmp.Compare(a.size, b.size))
	}
	for _, arm := range slices.Sorted(maps.Keys(byArm)) {
		slices.SortStableFunc(byArm[arm], order)
		p.spared = append(p.spared, byArm[arm][1:]...)
	}
	slices.SortStableFunc(p.spared, order)
	return nil
}

// stepFilesOf are the step files of a run; none if some were left out before.
func stepFilesOf(c *Campaign, a *Attempt) (stepFiles, error) {
	s := stepFiles{key: a.Key}
	if a.Run.Steps == nil {
		return s, nil
	}
	for _, f := range a.Run.Steps.Files {
		name := a.Key.Dir() + "/" + f.Name
		if c.Thinned[name] {
			return stepFiles{}, nil
		}
		info, err := fs.Stat(c.run(a.Key), f.Name)
		if err != nil {
			return s, err
		}
		s.names = append(s.names, name)
		s.size += info.Size()
	}
	if !a.Valid || a.BurnIn {
		s.idle = 1
	}
	return s, nil
}

// thin leaves out step files of about so many bytes; false if none may be left
// out any more. They are compressed, so the archive shrinks by as much.
func (p *packing) thin(excess int64) bool {
	if len(p.spared) == 0 {
		return false
	}
	for excess >= 0 && len(p.spared) > 0 {
		run := p.spared[len(p.spared)-1]
		p.spared = p.spared[:len(p.spared)-1]
		p.out.Thinned = append(p.out.Thinned, run.names...)
		excess -= run.size
	}
	return true
}

// leaveOut takes the thinned files out, and puts in their list and a ledger that
// vouches for it.
func (p *packing) leaveOut(c *Campaign) error {
	slices.Sort(p.out.Thinned)
	list := thinnedList(p.out.Thinned)
	ledger, err := fs.ReadFile(c.files, ledgerFile)
	if err == nil {
		ledger, err = vouchFor(ledger, list)
	}
	if err != nil {
		return err
	}
	inMemory := &archive{content: map[string][]byte{thinnedFile: list, ledgerFile: ledger}}
	p.members = slices.DeleteFunc(p.members, func(m member) bool {
		_, out := slices.BinarySearch(p.out.Thinned, strings.TrimPrefix(m.name, "blocks/"))
		return out || inMemory.content[m.name] != nil
	})
	for name := range inMemory.content {
		p.members = append(p.members, member{name, inMemory, name})
	}
	return nil
}

// write writes the archive: plan and ledger, then the other files by name.
func (p *packing) write(w io.Writer) error {
	slices.SortStableFunc(p.members, func(a, b member) int {
		return cmp.Or(cmp.Compare(place(a.name), place(b.name)), strings.Compare(a.name, b.name))
	})
	z, err := NewCompressor(w)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, m := range p.members {
		if err := m.write(t); err != nil {
			return err
		}
	}
	p.out.Files = len(p.members)
	return errors.Join(t.Close(), z.Close())
}

// place is where a file stands: those of the head first.
func place(name string) int {
	if i := slices.Index(head, name); i >= 0 {
		return i
	}
	return len(head)
}

func (m *member) write(t *tar.Writer) error {
	data, err := fs.ReadFile(m.from, m.file)
	if err != nil {
		return err
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: m.name, Size: int64(len(data)), Mode: 0o644, ModTime: time.Unix(0, 0)}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err = t.Write(data)
	return err
}

// bounded keeps what is written as long as that is less than a limit, and counts on.
type bounded struct {
	limit, size int64
	kept        bytes.Buffer
}

func (b *bounded) Write(data []byte) (int, error) {
	if b.size += int64(len(data)); b.size < b.limit {
		b.kept.Write(data)
	}
	return len(data), nil
}

// thinnedList is the content of thinned.json.
func thinnedList(names []string) []byte {
	list, _ := json.MarshalIndent(names, "", "  ") // strings
	return append(list, '\n')
}

// vouchFor is a ledger with an entry more, which has the digest of thinned.json. Its
// time is that of the last entry: the same campaign gives the same bytes.
func vouchFor(ledger, thinned []byte) ([]byte, error) {
	entries, good, err := parseLedger(ledgerFile, ledger)
	if err != nil {
		return nil, err
	}
	e := Entry{Seq: int64(len(entries)) + 1, Event: EventThinned, ThinnedSHA256: digest(thinned)}
	if n := len(entries); n > 0 {
		e.Time = entries[n-1].Time
	}
	line, err := json.Marshal(e)
	return slices.Concat(bytes.Clone(ledger[:good]), line, []byte("\n")), err
}
