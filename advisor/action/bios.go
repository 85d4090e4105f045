package action

import (
	"fmt"
	"slices"

	"github.com/corewise/corewise/advisor/bios"
)

func validateBIOS(a Action) error {
	s, ok := bios.Find(a.Token)
	if !ok {
		return fmt.Errorf("BIOS setting %.40q is not known", a.Token)
	}
	if a.Token != "preferred_io_bus" && !slices.Contains(s.Values(), a.Value) {
		return fmt.Errorf("%s: value %.40q is not one of %v", a.Token, a.Value, s.Values())
	}
	return value("value", a.Value, plainWord.MatchString)
}

// biosCommands never write: they name the setting in the vendor's words (Action.Name) or in those of all vendors.
func biosCommands(a Action) (run, undo, verify []string) {
	s, _ := bios.Find(a.Token)
	words := s.AllWords("", a.Value)
	if own, ok := s.Words(a.Name, "", a.Value); ok {
		words = []string{own}
	}
	for _, w := range words {
		run = append(run, "# BIOS setup: "+w)
	}
	if len(run) == 0 {
		run = []string{fmt.Sprintf("# BIOS setup: %s: %s", s.Title, a.Value)}
	}
	return run, []string{"# save all settings before the change and set the former value again"}, []string{"# after the reboot: " + s.Check}
}

// Redfish makes the document for the BIOS actions among the list; the others are left out. vendor is bios.Vendor's key,
// cpu intel or amd, present the machine's own attributes where they are known.
func Redfish(vendor, cpu string, actions []Action, present map[string]string) bios.Document {
	var wants []bios.Want
	for _, a := range actions {
		if a.Kind == BIOS && Validate(a) == nil {
			wants = append(wants, bios.Want{Token: a.Token, Value: a.Value})
		}
	}
	return bios.Redfish(vendor, cpu, wants, present)
}
