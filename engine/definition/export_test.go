package definition

// ParseForm runs the phases of Parse that need only the form of a file.
func ParseForm(src []byte) Diagnostics {
	p := newParser("form")
	p.def = &Definition{index: map[string]*State{}}
	p.form(src)
	return p.sorted()
}
