package advisor

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// expr is one CEL expression of a rule. It is compiled when it is first needed: most expressions of most rules never are.
type expr struct {
	text   text
	offset int // of the expression in text, in runes: an expression inside a template
	body   string
	want   want
	key    envKey
	envs   *envs

	once sync.Once
	compiled
	problems Problems
}

// element finds the variables that differ from one element of a list to the next.
var element = regexp.MustCompile(`\b(it|x)\b`)

// newExpr makes an expression. One that does not name the element is compiled without it: it has one value for the whole
// host, however many elements and rules ask for it.
func newExpr(t text, w want, key envKey, envs *envs) *expr {
	if !element.MatchString(t.s) {
		key = envKey{}
	}
	return &expr{text: t, body: t.s, want: w, key: key, envs: envs}
}

// want is the set of result types that fit a place.
type want struct {
	name string
	ok   func(*cel.Type) bool
}

func wantBool() want   { return exactly("bool", cel.BoolType) }
func wantString() want { return exactly("string", cel.StringType) }
func wantNumber() want { return exactly("a number", cel.DoubleType, cel.IntType) }
func wantInt() want    { return exactly("int", cel.IntType) }

// wantText is what a template can print.
func wantText() want {
	return exactly("string, number, bool or a list of these", cel.StringType, cel.IntType, cel.UintType, cel.DoubleType, cel.BoolType,
		cel.ListType(cel.StringType), cel.ListType(cel.IntType), cel.ListType(cel.DoubleType))
}

func exactly(name string, ok ...*cel.Type) want {
	return want{name, func(t *cel.Type) bool {
		for _, w := range ok {
			if t.IsExactType(w) {
				return true
			}
		}
		return false
	}}
}

// compile parses, checks and plans the expression once.
func (e *expr) compile() Problems {
	e.once.Do(func() {
		key := progKey{e.key, e.want.name, e.body}
		if c, ok := e.envs.progs.Load(key); ok {
			e.compiled = c.(compiled)
			return
		}
		if e.problems = e.compileNow(); len(e.problems) > 0 {
			return
		}
		e.id = -1
		if e.key == (envKey{}) {
			e.id = int(e.envs.lastID.Add(1)) - 1
		}
		e.envs.progs.Store(key, e.compiled)
	})
	return e.problems
}

func (e *expr) compileNow() Problems {
	env, err := e.envs.get(e.key)
	if err != nil {
		return Problems{e.text.problem(e.offset, "%v", err)}
	}
	checked, issues := env.Compile(e.body)
	if issues.Err() != nil {
		return e.issues(env, issues)
	}
	e.out = checked.OutputType()
	if !e.want.ok(e.out) {
		return Problems{e.text.problem(e.offset, "want %s, have %s", e.want.name, e.out)}
	}
	if p := e.integerDivision(checked); p != nil {
		return Problems{*p}
	}
	opts := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize)}
	limit := uint64(maxCost)
	if e.key.each != "" {
		limit = maxEachCost
	}
	est, err := env.EstimateCost(checked, sizes{})
	switch {
	case err != nil:
		return Problems{e.text.problem(e.offset, "estimate cost: %v", err)}
	case est.Max > limit:
		return Problems{e.text.problem(e.offset, "could cost %d steps on large facts, more than the %d that are accepted", est.Max, limit)}
	case est.Max > cheapCost:
		opts = append(opts, cel.CostLimit(runtimeCost))
	}
	if e.prog, err = env.Program(checked, opts...); err != nil {
		return Problems{e.text.problem(e.offset, "%v", err)}
	}
	return nil
}

// integerDivision refuses int / int: it truncates, and a ratio is a fact to be computed in Go.
func (e *expr) integerDivision(checked *cel.Ast) *Problem {
	var found *Problem
	rep := checked.NativeRep()
	ast.PostOrderVisit(rep.Expr(), ast.NewExprVisitor(func(x ast.Expr) {
		if x.Kind() == ast.CallKind && x.AsCall().FunctionName() == "_/_" && rep.GetType(x.ID()).IsExactType(cel.IntType) {
			at := rep.SourceInfo().GetStartLocation(x.ID())
			p := e.text.problem(e.offset+e.runeOffset(at.Line(), at.Column()), "int / int truncates; use a fact that holds the ratio")
			found = &p
		}
	}))
	return found
}

