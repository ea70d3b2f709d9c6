package textmatch

import "regexp/syntax"

// maxStepsWork bounds the comparisons of characters with which stepsOf looks at one program.
const maxStepsWork = 200_000

// stepsOf returns how many instructions of a program a search tries at most at one position of a
// text. A search begins at every position, and tries each instruction once at each. What it tries
// at one position are the instructions that it can reach with the same text, so these are far fewer
// than all, for instance one or two of a literal. For a program whose instructions take too long
// to compare it returns the number of all.
func stepsOf(program *syntax.Prog) int {
	s := &reachability{program: program, ready: map[uint32][]uint32{}, together: map[uint32]map[uint32]bool{}}
	s.add(uint32(program.Start), uint32(program.Start))
	for len(s.pairs) > 0 {
		pair := s.pairs[len(s.pairs)-1]
		s.pairs = s.pairs[:len(s.pairs)-1]
		if s.follow(pair[0], pair[1]); s.work > maxStepsWork {
			return len(program.Inst)
		}
	}
	return s.most()
}

// reachability finds the instructions that the same text reaches.
type reachability struct {
	program *syntax.Prog
	// ready has what each instruction reaches without a character, itself among it.
	ready map[uint32][]uint32
	// together has the instructions that a search can reach at the same position by a character, or
	// because it begins there. Each is together with itself.
	together map[uint32]map[uint32]bool
	pairs    [][2]uint32 // whose next character is not looked at yet
	work     int
}

// most returns how many instructions a search tries at most at one position. Instructions tried at one
// position are pairwise together. So remove, again and again, the instruction that is together with the
// fewest: the largest set seen is an upper bound.
func (s *reachability) most() (most int) {
	start := uint32(s.program.Start)
	most = len(s.reach(start))
	delete(s.together, start) // it is together with all, but they are not with each other
	for len(s.together) > 0 {
		var first uint32
		fewest := len(s.program.Inst) + 1
		for i, others := range s.together {
			if len(others) < fewest {
				first, fewest = i, len(others)
			}
		}
		tried := map[uint32]bool{}
		for other := range s.together[first] {
			for _, i := range s.reach(other) {
				tried[i] = true
			}
			if other != start {
				delete(s.together[other], first)
			}
		}
		delete(s.together, first)
		most = max(most, len(tried))
	}
	return most
}

// add notes that two instructions can be reached at the same position.
func (s *reachability) add(a, b uint32) {
	if s.together[a][b] {
		return
	}
	for _, pair := range [][2]uint32{{a, b}, {b, a}} {
		if s.together[pair[0]] == nil {
			s.together[pair[0]] = map[uint32]bool{}
		}
		s.together[pair[0]][pair[1]] = true
	}
	s.pairs = append(s.pairs, [2]uint32{a, b})
}

// follow adds what a pair of instructions reaches with one character. At the next position the
// search also begins again.
func (s *reachability) follow(a, b uint32) {
	for _, i := range s.reach(a) {
		for _, j := range s.reach(b) {
			p, q := &s.program.Inst[i], &s.program.Inst[j]
			if s.work += 1 + len(p.Rune) + len(q.Rune); s.work > maxStepsWork {
				return
			}
			if overlap(p, q) {
				s.add(p.Out, q.Out)
				s.add(p.Out, uint32(s.program.Start))
			}
		}
	}
}

// reach returns what an instruction reaches without a character, as if every condition on the
// position, such as \b, were true.
func (s *reachability) reach(from uint32) []uint32 {
	if found, ok := s.ready[from]; ok {
		return found
	}
	seen, found := map[uint32]bool{}, []uint32(nil)
	for open := []uint32{from}; len(open) > 0; {
		i := open[len(open)-1]
		if open = open[:len(open)-1]; seen[i] {
			continue
		}
		seen[i], found = true, append(found, i)
		switch in := &s.program.Inst[i]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			open = append(open, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
			open = append(open, in.Out)
		}
	}
	s.work += len(found)
	s.ready[from] = found
	return found
}

// overlap reports whether one character may match both instructions.
func overlap(p, q *syntax.Inst) bool {
	a, isAnyA := characters(p)
	b, isAnyB := characters(q)
	if isAnyA || isAnyB {
		return (isAnyA || len(a) > 0) && (isAnyB || len(b) > 0)
	}
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[1] < b[0]:
			a = a[2:]
		case b[1] < a[0]:
			b = b[2:]
		default:
			return true
		}
	}
	return false
}

// characters returns the ranges of the characters that an instruction matches, or that it may match
// any. An instruction that matches no character has none.
func characters(in *syntax.Inst) (ranges []rune, isAny bool) {
	switch in.Op {
	case syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return nil, true
	case syntax.InstRune, syntax.InstRune1:
		if len(in.Rune) != 1 {
			return in.Rune, false
		}
		return []rune{in.Rune[0], in.Rune[0]}, syntax.Flags(in.Arg)&syntax.FoldCase != 0
	}
	return nil, false
}
