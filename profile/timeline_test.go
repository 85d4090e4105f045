package profile

import (
	"bytes"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/corewise/corewise/bpf"
)

func sampleLog() bpf.EventLog {
	irq := bpf.Actor{ID: 57, Name: "eth0-rx-3"}
	return bpf.EventLog{Dropped: 2, MinNS: 100, Events: []bpf.Event{
		{StartNS: 10, NS: 5, TID: 7, CPU: 3, Cause: bpf.CauseIRQ, Actor: irq},
		{StartNS: 30, NS: 9, TID: 7, CPU: 3, Cause: bpf.CauseThread, Actor: bpf.Actor{ID: 9, Name: "kworker/3:1", Func: "vmstat_update"}},
		{StartNS: 50, NS: 5, TID: 8, CPU: 4, Cause: bpf.CauseIRQ, Actor: irq},
	}}
}

func TestTimelineRoundTrip(t *testing.T) {
	want := NewTimeline(sampleLog())
	if len(want.Actors) != 2 || want.Events[2].Actor != want.Events[0].Actor {
		t.Fatalf("actors are not shared: %+v", want)
	}
	name := filepath.Join(t.TempDir(), TimelineFile)
	if err := SaveTimeline(name, want); err != nil {
		t.Fatal(err)
	}
	got, err := LoadTimeline(name)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func FuzzTimeline(f *testing.F) {
	var b bytes.Buffer
	if err := NewTimeline(sampleLog()).write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()-3])
	f.Add([]byte(timelineMagic + "\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, in []byte) {
		tl, err := readTimeline(bytes.NewReader(in))
		if err != nil {
			return
		}
		for _, e := range tl.Events {
			_ = tl.Actors[e.Actor]
		}
	})
}
