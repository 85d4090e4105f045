package advisor

import "io/fs"

// Lint checks rule files completely: structure, every expression, references. The error is a Problems with one line,
// file:line:col, for each fault of every file. base holds rules that those of dir may refer to.
func Lint(dir fs.FS, base ...fs.FS) error {
	s, err := factsSchema()
	if err != nil {
		return err
	}
	rs, err := loadRules(s, append(base, dir)...)
	if err != nil {
		return err
	}
	return rs.Check()
}
