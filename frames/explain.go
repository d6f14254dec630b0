package frames

func (w *Walk) guard(string)   {}
func (w *Walk) found(Strategy) {}
func (w *Walk) usesRow(*site)  {}
