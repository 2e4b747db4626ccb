package definition

// checkPolicy is phase 5.
func (p *parser) checkPolicy() {
	if p.def.InstanceKey != nil {
		return
	}
	for _, s := range p.def.States {
		if s.Irreversible {
			p.warnf(s.at, "start-unkeyed",
				"this workflow has an irreversible state but no instance_key, so two starts run it twice; add instance_key:")
			return
		}
	}
}
