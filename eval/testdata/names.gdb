# Commands that TestPrintLikeGDB gives to gdb and to eval.
p sizeof(node)
p sizeof(node*)
p sizeof (node) * 2
p (node*)raw
p *(node*)raw
p ((node*)raw)->next->value
p (node&)first
p {node}raw
p static_cast<node*>(raw)
p reinterpret_cast<node*>(raw)->value
p node
whatis node
whatis (node*)raw
whatis node*
whatis struct node
p node::made
p sizeof(node::made)
p node::limit == 0
whatis node::node
p sizeof(extent)
p *(extent*)&ex
p (extent*)0
whatis extent
p sizeof(limit)
whatis limit
p sizeof(ns::item)
p (ns::item*)&it
p *(ns::item*)&it
whatis ns::item
p sizeof(box<int>)
p *(box<int>*)&bi
whatis box<int>
p sizeof(quiet)
p *(quiet*)&qu
whatis quiet
p sizeof(struct twin)
p twin == 0
whatis twin
p sizeof(tw)
p *(node*)p
