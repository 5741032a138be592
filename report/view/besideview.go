package view

import (
	"strings"
)

// Beside is what was recorded beside the requests. It decides nothing; it says
// under which conditions the numbers arose. What no run recorded is named and
// never shown as zero.
type Beside struct {
	Quantities []Quantity `json:"quantities,omitempty"`
	// NotRecorded names what no valid run recorded.
	NotRecorded []string `json:"not_recorded,omitempty"`
	// Problems say where the GPUs could not be looked at.
	Problems []string `json:"problems,omitempty"`
}

// Quantity is one number of a phase, by arm, over the valid runs.
type Quantity struct {
	Phase string     `json:"phase,omitempty"` // empty: of the whole run
	Name  string     `json:"name"`
	Unit  string     `json:"unit,omitempty"` // empty: a count
	Arms  []Recorded `json:"arms"`
}

// Recorded sums up one quantity over the valid runs of an arm.
type Recorded struct {
	Arm   string  `json:"arm"`
	Runs  int     `json:"runs"` // that recorded it; 0: the numbers below mean nothing
	Of    int     `json:"of"`   // valid runs
	Mean  float64 `json:"mean"`
	Worst float64 `json:"worst"`
	// WorstRun is empty where all runs are equal.
	WorstRun string `json:"worst_run,omitempty"`
}

// CPUOf begins the names of the CPU times, which the text shows with their effect.
const CPUOf = "CPU of "

// allRuns is what a quantity of no single phase stands under.
const allRuns = "whole run"

// ByPhase splits the quantities, which are in the order of the phases.
func (s *Beside) ByPhase() (groups [][]Quantity) {
	if s == nil {
		return nil
	}
	for i, q := range s.Quantities {
		if i == 0 || q.Phase != s.Quantities[i-1].Phase {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], q)
	}
	return groups
}

// Where is the phase, or the whole run.
func (q *Quantity) Where() string {
	if q.Phase == "" {
		return allRuns
	}
	return q.Phase
}

// Missing says what was not recorded; empty if nothing is missing.
func (s *Beside) Missing() string {
	if s == nil || len(s.NotRecorded) == 0 {
		return ""
	}
	return "not recorded: " + strings.Join(s.NotRecorded, ", ")
}
