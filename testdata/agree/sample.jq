# A little of everything.
def fact(n): if n <= 1 then 1 else n * fact(n - 1) end;
[range(5) | fact(.)] as $f
| {sum: ($f | add), max: ($f | max), text: ($f | map(tostring) | join(",")), keys: ({b: 1, a: [2, {c: null}]} | keys, tojson),
   caught: (try error("x") catch .), sorted: ([3, 1, 2] | sort_by(-.)), path: [paths(..)?], parts: ("a-b-c" | split("-")),
   reduced: reduce range(10) as $i (0; . + $i), deep: ({"a": {"b": [1, 2]}} | .a.b[1] |= . + 1 | tostring)}
