package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"

	"github.com/jaypipes/ghw"

	"github.com/corewise/corewise/profile/maybe"
)

const dmiDir = "/sys/class/dmi/id"

// readFirmware reads what firmware says about the machine, and what the OS shows of its settings. ghw falls back to the
// device tree where there is no DMI, as on many Arm boards.
func readFirmware(s *Source, h *Host) {
	f := &h.Firmware
	dmi := dmiDir
	if !s.Exists(dmi) {
		dmi = "/sys/devices/virtual/dmi/id" // trees may lack the link
	}
	dir, done, err := s.lend(map[string]string{dmi: dmiDir, "/proc/device-tree": "/proc/device-tree", "/proc/device-tree/chosen": "/proc/device-tree/chosen"})
	if err != nil {
		h.gap(dmi, "%v", err)
		return
	}
	defer done()
	opts := []any{ghw.WithChroot(dir), ghw.WithLogger(slog.New(slog.DiscardHandler)), ghw.WithDisableTools()}
	dmiText := func(text, file string) maybe.Value[string] { return dmiValue(s, dmi+"/"+file, text) }
	if b, err := ghw.BIOS(opts...); err == nil {
		f.BIOSVendor, f.BIOSVersion, f.BIOSDate = dmiText(b.Vendor, "bios_vendor"), dmiText(b.Version, "bios_version"), dmiText(b.Date, "bios_date")
	}
	if p, err := ghw.Product(opts...); err == nil {
		f.SysVendor, f.Product = dmiText(p.Vendor, "sys_vendor"), dmiText(p.Name, "product_name")
	}
	if b, err := ghw.Baseboard(opts...); err == nil {
		f.Board = dmiText(b.Product, "board_name")
	}
	if c, err := ghw.Chassis(opts...); err == nil {
		f.Chassis = dmiText(c.TypeDescription, "chassis_type")
	}
	f.IOMMUGroups = countDir(s, "/sys/kernel/iommu_groups")
	readTokens(s, h)
}

// dmiValue keeps what firmware really filled in. ghw says "unknown" without a reason; the file has it.
func dmiValue(s *Source, p, text string) maybe.Value[string] {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "", "unknown":
		if v := s.Word(p); !v.Ok() {
			return v
		}
		return maybe.Nonef[string]("%s is not understood", p)
	case "to be filled by o.e.m.", "default string", "not specified", "none", "n/a", "system product name", "system manufacturer", "o.e.m.":
		return maybe.Nonef[string]("%s reads %q: firmware did not fill it in", p, text)
	}
	return maybe.Some(strings.TrimSpace(text))
}

func countDir(s *Source, dir string) maybe.Value[int] {
	names, err := s.Dir(dir)
	if err != nil {
		return maybe.None[int](err.Error())
	}
	return maybe.Some(len(names))
}

// readTokens reads a Redfish Bios resource or a plain object of attributes that somebody put into the bundle.
func readTokens(s *Source, h *Host) {
	const name = "cmd/redfish-bios"
	b, err := s.ReadExtra(name)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		h.Firmware.Tokens, err = parseTokens(b)
	}
	if err != nil {
		h.gap(name, "%v", err)
	}
}

func parseTokens(b []byte) (map[string]string, error) {
	var doc struct {
		Attributes map[string]any `json:"Attributes"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("parse Redfish attributes: %w", err)
	}
	if doc.Attributes == nil {
		return nil, errors.New("parse Redfish attributes: no Attributes object")
	}
	tokens := make(map[string]string, len(doc.Attributes))
	for k, v := range doc.Attributes {
		switch v.(type) {
		case string, float64, bool:
			tokens[k] = fmt.Sprint(v)
		}
	}
	return tokens, nil
}
