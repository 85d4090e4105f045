package advisor

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/corewise/corewise/advisor/facts"
)

// maxRules bounds the files of one rules directory.
const maxRules = 2000

var ruleID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// RuleSet is all rules, by id. It is safe for concurrent use.
type RuleSet struct {
	schema *schema
	envs   *envs
	rules  []*Rule // sorted by id
	byID   map[string]*Rule
}

// LoadRules reads the rules over facts.Facts: the built-in ones, then any directories of the user, whose rules add to or
// replace them. The built-in rules are trusted to be checked (go test ./rules): their expressions are compiled on first
// use. Those of a user are compiled at once. The error is a Problems of all faults of all files.
func LoadRules(builtin fs.FS, user ...fs.FS) (*RuleSet, error) {
	s, err := factsSchema()
	if err != nil {
		return nil, err
	}
	rs, err := loadRules(s, append([]fs.FS{builtin}, user...)...)
	if err != nil || len(user) == 0 {
		return rs, err
	}
	return rs, rs.Check()
}

// factsSchema is the vocabulary of facts.Facts.
func factsSchema() (*schema, error) {
	s, err := newSchema(reflect.TypeFor[facts.Facts]())
	if err != nil {
		return nil, fmt.Errorf("read the vocabulary of facts: %w", err)
	}
	return s, nil
}

// loadRules reads every *.yaml file of the directories; a later directory replaces rules of an earlier one. The structure
// of all files is checked, and every problem is told at once. Expressions are compiled on first use, and the tests of a
// rule are read when they are to be run: see Check. A start of the program pays neither.
func loadRules(s *schema, dirs ...fs.FS) (*RuleSet, error) {
	rs := &RuleSet{schema: s, envs: newEnvs(s), byID: map[string]*Rule{}}
	var problems Problems
	for _, dir := range dirs {
		ps, err := rs.loadDir(dir)
		if err != nil {
			return nil, err
		}
		problems = append(problems, ps...)
	}
	for _, id := range sortedKeys(rs.byID) {
		rs.rules = append(rs.rules, rs.byID[id])
	}
	if err := problems.err(); err != nil {
		return nil, err
	}
	return rs, nil
}

func (rs *RuleSet) loadDir(dir fs.FS) (Problems, error) {
	files, err := fs.Glob(dir, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list rules: %w", err)
	}
	if len(files) > maxRules {
		return nil, fmt.Errorf("list rules: %d files, more than the %d that are accepted", len(files), maxRules)
	}
	loaded := make([]*Rule, len(files))
	faults := make([]Problems, len(files))
	parallel(len(files), func(i int) { loaded[i], faults[i] = rs.loadFile(dir, files[i]) })
	for _, r := range loaded {
		if r != nil {
			rs.byID[r.ID] = r
		}
	}
	return slices.Concat(faults...), nil
}

// parallel calls do(0..n-1) on all CPUs that the program may use.
func parallel(n int, do func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}

func (rs *RuleSet) loadFile(dir fs.FS, file string) (*Rule, Problems) {
	id := strings.TrimSuffix(path.Base(file), ".yaml")
	if !ruleID.MatchString(id) {
		return nil, Problems{{file, 1, 1, "the file's name is the rule's id: want lower-case words joined by -"}}
	}
	data, p := readLimited(dir, file)
	if p != nil {
		return nil, Problems{*p}
	}
	r, ps := rs.parseRule(id, file, beforeTests(data))
	if r != nil {
		r.complete = sync.OnceValues(func() (*Rule, Problems) { return rs.parseRule(id, file, data) })
	}
	return r, ps
}

func (rs *RuleSet) parseRule(id, file string, data []byte) (*Rule, Problems) {
	src, p := parseSource(file, data)
	if p != nil {
		return nil, Problems{*p}
	}
	return compileRule(id, rs.schema, rs.envs, src)
}

// beforeTests cuts a rule file before its tests, which are most of its text. A line that begins with "tests:" is always
// the key of that name, since everything inside another key is indented. Tests that are not last are not cut.
func beforeTests(data []byte) []byte {
	at := bytes.Index(data, []byte("\ntests:"))
	if at < 0 {
		return data
	}
	for line := range bytes.Lines(data[at+len("\ntests:"):]) {
		if c := line[0]; c >= 'a' && c <= 'z' && at > 0 && bytes.Contains(line, []byte(":")) {
			return data
		}
	}
	return data[:at+1]
}

// readLimited reads a file, refusing one that is too large before reading it.
func readLimited(dir fs.FS, file string) ([]byte, *Problem) {
	info, err := fs.Stat(dir, file)
	if err != nil {
		return nil, &Problem{file, 1, 1, err.Error()}
	}
	if !info.Mode().IsRegular() || info.Size() > maxFileBytes {
		return nil, &Problem{file, 1, 1, fmt.Sprintf("not a regular file of at most %d bytes", maxFileBytes)}
	}
	data, err := fs.ReadFile(dir, file)
	if err != nil {
		return nil, &Problem{file, 1, 1, err.Error()}
	}
	return data, nil
}

// Check compiles every expression of every rule and follows their references; the error is a Problems of all faults.
func (rs *RuleSet) Check() error {
	var problems Problems
	for _, part := range rs.rules {
		r, ps := part.complete()
		problems = append(problems, ps...)
		if r == nil {
			continue
		}
		for _, e := range r.exprs() {
			problems = append(problems, e.compile()...)
		}
		problems = append(problems, rs.references(r)...)
	}
	return problems.err()
}

// references checks depends_on: known rules, no cycle.
func (rs *RuleSet) references(r *Rule) Problems {
	var problems Problems
	for _, d := range r.spec.DependsOn {
		if rs.byID[d.s] == nil {
			problems = append(problems, d.problem(0, "depends_on: no rule is named %q%s", d.s, didYouMean(d.s, sortedKeys(rs.byID))))
		} else if rs.reaches(d.s, r.ID, map[string]bool{}) {
			problems = append(problems, d.problem(0, "depends_on: %s depends on %s in turn", d.s, r.ID))
		}
	}
	return problems
}

// reaches reports whether from leads to id through depends_on.
func (rs *RuleSet) reaches(from, id string, seen map[string]bool) bool {
	if from == id {
		return true
	}
	if seen[from] || rs.byID[from] == nil {
		return false
	}
	seen[from] = true
	return slices.ContainsFunc(rs.byID[from].DependsOn, func(next string) bool { return rs.reaches(next, id, seen) })
}

// List returns the rules in order of their ids.
func (rs *RuleSet) List() []*Rule { return slices.Clone(rs.rules) }

// Rule returns a rule by id; an error for an unknown one names those that are spelled like it.
func (rs *RuleSet) Rule(id string) (*Rule, error) {
	if r := rs.byID[id]; r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("no rule is named %q%s", id, didYouMean(id, sortedKeys(rs.byID)))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func valueOf[T any](p *T) reflect.Value { return reflect.ValueOf(p).Elem() }
