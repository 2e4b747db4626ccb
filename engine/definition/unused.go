package definition

// Unused returns a warning for every field of the input that no expression
// names. It is no part of [Parse], because such a field can be there for
// people who look at an instance. A step without with: takes the whole input
// and so uses all of it.
func Unused(d *Definition) Diagnostics {
	p := newParser(d.File)
	p.stored = true // it was checked before
	p.run(d.Source)
	used := map[string]bool{}
	for _, s := range p.exprs {
		if s.value.expr.prog == nil {
			return nil // not a definition that Parse gave
		}
		for _, ref := range s.value.expr.prog.Refs() {
			if ref.Path[0] != "input" {
				continue
			}
			if len(ref.Path) == 1 {
				return nil
			}
			used[ref.Path[1]] = true
		}
	}
	for _, s := range p.def.States {
		if s.Kind == StepState && s.With == nil {
			return nil
		}
	}
	found := findings{file: d.File}
	for _, f := range p.def.Input {
		if !used[f.Name] {
			found.warnf(p.inputs[f.Name], "unused-input", "input.%s is never used; remove it or use it", f.Name)
		}
	}
	return found.sorted()
}
