package post

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/post/fakegithub"
)

// One comment is made, then edited; what is already there costs no write.
func TestSticky(t *testing.T) {
	w := newWorld(t)
	out, err := w.comment(t, result(t, "fail"))
	require.NoError(t, err)
	assert.Equal(t, "created", out.Did)
	first := w.only(t)
	assert.Equal(t, first.URL, out.URL)
	assert.Contains(t, first.Body, "**FAIL**")

	out, err = w.comment(t, result(t, "fail"))
	require.NoError(t, err)
	assert.Equal(t, "unchanged", out.Did)
	assert.Equal(t, 1, w.posts("POST "))
	assert.Zero(t, w.posts("PATCH "))

	newer := result(t, "pass")
	newer.Order.Attempt = 2
	out, err = w.comment(t, newer)
	require.NoError(t, err)
	assert.Equal(t, "updated", out.Did)
	assert.Equal(t, first.ID, w.only(t).ID)
	assert.Contains(t, w.only(t).Body, "**PASS**")
	assert.Empty(t, w.longWaits())
}

// Each key has a comment of its own.
func TestKeysDoNotMix(t *testing.T) {
	w := newWorld(t)
	second := result(t, "pass")
	second.Key = "paired2"
	for _, r := range []Result{result(t, "fail"), second} {
		_, err := w.comment(t, r)
		require.NoError(t, err)
	}
	assert.Len(t, w.State().Comments, 2)
}

// An older campaign, or an older attempt, leaves a newer comment alone.
func TestOlderNeverReplacesNewer(t *testing.T) {
	for name, order := range map[string]Order{"earlier end": {noon.Add(-time.Hour), 99, 9}, "earlier attempt": {noon, 10, 0}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, err := w.comment(t, result(t, "fail"))
			require.NoError(t, err)
			older := result(t, "pass")
			older.Order = order
			out, err := w.comment(t, older)
			require.NoError(t, err)
			assert.Equal(t, "left alone: it shows a newer run", out.Did)
			assert.Contains(t, w.only(t).Body, "**FAIL**")
		})
	}
}

// The comment is found behind a hundred others, and one that only looks like it
// is left alone: another author's, another key's, one that quotes it.
func TestFoundOnTheSecondPage(t *testing.T) {
	w := newWorld(t)
	body := result(t, "fail").Comment(target)
	for i := range 98 {
		w.AddComment(7, "someone", fmt.Sprintf("comment %d", i))
	}
	foreign := w.AddComment(7, "mallory", body)
	quoting := w.AddComment(7, fakegithub.Bot, "> "+strings.ReplaceAll(body, "\n", "\n> ")+"\nwhat does that mean?")
	mine := w.AddComment(7, fakegithub.Bot, body)
	require.Len(t, w.State().Comments, 101)

	r := result(t, "pass")
	r.Order.Attempt = 2
	out, err := w.comment(t, r)
	require.NoError(t, err)
	assert.Equal(t, "updated", out.Did)
	assert.Zero(t, w.posts("POST "))
	for _, c := range w.State().Comments {
		assert.Equal(t, c.ID == mine, strings.Contains(c.Body, "**PASS**"), "comment %d", c.ID)
		assert.Equal(t, c.ID == foreign || c.ID == quoting, strings.Contains(c.Body, "**FAIL**"), "comment %d", c.ID)
	}
}

// A foreign comment with our mark, even a newer one, does not hold ours back.
func TestForeignMark(t *testing.T) {
	w := newWorld(t)
	forged := result(t, "pass")
	forged.Order.End = noon.AddDate(10, 0, 0)
	w.AddComment(7, "mallory", forged.Comment(target))
	out, err := w.comment(t, result(t, "fail"))
	require.NoError(t, err)
	assert.Equal(t, "created", out.Did)
	assert.Contains(t, w.only(t).Body, "**FAIL**")
}

// A token that belongs to a user posts as that user, and finds what it posted.
func TestAuthorOfAUserToken(t *testing.T) {
	w := newWorld(t)
	w.Logins = map[string]string{"pat": "alice"}
	for range 2 {
		_, err := w.poster(t, "pat").Comment(t.Context(), target, result(t, "fail"))
		require.NoError(t, err)
	}
	require.Len(t, w.State().Comments, 1)
	assert.Equal(t, "alice", w.State().Comments[0].User.Login)
}