// issues turns CEL's errors into problems at their place in the file, with hints.
func (e *expr) issues(env *cel.Env, issues *cel.Issues) Problems {
	var out Problems
	for _, i := range issues.Errors() {
		at := e.runeOffset(i.Location.Line(), i.Location.Column())
		out = append(out, e.text.problem(e.offset+at, "%s%s", celRemark.ReplaceAllString(firstLine(i.Message), ""), e.hint(i.Message, i.ExprID, env)))
	}
	return out
}

// runeOffset converts CEL's line (from 1) and column (from 0, in runes) to an offset in the body.
func (e *expr) runeOffset(line, col int) int {
	lines := strings.SplitAfter(e.body, "\n")
	offset := 0
	for i := 0; i < min(line-1, len(lines)); i++ {
		offset += len([]rune(lines[i]))
	}
	return offset + max(col, 0)
}

// celRemark is what CEL adds to an undeclared reference; the hint knows the facts and says more.
var celRemark = regexp.MustCompile(` \((in container|did you mean)[^)]*\)`)

var undefinedName = regexp.MustCompile(`undefined field '([^']*)'|undeclared reference to '([^']*)'`)

// hint names the facts that are spelled like the unknown one.
func (e *expr) hint(message string, id int64, env *cel.Env) string {
	m := undefinedName.FindStringSubmatch(message)
	switch {
	case m == nil:
		return ""
	case m[1] != "":
		return didYouMean(m[1], e.fieldsNear(id, env))
	case m[2] == "has":
		return "; has() is not needed: a rule is unknown by itself where a fact is missing"
	case m[2] == "it" && e.key.each == "":
		return "; `it` needs `each`"
	}
	return didYouMean(m[2], append(e.envs.schema.names(), "it", "goal", "pct", "us", "gbps", "list", "sum"))
}

// fieldsNear lists the fields of the variable whose field was selected by expression id; all fields when it is not a variable.
func (e *expr) fieldsNear(id int64, env *cel.Env) []string {
	s := e.envs.schema
	if parsed, issues := env.Parse(e.body); issues.Err() == nil {
		name := ""
		ast.PostOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(x ast.Expr) {
			if x.ID() == id && x.Kind() == ast.SelectKind && x.AsSelect().Operand().Kind() == ast.IdentKind {
				name = x.AsSelect().Operand().AsIdent()
			}
		}))
		if name == "it" {
			name = e.key.each
		}
		if g := s.byName[name]; g != nil {
			return g.typ.fieldNames()
		}
	}
	var all []string
	for _, t := range s.structs {
		all = append(all, t.fieldNames()...)
	}
	return all
}

// eval returns the value: a result, CEL's unknown, or an error.
func (e *expr) eval(vars *vars) (ref.Val, error) {
	if ps := e.compile(); len(ps) > 0 {
		return nil, ps.err()
	}
	memo := vars.facts.memo
	if e.id >= 0 && e.id < len(memo) {
		if v := memo[e.id].Load(); v != nil {
			return *v, nil
		}
	}
	v, _, err := e.prog.Eval(vars)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.where(), err)
	}
	if e.id >= 0 && e.id < len(memo) {
		memo[e.id].Store(&v)
	}
	return v, nil
}

// where is the expression's position, for messages.
func (e *expr) where() string {
	line, col := e.text.position(e.offset)
	return fmt.Sprintf("%s:%d:%d", e.text.src.name, line, col)
}

// truth evaluates a condition. Neither yes nor no: missing says why.
func (e *expr) truth(vars *vars) (yes bool, missing ref.Val, err error) {
	v, err := e.eval(vars)
	if err != nil {
		return false, nil, err
	}
	if b, ok := v.(types.Bool); ok {
		return bool(b), nil, nil
	}
	return false, v, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// sizes bounds facts for the estimate of an expression's cost.
type sizes struct{}

// EstimateSize implements cost.Estimator.
func (sizes) EstimateSize(n cost.AstNode) *cost.SizeEstimate {
	switch n.Type().Kind() {
	case types.ListKind:
		return &cost.SizeEstimate{Min: 0, Max: maxFactItems}
	case types.StringKind:
		return &cost.SizeEstimate{Min: 0, Max: maxFactLetters}
	}
	return nil
}

// EstimateCallCost implements cost.Estimator.
func (sizes) EstimateCallCost(string, string, *cost.AstNode, []cost.AstNode) *cost.CallEstimate {
	return nil
}
