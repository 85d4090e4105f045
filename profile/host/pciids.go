package host

import (
	"bytes"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// namePCI looks the names of the functions up in the host's copy of pci.ids.
//
// Note: jaypipes/pcidb parses the whole file, which takes longer than everything else that is read of PCI together. A bundle
// gets the names from lspci instead of a copy of the file.
func namePCI(s *Source, h *Host) {
	if len(h.PCI) == 0 || s.copies {
		return
	}
	for _, file := range []string{"/usr/share/hwdata/pci.ids", "/usr/share/misc/pci.ids"} {
		ids, err := s.Read(file)
		if err != nil {
			continue
		}
		for i := range h.PCI {
			p := &h.PCI[i]
			p.Name = prefer(lookupPCI(ids, p.Vendor, p.Device), p.Name)
		}
		return
	}
}

// lookupPCI finds "Vendor Device" for ids such as 0x15b3 and 0x1017. A vendor's line begins at column 0, its devices are
// indented by one tab.
func lookupPCI(ids []byte, vendor, device string) maybe.Value[string] {
	none := maybe.Nonef[string]("pci.ids does not know %s:%s", vendor, device)
	if len(vendor) != 6 || len(device) != 6 {
		return none
	}
	block, name, ok := afterLine(ids, "\n"+vendor[2:]+"  ")
	if !ok {
		return none
	}
	for end := 0; ; end++ { // the block ends at the next line that is neither indented nor a comment
		next := bytes.IndexByte(block[end:], '\n')
		if next < 0 || end+next+1 == len(block) || block[end+next+1] != '\t' && block[end+next+1] != '#' {
			block = block[:max(end+next, end)]
			break
		}
		end += next
	}
	if _, dev, ok := afterLine(block, "\n\t"+device[2:]+"  "); ok {
		return maybe.Some(name + " " + dev)
	}
	return maybe.Some(name + " Device " + device[2:])
}

// afterLine finds a line by its beginning and returns what follows it (from its line end on) and the rest of the line.
func afterLine(text []byte, begin string) (rest []byte, line string, ok bool) {
	at := bytes.Index(text, []byte(begin))
	if at < 0 {
		return nil, "", false
	}
	text = text[at+len(begin):]
	end := bytes.IndexByte(text, '\n')
	if end < 0 {
		end = len(text)
	}
	return text[end:], strings.TrimSpace(string(text[:end])), true
}
