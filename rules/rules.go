// Package rules is the knowledge of corewise: one YAML file a rule, its conditions in CEL over the facts of
// advisor/facts, its tests in the same file. The file's name is the rule's id. How a rule is written, and what each key
// means, is told in README.md; package advisor evaluates them.
package rules

import "embed"

// FS holds every built-in rule.
//
//go:embed *.yaml
var FS embed.FS
