// Package maybe holds a value that may be missing, together with the reason why it is.
//
// Every fact that corewise reads from a host, a kernel or a transcript is a Value: either present, or missing with a
// reason. A missing value is never 0, -1 or "". In JSON a present value is the value itself, a missing one is
// {"missing": "reason"}; a Value that nobody ever tried to read is left out (json option omitzero).
package maybe

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Value is a T or the reason why there is none. The zero Value is missing because it was never read.
type Value[T any] struct {
	v   T
	why string
	ok  bool
}

// Some returns a present value.
func Some[T any](v T) Value[T] { return Value[T]{v: v, ok: true} }

// None returns a missing value with the reason, such as "open /sys/...: no such file or directory".
func None[T any](why string) Value[T] { return Value[T]{why: why} }

// Nonef is None with a format.
func Nonef[T any](format string, args ...any) Value[T] {
	return Value[T]{why: fmt.Sprintf(format, args...)}
}

// From turns the usual pair of a reader into a Value.
func From[T any](v T, err error) Value[T] {
	if err != nil {
		return None[T](err.Error())
	}
	return Some(v)
}

// Map applies f to a present value and passes a missing one on with its reason.
func Map[T, U any](m Value[T], f func(T) U) Value[U] {
	if !m.ok {
		return None[U](m.why)
	}
	return Some(f(m.v))
}

// Get returns the value and whether it is present.
func (m Value[T]) Get() (T, bool) { return m.v, m.ok }

// Or returns the value, or other when it is missing. Only for display: a decision needs Get.
func (m Value[T]) Or(other T) T {
	if m.ok {
		return m.v
	}
	return other
}

// Ok reports whether the value is present.
func (m Value[T]) Ok() bool { return m.ok }

// Why returns the reason of a missing value, "" for a present one.
func (m Value[T]) Why() string {
	switch {
	case m.ok:
		return ""
	case m.why == "":
		return "not read"
	}
	return m.why
}

// IsZero reports that nobody tried to read the value; encoding/json leaves it out with the option omitzero.
func (m Value[T]) IsZero() bool { return !m.ok && m.why == "" }

type missing struct {
	Missing string `json:"missing"`
}

// MarshalJSON writes the value, or {"missing": reason}.
func (m Value[T]) MarshalJSON() ([]byte, error) {
	if m.ok {
		return json.Marshal(m.v)
	}
	return json.Marshal(missing{Missing: m.Why()})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Value[T]) UnmarshalJSON(b []byte) error {
	if why, ok := reason(b); ok {
		*m = None[T](why)
		return nil
	}
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	*m = Some(v)
	return nil
}

// reason recognises {"missing": "text"} with exactly that one key.
func reason(b []byte) (string, bool) {
	if !bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
		return "", false
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(b, &m) != nil || len(m) != 1 {
		return "", false
	}
	var why string
	raw, ok := m["missing"]
	if !ok || json.Unmarshal(raw, &why) != nil {
		return "", false
	}
	return why, true
}
