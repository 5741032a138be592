package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// manyArms are good's, with as many more as wanted.
var manyArms = map[int]string{
	2: "  off: {}",
	3: "  off: {}\n  off2: {same_as: off}",
	4: "  off: {}\n  off2: {same_as: off}\n  off3: {same_as: off2}",
}

// Which blocks and looks go with how many arms; "" is accepted.
func TestBlocksAndLooksOfManyArms(t *testing.T) {
	const three, four = "design.blocks: 3 arms run in the 6 orders of a Williams design, and only whole sets of them balance every pair: possible are 6, 12, 18 and so on, got ",
		"design.blocks: 4 arms run in the 4 orders of a Williams design, and only whole sets of them balance every pair: possible are 8, 12, 16 and so on, got "
	for _, c := range []struct {
		arms         int
		design, want string
	}{
		{2, "blocks: 20, looks: [10, 20]", ""},
		{2, "blocks: 20, looks: [10, 15, 20]", ""},
		{2, "looks: [6, 10, 14, 20]", ""},
		{2, "blocks: 20, looks: [20, 10]", "design.looks: the last look must come after the last block: design.blocks is 20"},
		{2, "looks: [5, 10]", "design.looks: the error rate of these looks is not known; accepted are one look, or [6, 10], [6, 12], [8, 16], [10, 20], [10, 15, 20], [6, 10, 14, 20] or [8, 12, 16, 20]"},
		{3, "blocks: 6", ""},
		{3, "blocks: 18", ""},
		{3, "blocks: 10", three + "10"},
		{3, "blocks: 9", three + "9"},
		{3, "looks: [6, 12]", ""},
		{3, "looks: [10, 20]", three + "20\ndesign.looks: the orders of 3 arms do not balance at each of these looks; accepted are one look, or [6, 12]"},
		{3, "blocks: 12, looks: [8, 12]", "design.looks: the error rate of these looks is not known; accepted are one look, or [6, 12]"},
		{4, "blocks: 8", ""},
		{4, "blocks: 12", ""},
		{4, "blocks: 4", four + "4"},
		{4, "blocks: 6", four + "6"},
		{4, "looks: [8, 12, 16, 20]", ""},
		{4, "looks: [8, 16]", ""},
		{4, "looks: [6, 12]", "design.looks: the orders of 4 arms do not balance at each of these looks; accepted are one look, or [8, 16] or [8, 12, 16, 20]"},
	} {
		text := replace(t, replace(t, good, manyArms[2], manyArms[c.arms]), "blocks: 6", c.design)
		s, err := Load("s", []byte(text), known)
		if c.want == "" {
			require.NoError(t, err, "%d arms, %s", c.arms, c.design)
			assert.Equal(t, s.Design.Looks[len(s.Design.Looks)-1], s.Design.Blocks, "blocks are those of the last look")
			continue
		}
		var problems Errors
		require.ErrorAs(t, err, &problems, "%d arms, %s", c.arms, c.design)
		got := ""
		for i, p := range problems {
			if i > 0 {
				got += "\n"
			}
			got += p.Path + ": " + p.Message
		}
		assert.Equal(t, c.want, got, "%d arms, %s", c.arms, c.design)
	}
}

func TestDefaultBlocks(t *testing.T) {
	for arms, want := range map[int]int{2: 10, 3: 12, 4: 12} {
		text := replace(t, replace(t, good, manyArms[2], manyArms[arms]), "blocks: 6, ", "")
		s, err := Load("s", []byte(text), known)
		require.NoError(t, err)
		assert.Equal(t, want, s.Design.Blocks, "%d arms", arms)
		assert.Zero(t, s.Design.Blocks%s.Rows(), "%d arms", arms)
	}
}

// A correctness campaign has no effects: any number of blocks, no looks.
func TestCorrectnessOfManyArms(t *testing.T) {
	text := replace(t, replace(t, good, manyArms[2], manyArms[3]), "purpose: overhead", "purpose: correctness")
	text = replace(t, replace(t, text, "primary: [tpot_p50]", "primary: []"), "blocks: 6", "blocks: 1")
	s, err := Load("s", []byte(text), known)
	require.NoError(t, err)
	assert.Equal(t, 1, s.Design.Blocks)
	_, err = Load("s", []byte(replace(t, text, "blocks: 1", "looks: [6, 12], blocks: 12")), known)
	assert.ErrorContains(t, err, "design.looks: a correctness scenario has no effects to look at")
}

// Any pair may be compared; arms that go back to the same one repeat each other.
func TestRepeats(t *testing.T) {
	text := replace(t, good, manyArms[2], manyArms[4])
	text = replace(t, text, "gate: {margin: 3%}", "compare: [{baseline: off2, candidate: on}, {baseline: off, candidate: on}, {baseline: off2, candidate: off3}]")
	s, err := Load("s", []byte(replace(t, text, "blocks: 6", "blocks: 8")), known)
	require.NoError(t, err)
	arm := func(name string) Arm { a, _ := s.Arm(name); return a }
	assert.True(t, s.Repeats(arm("off"), arm("off3")))
	assert.True(t, s.Repeats(arm("off3"), arm("off2")))
	assert.False(t, s.Repeats(arm("off"), arm("on")))

	circle := &Scenario{Arms: []Arm{{Name: "a", SameAs: "b"}, {Name: "b", SameAs: "a"}}}
	assert.True(t, circle.Repeats(circle.Arms[0], circle.Arms[1]), "a circle ends")
}
