package host

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// keptEnviron keeps the variables that Host would keep, and the container mark of process 1: an environment holds secrets,
// redacted or not.
func keptEnviron(data []byte) []byte {
	var kept [][]byte
	for entry := range bytes.SplitSeq(data, []byte{0}) {
		name, _, ok := bytes.Cut(entry, []byte("="))
		if ok && (reEnv.Match(name) || string(name) == "container") {
			kept = append(kept, append(entry, 0))
		}
	}
	return bytes.Join(kept, nil)
}

var reSecret = regexp.MustCompile(`(?i)(pass(word|wd|phrase)?|secret|token|api[-_]?key|credential)s?$`)

// hideSecrets replaces values of arguments that are named like secrets: --password=x and --password x.
func hideSecrets(data []byte) []byte {
	words := bytes.Split(data, []byte{0})
	hideNext := false
	for i, w := range words {
		name, _, has := bytes.Cut(w, []byte("="))
		secret := bytes.HasPrefix(name, []byte("-")) && reSecret.Match(name)
		switch {
		case secret && has:
			words[i] = append(bytes.Clone(name), "=***"...)
		case hideNext && len(w) > 0 && w[0] != '-':
			words[i] = []byte("***")
		}
		hideNext = secret && !has
	}
	return bytes.Join(words, []byte{0})
}

// redactor replaces what identifies a machine. The same text is replaced by the same text everywhere, equal prefixes of
// addresses stay equal prefixes, and a MAC stays recognisable in the identifiers that are made of it.
type redactor struct {
	addrs  addressMap
	words  map[string]string // host names and serial numbers -> replacement
	inText *regexp.Regexp    // finds the words in free text; nil when there are none
	homes  map[string]string
	uuids  map[string]string
}

// redactor learns host names and serial numbers from the files before any is written.
func (c *collected) redactor() *redactor {
	r := &redactor{addrs: newAddressMap(), words: map[string]string{}, homes: map[string]string{}, uuids: map[string]string{}}
	for _, p := range []string{"proc/sys/kernel/hostname", "etc/hostname"} {
		r.learnHost(string(c.t0.files[p].data))
	}
	for _, files := range []map[string][]byte{c.extra0, c.extra1} {
		for _, data := range files {
			r.learnSerials(data)
		}
	}
	for _, rec := range []*recorder{c.t0, c.t1} {
		if rec != nil {
			r.learnFiles(rec.files)
		}
	}
	r.inText = wordPattern(r.words)
	return r
}

// learnHost: a full name is replaced part by part, so that "db7" and "db7.example.com" stay the same host.
func (r *redactor) learnHost(text string) {
	name := strings.TrimSpace(text)
	short, domain, _ := strings.Cut(name, ".")
	if short == "" || short == "(none)" || short == "localhost" || r.words[short] != "" {
		return
	}
	r.words[short] = fmt.Sprintf("host%d", len(r.words)+1)
	if domain != "" {
		r.words[domain] = fmt.Sprintf("domain%d.example", len(r.words)+1)
	}
}

var reSerialLine = regexp.MustCompile(`(?i)(?:serial[ _]?(?:number)?|serialnumber|\[SN\][^:]*|asset tag|\bsn)["']?\s*[:=]\s*"?([A-Za-z0-9][A-Za-z0-9._-]{4,63})`)

func (r *redactor) learnSerials(data []byte) {
	for _, m := range reSerialLine.FindAllSubmatch(data, -1) {
		r.learnSerial(string(m[1]))
	}
}

func (r *redactor) learnSerial(s string) {
	s = strings.Trim(s, " \t\r\n\x00.")
	plain := []string{"not", "none", "default", "unknown", "specified", "system"}
	if len(s) < 5 || r.words[s] != "" || slices.Contains(plain, strings.ToLower(s)) {
		return
	}
	r.words[s] = fmt.Sprintf("SERIAL%d", len(r.words)+1)
}

func (r *redactor) learnFiles(files map[string]recorded) {
	for p, f := range files {
		switch path.Base(p) {
		case "serial", "product_serial", "board_serial", "chassis_serial", "wwid":
			r.learnSerial(string(f.data))
		}
	}
}

// wordPattern matches the words as whole words. A host that is called "vm" or "node" cannot be told from the word: such
// names are replaced only in the files that hold nothing else.
func wordPattern(words map[string]string) *regexp.Regexp {
	var parts []string
	for w := range words {
		if len(w) >= 5 || strings.ContainsAny(w, "0123456789-.") && len(w) >= 3 {
			parts = append(parts, regexp.QuoteMeta(w))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	slices.SortFunc(parts, func(a, b string) int { return len(b) - len(a) }) // the longest first
	return regexp.MustCompile(`(^|[^A-Za-z0-9])(` + strings.Join(parts, "|") + `)($|[^A-Za-z0-9])`)
}

// noAddresses are files without addresses where version numbers look like some.
var noAddresses = regexp.MustCompile(`^(ethtool/|boot/|usr/|lib/|var/lib/dpkg|proc/(version|cpuinfo|modules|interrupts|sys/kernel/)|sys/(module|devices/virtual/dmi|class/dmi)|` +
	`cmd/(dmidecode|lspci|mlxconfig|.*-version))`)

var (
	reUUID = regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`)
	reHome = regexp.MustCompile(`/home/([A-Za-z0-9._-]+)`)
)

// file redacts the content of one file, by its path in the bundle.
func (r *redactor) file(p string, data []byte) []byte {
	if bytes.IndexByte(data, 0) >= 0 && !strings.HasPrefix(p, "proc/") {
		return data // binary: PCI configuration space
	}
	text := string(data)
	switch p {
	case "proc/sys/kernel/hostname", "etc/hostname":
		return []byte(r.hostname(text))
	case "proc/net/route":
		return []byte(r.addrs.routeTable(text))
	case "proc/net/ipv6_route", "proc/net/if_inet6":
		return []byte(r.addrs.hexAddresses(text))
	}
	text = r.addrs.macs(text)
	if !noAddresses.MatchString(p) {
		text = r.addrs.addresses(text)
	}
	text = reUUID.ReplaceAllStringFunc(text, func(u string) string { return nth(r.uuids, strings.ToLower(u), "00000000-0000-4000-8000-%012d") })
	text = reHome.ReplaceAllStringFunc(text, func(h string) string { return nth(r.homes, h, "/home/user%d") })
	return []byte(r.freeText(text))
}

// nth gives each text a number of its own, in order of appearance.
func nth(known map[string]string, text, format string) string {
	if known[text] == "" {
		known[text] = fmt.Sprintf(format, len(known)+1)
	}
	return known[text]
}

func (r *redactor) hostname(text string) string {
	name := strings.TrimSpace(text)
	short, domain, full := strings.Cut(name, ".")
	out := orElse(r.words[short], short)
	if full {
		out += "." + orElse(r.words[domain], domain)
	}
	return out + text[len(strings.TrimRight(text, "\n")):]
}

func (r *redactor) freeText(text string) string {
	if r.inText == nil {
		return text
	}
	for range 2 { // neighbours share the character between them
		text = r.inText.ReplaceAllStringFunc(text, func(m string) string {
			sub := r.inText.FindStringSubmatch(m)
			return sub[1] + r.words[sub[2]] + sub[3]
		})
	}
	return text
}

// path redacts names that are made of a MAC: interfaces such as enx0a1b2c3d4e5f.
func (r *redactor) path(p string) string { return r.addrs.macNames(p) }
