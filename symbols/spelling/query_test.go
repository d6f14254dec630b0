package spelling

import "testing"

// TestMatches lists queries, and names that each does or does not mean.
func TestMatches(t *testing.T) {
	for _, test := range []struct {
		query, name string
		want        bool
	}{
		{"f", "f", true},
		{"f", "ns::f", true},
		{"ns::f", "f", false},
		{"ns::f", "outer::ns::f", true},
		{"f", "C<int>::f<char>", true},
		{"C::f", "C<int>::f", true},
		{"C<int>::f", "C<int>::f<char>", true},
		{"C<char>::f", "C<int>::f", false},
		{"C< int >::f", "C<int>::f", true},
		{"operator<", "ns::operator<", true},
		{"operator->", "ns::P<int>::operator->", true},
		{"Local::g", "f(int)::Local::g", true},
		{"f::Local::g", "f(int)::Local::g", true},
		{"(anonymous namespace)::f", "ns::(anonymous namespace)::f", true},
		{"f(int)", "ns::f", true}, // parameters do not count here
	} {
		q, ok := ParseQuery(test.query)
		if !ok || q.Matches(test.name) != test.want {
			t.Errorf("%q means %q: %v, want %v", test.query, test.name, !test.want, test.want)
		}
	}
	for _, bad := range []string{"", " ", "ns::"} {
		if q, ok := ParseQuery(bad); ok {
			t.Errorf("%q is a query: %+v", bad, q)
		}
	}
}

// TestMatchesLinkage chooses among overloads.
func TestMatchesLinkage(t *testing.T) {
	for _, test := range []struct {
		query, linkage string
		want           bool
	}{
		{"f", "_Z1fi", true},
		{"f(int)", "_Z1fi", true},
		{"f( int )", "_Z1fi", true},
		{"f(double)", "_Z1fi", false},
		{"f(void)", "_Z1fv", true},
		{"f()", "_Z1fv", true},
		{"g", "_Z1fi", false},
		{"f", "f", false}, // it is not mangled
	} {
		q, _ := ParseQuery(test.query)
		if q.MatchesLinkage(test.linkage) != test.want {
			t.Errorf("%q means %q: %v, want %v", test.query, test.linkage, !test.want, test.want)
		}
	}
}