// An author that is named wrongly mends itself: the server says who posted.
func TestWrongAuthorMendsItself(t *testing.T) {
	w := newWorld(t)
	_, err := w.comment(t, result(t, "fail"))
	require.NoError(t, err)
	first := w.only(t).ID
	g := w.poster(t, "bot")
	g.Author = "my-app[bot]"
	newer := result(t, "pass")
	newer.Order.Attempt = 2
	_, err = g.Comment(t.Context(), target, newer)
	require.NoError(t, err)
	assert.Equal(t, first, w.only(t).ID)
	assert.Contains(t, w.only(t).Body, "**PASS**")
}

// A number from an artifact may be another pull request's, and a push may have
// made the result an old one: then nothing is posted.
func TestHeadMustMatch(t *testing.T) {
	w := newWorld(t)
	w.Pulls[8] = other
	g := w.poster(t, "bot")
	_, err := g.Comment(t.Context(), Target{"o", "r", 8, head}, result(t, "fail"))
	require.ErrorIs(t, err, ErrHead)
	assert.ErrorContains(t, err, "comment on o/r#8: 111111111111 was measured, the head is 222222222222")
	_, err = g.Comment(t.Context(), Target{"o", "r", 9, head}, result(t, "fail"))
	require.ErrorContains(t, err, "404 Not Found: check repository, number and commit")
	assert.Empty(t, w.State().Comments)
}

// Two posters of one result race; each sees the world as it was before the other.
func TestTwoPostersOfANewComment(t *testing.T) {
	for _, secondIsNewer := range []bool{true, false} {
		t.Run(fmt.Sprint(secondIsNewer), func(t *testing.T) {
			w := newWorld(t)
			a, b := result(t, "fail"), result(t, "pass")
			b.Order.Attempt = 2
			if !secondIsNewer {
				a, b = b, a
			}
			// The second poster does all its work after the first has looked for a
			// comment and before it makes one.
			var begun atomic.Bool
			w.Between = func(r *http.Request) {
				if r.Method == http.MethodPost && begun.CompareAndSwap(false, true) {
					_, err := w.comment(t, b)
					assert.NoError(t, err)
				}
			}
			_, err := w.comment(t, a)
			require.NoError(t, err)
			assert.Equal(t, 2, w.posts("POST "), "both made one")
			assert.Equal(t, int64(1), w.only(t).ID, "the lowest id stays")
			assert.Contains(t, w.only(t).Body, "**PASS**", "the newer result stays")
		})
	}
}

// Eight posters at once, whatever the order: one comment, the newest content.
func TestManyPosters(t *testing.T) {
	w := newWorld(t)
	var group sync.WaitGroup
	for i := range 8 {
		r := result(t, "fail")
		if r.Order.Attempt = i; i == 7 {
			r.View = saved(t, "pass")
		}
		group.Go(func() {
			_, err := w.comment(t, r)
			assert.NoError(t, err)
		})
	}
	group.Wait()
	// The last word of a race is a list; a poster that comes later mends the rest.
	last := result(t, "pass")
	last.Order.Attempt = 7
	_, err := w.comment(t, last)
	require.NoError(t, err)
	assert.Contains(t, w.only(t).Body, "**PASS**")
}

// A comment that is deleted between the look and the edit is made again.
func TestDeletedMeanwhile(t *testing.T) {
	w := newWorld(t)
	_, err := w.comment(t, result(t, "fail"))
	require.NoError(t, err)
	w.Inject(fakegithub.Fault{On: "^PATCH", Times: 1, Status: 404, Body: `{"message":"Not Found"}`})
	newer := result(t, "pass")
	newer.Order.Attempt = 2
	_, err = w.comment(t, newer)
	require.NoError(t, err)
	assert.Contains(t, w.only(t).Body, "**PASS**")
}

// Something that undoes every edit is given up on, and not fought for ever.
func TestNeverStays(t *testing.T) {
	w := newWorld(t)
	w.Inject(fakegithub.Fault{On: "^PATCH", Status: 200, Body: `{"id":1}`})
	_, err := w.comment(t, result(t, "fail"))
	require.NoError(t, err)
	newer := result(t, "pass")
	newer.Order.Attempt = 2
	_, err = w.comment(t, newer)
	require.ErrorContains(t, err, "it does not stay as posted")
	assert.Equal(t, rounds, w.posts("PATCH "))
}
