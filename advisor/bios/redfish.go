package bios

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Want is one setting with the value it should get.
type Want struct {
	Token, Value string
}

// Document is what to send to a management controller, and what is left for a person.
type Document struct {
	Vendor string            `json:"vendor"`
	Path   string            `json:"path"` // of the settings resource; "" when the vendor has none we know
	Body   json.RawMessage   `json:"body,omitempty"`
	Manual []string          `json:"manual,omitempty"` // settings without a known attribute or value, by menu or neutral name
	Notes  []string          `json:"notes"`
	Values map[string]string `json:"-"` // the attributes of Body
}

// paths are the resources to read and to stage changes.
var paths = map[string][2]string{
	"dell":   {"/redfish/v1/Systems/System.Embedded.1/Bios", "/redfish/v1/Systems/System.Embedded.1/Bios/Settings"},
	"hpe":    {"/redfish/v1/systems/1/bios", "/redfish/v1/systems/1/bios/settings"},
	"lenovo": {"/redfish/v1/Systems/1/Bios", "/redfish/v1/Systems/1/Bios/Pending"},
}

// Redfish makes the document for a vendor. present are the machine's own attributes where they are known: then a name that
// is not among them goes to Manual, and a value that is there already is left out.
func Redfish(vendor, cpu string, wants []Want, present map[string]string) Document {
	d := Document{Vendor: vendor, Path: paths[vendor][1], Values: map[string]string{}}
	for _, w := range wants {
		d.add(cpu, w, present)
	}
	if d.Path != "" {
		d.Notes = []string{
			"First save everything: GET " + paths[vendor][0],
			"Names and values differ by model: compare with the attribute registry of this machine before sending.",
			"PATCH the body to " + d.Path + "; it takes effect at the next boot.",
		}
	} else {
		d.Notes = []string{"No Redfish names are known for this machine: use its setup menu."}
	}
	if vendor == "dell" {
		d.Notes = append(d.Notes, "iDRAC also needs a configuration job for BIOS.Setup.1-1.")
	}
	if len(d.Values) > 0 && d.Path != "" {
		d.Body, _ = json.MarshalIndent(map[string]any{"Attributes": d.Values}, "", "  ")
	}
	return d
}

func (d *Document) add(cpu string, w Want, present map[string]string) {
	s, ok := Find(w.Token)
	if !ok {
		d.Manual = append(d.Manual, fmt.Sprintf("%s: %s", w.Token, w.Value))
		return
	}
	a, ok := s.Attribute(d.Vendor, cpu)
	own, known := a.Values[w.Value]
	now, here := present[a.Name]
	switch {
	case !ok:
		d.Manual = append(d.Manual, fmt.Sprintf("%s: %s", s.Title, w.Value))
	case a.Menu || d.Path == "":
		d.Manual = append(d.Manual, fmt.Sprintf("%s (%s): %s", a.Name, s.Title, orElse(own, w.Value)))
	case !known || len(present) > 0 && !here:
		d.Manual = append(d.Manual, fmt.Sprintf("%s (%s): %s, in the words of this machine's registry", a.Name, s.Title, orElse(own, w.Value)))
	case now == own && here:
	default:
		d.Values[a.Name] = own
	}
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// Read translates attributes by the vendor's own names into neutral names with neutral values where the table knows the
// value, and the vendor's value where it does not.
func Read(vendor string, attributes map[string]string) map[string]string {
	out := map[string]string{}
	for _, s := range table {
		for _, cpu := range []string{"intel", "amd"} {
			a, ok := s.Attribute(vendor, cpu)
			own, here := attributes[a.Name]
			if !ok || !here || a.Menu {
				continue
			}
			out[s.Token] = own
			for neutral, v := range a.Values {
				if strings.EqualFold(v, own) {
					out[s.Token] = neutral
				}
			}
		}
	}
	return out
}

// Words are the vendor's words for a value, for a person: "ProcCStates=Disabled".
func (s Setting) Words(vendor, cpu, value string) (string, bool) {
	a, ok := s.Attribute(vendor, cpu)
	if !ok {
		return "", false
	}
	return a.Name + "=" + orElse(a.Values[value], value), true
}

// AllWords are the words of every vendor that has the setting, sorted.
func (s Setting) AllWords(cpu, value string) []string {
	var out []string
	for vendor := range s.Names {
		if text, ok := s.Words(vendor, cpu, value); ok {
			out = append(out, vendor+": "+text)
		}
	}
	slices.Sort(out)
	return out
}
