package advisor

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/ext"
)

// Limits of one expression. One that could cost more than maxCost steps on a host with lists of maxFactItems is refused
// when it is loaded (maxEachCost where it is evaluated for each element of a list); one that could cost more than
// cheapCost is also stopped while it runs, after runtimeCost steps. A step takes some ten nanoseconds.
const (
	maxExprBytes   = 4000
	maxExprDepth   = 60
	maxExprNodes   = 600
	maxNesting     = 2
	maxCost        = 100_000_000
	maxEachCost    = 4_000_000
	cheapCost      = 2_000_000
	runtimeCost    = 20_000_000
	maxFactItems   = 1024
	maxFactLetters = 256
)

// envs makes the CEL environment for each list that `it` may be bound to. Making one takes about a millisecond.
type envs struct {
	schema *schema
	base   func() (*cel.Env, error)
	mu     sync.Mutex
	known  map[envKey]*cel.Env
	// progs shares programs between rules: guards such as host.kind == 'vm' stand in many.
	progs  sync.Map // progKey -> compiled
	lastID atomic.Int64
}

type progKey struct {
	envKey
	want, body string
}

// compiled is a program and the type of its result. id is its place in a host's memo; -1 where the result depends on the
// element of a list.
type compiled struct {
	prog cel.Program
	out  *cel.Type
	id   int
}

// envKey is a list's name ("": no `it`), and the type of the variable x of an action's `for` ("": none).
type envKey struct {
	each string
	x    string
}

func newEnvs(s *schema) *envs {
	return &envs{schema: s, base: sync.OnceValues(func() (*cel.Env, error) { return baseEnv(s) }), known: map[envKey]*cel.Env{}}
}

// get returns the environment in which expressions see all groups and lists, and `it` and x where bound.
func (e *envs) get(k envKey) (*cel.Env, error) {
	base, err := e.base()
	if err != nil || k == (envKey{}) {
		return base, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if env := e.known[k]; env != nil {
		return env, nil
	}
	var opts []cel.EnvOption
	if g := e.schema.byName[k.each]; g != nil {
		opts = append(opts, cel.Variable("it", g.typ.celType))
	}
	switch k.x {
	case "int":
		opts = append(opts, cel.Variable("x", cel.IntType))
	case "string":
		opts = append(opts, cel.Variable("x", cel.StringType))
	}
	env, err := base.Extend(opts...)
	if err != nil {
		return nil, fmt.Errorf("extend environment for %s: %w", k.each, err)
	}
	e.known[k] = env
	return env, nil
}

func baseEnv(s *schema) (*cel.Env, error) {
	reg, err := types.NewRegistry()
	if err != nil {
		return nil, fmt.Errorf("make type registry: %w", err)
	}
	p := &provider{Provider: reg, Adapter: reg, schema: s}
	opts := []cel.EnvOption{
		cel.CustomTypeProvider(p), cel.CustomTypeAdapter(p),
		cel.CrossTypeNumericComparisons(true),
		ext.Strings(), ext.Lists(), ext.Sets(),
		cel.ParserExpressionSizeLimit(maxExprBytes), cel.ParserRecursionLimit(maxExprDepth), cel.ParserErrorRecoveryLimit(5),
		cel.ExpressionNodeLimit(maxExprNodes), cel.ExpressionNestingDepthLimit(maxExprDepth),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateHomogeneousAggregateLiterals(), cel.ValidateComprehensionNestingLimit(maxNesting)),
		cel.ClearMacros(), cel.Macros(macros()...),
		cel.Variable("goal", cel.StringType),
	}
	opts = append(opts, textFunctions()...)
	for _, g := range s.groups {
		opts = append(opts, cel.Variable(g.name, g.typ.celType))
	}
	for _, g := range s.lists {
		opts = append(opts, cel.Variable(g.name, cel.ListType(g.typ.celType)))
	}
	env, err := cel.NewEnv(opts...)
	if err != nil {
		return nil, fmt.Errorf("make CEL environment: %w", err)
	}
	return env, nil
}

// macros is the standard set without has(): every fact is set, a missing one makes the rule unknown by itself.
func macros() []cel.Macro {
	return slices.DeleteFunc(slices.Clone(cel.StandardMacros), func(m cel.Macro) bool { return m.Function() == "has" })
}

// textFunctions are the functions that texts use for numbers and lists.
func textFunctions() []cel.EnvOption {
	return []cel.EnvOption{
		sumFunction(), numberText("pct", pctText), numberText("us", usText), numberText("gbps", gbpsText),
		cel.Function("list",
			cel.Overload("list_int", []*cel.Type{cel.ListType(cel.IntType)}, cel.StringType, cel.UnaryBinding(listText)),
			cel.Overload("list_string", []*cel.Type{cel.ListType(cel.StringType)}, cel.StringType, cel.UnaryBinding(listText))),
	}
}

// sumFunction declares sum(list of double or int): the shares of several causes together.
func sumFunction() cel.EnvOption {
	return cel.Function("sum",
		cel.Overload("sum_double", []*cel.Type{cel.ListType(cel.DoubleType)}, cel.DoubleType, cel.UnaryBinding(sumDoubles)),
		cel.Overload("sum_int", []*cel.Type{cel.ListType(cel.IntType)}, cel.IntType, cel.UnaryBinding(sumInts)))
}

// numberText declares name(double) and name(int), both giving a string.
func numberText(name string, write func(float64) string) cel.EnvOption {
	bind := cel.UnaryBinding(func(v ref.Val) ref.Val {
		switch n := v.(type) {
		case types.Double:
			return types.String(write(float64(n)))
		case types.Int:
			return types.String(write(float64(n)))
		}
		return types.MaybeNoSuchOverloadErr(v)
	})
	return cel.Function(name,
		cel.Overload(name+"_double", []*cel.Type{cel.DoubleType}, cel.StringType, bind),
		cel.Overload(name+"_int", []*cel.Type{cel.IntType}, cel.StringType, bind))
}

// reserved are names that a fact group may not have.
func reserved() []string {
	return strings.Fields("it x goal pct us gbps list sum")
}
