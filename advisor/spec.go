package advisor

import (
	"reflect"

	"go.yaml.in/yaml/v3"
)

// spec is a rule file as written. Every text is an expression, a template, or plain: see compileRule.
type spec struct {
	Title      text           `yaml:"title"`
	Domain     text           `yaml:"domain"`
	Tier       int            `yaml:"tier"`
	Goals      []text         `yaml:"goals"`
	Each       text           `yaml:"each"`
	Subject    text           `yaml:"subject"`
	Unless     []text         `yaml:"unless"`
	When       text           `yaml:"when"`
	Severity   severitySpec   `yaml:"severity"`
	Structural text           `yaml:"structural"` // true, or a condition
	Stage      text           `yaml:"stage"`
	Evidence   []evidenceSpec `yaml:"evidence"`
	Explains   text           `yaml:"explains"`
	Finding    text           `yaml:"finding"`
	Effect     text           `yaml:"effect"`
	Remedy     remedySpec     `yaml:"remedy"`
	DependsOn  []text         `yaml:"depends_on"`
	Sources    []string       `yaml:"sources"`
	Doc        string         `yaml:"doc"`
	Tests      []testSpec     `yaml:"tests"`
}

// severitySpec is one severity, or a list of conditions, first match.
type severitySpec struct {
	list  bool
	items []severityItem
	node  *yaml.Node
}

type severityItem struct {
	When text `yaml:"when"`
	Is   text `yaml:"is"`
}

// decode implements decodable.
func (s *severitySpec) decode(d *decoder, n *yaml.Node) {
	s.node = n
	if n.Kind == yaml.ScalarNode {
		s.items = []severityItem{{Is: text{n.Value, n, d.src}}}
		return
	}
	s.list = true
	d.value(n, reflect.ValueOf(&s.items).Elem())
}

type evidenceSpec struct {
	When       text `yaml:"when"`
	Text       text `yaml:"text"`
	Supports   bool `yaml:"supports"`
	Measured   bool `yaml:"measured"`
	Correlated bool `yaml:"correlated"`
}

type remedySpec struct {
	Actions []actionSpec `yaml:"actions"`
	Run     text         `yaml:"run"`
	Persist text         `yaml:"persist"`
	Undo    text         `yaml:"undo"`
	Verify  text         `yaml:"verify"`
	Reboot  text         `yaml:"reboot"`
	Risk    text         `yaml:"risk"`
	Choice  text         `yaml:"choice"`
}

// actionSpec is a typed action: kind is plain, all else is CEL. For makes one action for each element of a list, bound
// as x.
type actionSpec struct {
	Kind      text   `yaml:"kind"`
	When      text   `yaml:"when"`
	For       text   `yaml:"for"`
	IRQ       text   `yaml:"irq"`
	CPUs      text   `yaml:"cpus"`
	Path      text   `yaml:"path"`
	Key       text   `yaml:"key"`
	Value     text   `yaml:"value"`
	Iface     text   `yaml:"iface"`
	Group     text   `yaml:"group"`
	Name      text   `yaml:"name"`
	Node      text   `yaml:"node"`
	SizeBytes text   `yaml:"size_bytes"`
	Count     text   `yaml:"count"`
	Args      []text `yaml:"args"`
	Drop      []text `yaml:"drop"`
	Env       []text `yaml:"env"`
	Token     text   `yaml:"token"`
	PCI       text   `yaml:"pci"`
	Text      text   `yaml:"text"`
	Found     text   `yaml:"found"`
	Reboot    text   `yaml:"reboot"`
	DropsLink text   `yaml:"drops_link"`
	Risk      text   `yaml:"risk"`
}

// testSpec is one test of a rule, in its own file.
type testSpec struct {
	Name       text    `yaml:"name"`
	Goal       text    `yaml:"goal"`
	Facts      rawNode `yaml:"facts"`
	Want       text    `yaml:"want"`
	Subject    text    `yaml:"subject"`
	Severity   text    `yaml:"severity"`
	Confidence text    `yaml:"confidence"`
	Says       []text  `yaml:"says"`
	SaysNot    []text  `yaml:"says_not"`
	Missing    []text  `yaml:"missing"`
}

// rawNode keeps a part of the file for later.
type rawNode struct {
	node *yaml.Node
}

// decode implements decodable.
func (r *rawNode) decode(_ *decoder, n *yaml.Node) { r.node = n }
