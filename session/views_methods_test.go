package session_test

import (
	"path/filepath"
	"testing"

	"dbg/session"
)

// Methods and operators of the standard library's classes are answered without calling the program: in a
// process, and in its core, where nothing can be called.
func TestViewMethods(t *testing.T) {
	live := stopIn(t, "view/methods.cc", "-g", "-O0", "-std=c++17")
	file := filepath.Join(t.TempDir(), "core")
	if _, err := live.GenerateCore(file, session.CoreOptions{}); err != nil {
		t.Fatal(err)
	}
	s, events := newSession(t)
	core := &caller{s, t, events, 0}
	ti, _ := live.Target()
	core.must(s.OpenCore(file, ti.Exe))
	core.thread, _ = s.Selected()
	for name, c := range map[string]*caller{"live": live, "core": core} {
		t.Run(name, func(t *testing.T) {
			c.t = t
			for _, x := range [][2]string{
				{"v.size()", "3"}, {"v[2]", "3"}, {"v.back()", "3"}, {"v.at(0)", "1"}, {"v.empty()", "false"}, {"ve.empty()", "true"},
				{"v[3]", "no such element: index 3 of 3"}, {"v[-1]", "no such element: index -1 of 3"}, {"ve.back()", "the std::vector is empty"},
				{"vv[1][0]", "2"}, {"vb[2]", "true"}, {"vn[1].name", `"six"`}, {"vn[0].id + 1", "6"}, {"ar[1]", "8"}, {"ar.size()", "3"},
				{"dq[150]", "150"}, {"dq.back()", "299"}, {"dq.size()", "300"}, {"li.size()", "3"},
				{"s.size()", "5"}, {"s.length()", "5"}, {"s[1]", "101 'e'"}, {`s == "hello"`, "true"}, {`s != "hello"`, "false"}, {`s == "hell"`, "false"},
				{"sv == s", "true"}, {"none.empty()", "true"}, {`none == ""`, "true"},
				{`m["one"]`, "1"}, {`m.at("two")`, "2"}, {`m["nope"]`, "the std::map has no such key"}, {`m.count("one")`, "1"}, {`m.count("x")`, "0"},
				{"mm.count(1)", "2"}, {"st.count(3)", "1"}, {"st.contains(9)", "false"}, {`um["k"]`, "7"},
				{"oi.value()", "5"}, {"*oi", "5"}, {"oi.has_value()", "true"}, {"on.has_value()", "false"},
				{"un->name", `"n"`}, {"un->id", "1"}, {"*un", `{id = 1, name = "n"}`}, {"*sp", "8"}, {"sp.use_count()", "2"}, {"*it", "2"},
				{"std::get<1>(tu)", "2.5"}, {"std::get<3>(tu)", "no such element: index 3 of 3"}, {"std::get<1>(p)", `"x"`}, {"std::get<2>(ar)", "9"},
				{"std::get<1>(va)", `"var"`}, {"std::get<0>(va)", "alternative 0 is not active; 1 is"}, {"va.index()", "1"},
				{"m.size() == 2 && v[0] == 1", "true"}, {"sizeof(std::vector<int>)", "24"}, {"&v[1] == &v[0] + 1", "true"},
			} {
				c.expect(x[0], x[1])
			}
		})
	}
}
