package remote

// page returns a page, which it makes if need be, as the one that was used last. The caller holds the lock.
func (m *Memory) page(number uint64) *page {
	p := m.pages[number]
	if p == nil {
		p = &page{number: number}
		m.pages[number] = p
		m.add(p)
		m.evict()
		m.stats.Most = max(m.stats.Most, len(m.pages))
		return p
	}
	m.use(p)
	return p
}

// arrived notes that something has come to be known of a page.
func (m *Memory) arrived(p *page) {
	if !p.known() {
		return
	}
	p.demand = unwanted
	m.arrival.fire()
	if p.asked {
		p.asked = false
		m.outstanding--
		m.wanted.fire()
	}
}

// evict drops the pages that were not used for longest. Pages that tasks wait for stay, and pages whose
// answers are under way: both are bounded.
func (m *Memory) evict() {
	for p := m.oldest; p != nil && len(m.pages) > m.opt.MaxPages; {
		next := p.newer
		if p.pins == 0 && !p.asked && p != m.newest {
			m.remove(p)
			delete(m.pages, p.number)
			m.stats.Evicted++
		}
		p = next
	}
}

// use makes a page the one that was used last.
func (m *Memory) use(p *page) {
	if p != m.newest {
		m.remove(p)
		m.add(p)
	}
}

func (m *Memory) add(p *page) {
	p.older, p.newer = m.newest, nil
	if m.newest != nil {
		m.newest.newer = p
	} else {
		m.oldest = p
	}
	m.newest = p
}

func (m *Memory) remove(p *page) {
	if p.older != nil {
		p.older.newer = p.newer
	} else {
		m.oldest = p.newer
	}
	if p.newer != nil {
		p.newer.older = p.older
	} else {
		m.newest = p.older
	}
	p.older, p.newer = nil, nil
}
