package definition

import "testing"

func TestNearest(t *testing.T) {
	tests := []struct {
		name  string
		known []string
		want  string
	}{
		{"stats", []string{"state", "status"}, "status"},
		{"stats", []string{"status", "state"}, "status"},
		{"NOTIFYNG", []string{"NOTICE", "NOTIFYING"}, "NOTIFYING"},
		{"max_atempts", []string{"max_delay", "max_attempts"}, "max_attempts"},
		{"inptu", []string{"output", "input"}, "input"}, // swapped letters are one edit
		{"to", []string{"do", "two"}, "two"},
		{"if", []string{"when", "then"}, ""},
		{"same", []string{"same"}, ""},
		{"ключь", []string{"ключ"}, "ключ"},
	}
	for _, tt := range tests {
		if got := nearest(tt.name, tt.known); got != tt.want {
			t.Errorf("nearest(%q, %q) = %q, want %q", tt.name, tt.known, got, tt.want)
		}
	}
}
