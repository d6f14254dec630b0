local t = {}
for i = 1, 20 do t[i] = i * 2 end
print(#t, table.concat(t, ","), string.format("%5.2f %d %s", 3.5, 7, "x"))
print(pcall(error, { code = 1 }), pcall(function() local x = nil; return x.y end))
local co = coroutine.wrap(function(a) for i = 1, 3 do a = coroutine.yield(a + i) end end)
print(co(1), co(2), co(3))
table.sort(t, function(a, b) return a > b end)
print(("hello world"):gsub("o", "0"), ("%d+"):rep(2), #("x"):rep(100))
local mt = setmetatable({}, { __index = function(_, k) return k .. "!" end, __add = function() return 1 end })
print(mt.a, mt + mt, select("#", table.unpack(t)), math.floor(3.7), 7 // 2, 7 % 3, 2 ^ 10)
for k in pairs({ a = 1, b = 2 }) do t[k] = true end
collectgarbage()
goto done
::done::
print(load("return 1 + 1")(), tostring(nil), tonumber("0x10"), os.time() > 0)
