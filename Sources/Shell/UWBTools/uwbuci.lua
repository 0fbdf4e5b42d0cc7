-- SPDX-License-Identifier: Apache-2.0
-- A dissector of UCI for Wireshark 4.0 and later, written by "uwbctl wireshark".
-- Put it into the folder that "tshark -G folders" prints as "Personal Lua Plugins".
local T = {}
-- TABLES
-- The Debian package has this script, too. The first copy counts.
local isFirst, proto = pcall(Proto, "uwbuci", "UWB Command Interface (swift-uwb)")
if not isFirst then return end
proto.prefs.vendor = Pref.enum("Vendor", 0, "The vendor of vendor messages",
  {{1, "from the device information", 0}, {2, "Qorvo", 1}, {3, "NXP", 2}, {4, "Android", 3}}, false)
proto.prefs.secrets = Pref.bool("Show keys", false, "Show keys and initialisation vectors")
local vendors = {[0] = "unknown", "qorvo", "nxp", "android"}
local kinds = {[0] = "data", "command", "response", "notification", "test-command",
  "test-response", "reserved-6", "reserved-7"}
local floor = math.floor

-- Numbers and text as Swift prints them.
local function bits(value, shift, size) return floor(value / 2 ^ shift) % size end
local function bit(value, number) return bits(value, number, 2) == 1 end
local function int(value) return value == 0 and "0" or string.format("%.0f", value) end
local function hex(value) return string.format("0x%02X", value) end
local function digits(s, separator)
  if #s == 0 then return "none" end
  return (s:gsub(".", function(c) return string.format("%02x", c:byte()) .. separator end)
    :sub(1, -1 - #separator))
end
local function decimal(value)
  if value == floor(value) and math.abs(value) < 2 ^ 53 then return int(value) .. ".0" end
  for precision = 15, 17 do
    local text = string.format("%." .. precision .. "g", value)
    if tonumber(text) == value then return text end
  end
end
local function number(s, start, width, signed)
  local value = 0
  for index = width, 1, -1 do value = value * 256 + s:byte(start + index) end
  if signed and value >= 2 ^ (8 * width - 1) then value = value - 2 ^ (8 * width) end
  return value
end
local function address(s)
  return "0x" .. (digits(s:reverse(), ""))
end
-- Escapes control characters, and replaces what is not UTF-8.
local function plain(text)
  local out, index = {}, 1
  while index <= #text do
    local c = text:match("^[\194-\223][\128-\191]", index)
      or text:match("^[\224-\239][\128-\191][\128-\191]", index)
      or text:match("^[\240-\244][\128-\191][\128-\191][\128-\191]", index)
    local byte = text:byte(index)
    if c and byte == 194 and c:byte(2) < 160 then out[#out + 1] = string.format("\\x%02x", c:byte(2))
    elseif c then out[#out + 1] = c
    elseif byte < 32 or byte == 127 then out[#out + 1] = string.format("\\x%02x", byte)
    else out[#out + 1] = byte < 128 and string.char(byte) or "\239\191\189" end
    index = index + (c and #c or 1)
  end
  return table.concat(out)
end

-- Items of the tree: name, kind of value, value, text, offset, length, children.
local function item(name, kind, value, text, o, l)
  return {n = name, k = kind, v = value, t = text, o = o, l = l}
end
local function null(name, o, l) return item(name, "none", nil, "none", o, l) end
local function dec(name, value, o, l) return item(name, "double", value, decimal(value), o, l) end
local function num(name, value, o, l) return item(name, "number", value, int(value), o, l) end
local function flag(name, value, o, l)
  return item(name, "bool", value, value and "yes" or "no", o, l)
end
local function code(name, value, names, o, l)
  local title = names.names[value] or (names.prefix or "") .. hex(value)
  local words = names.words and names.words[value]
  return item(name, "number", value,
    title .. " (" .. hex(value) .. ")" .. (words and ": " .. words or ""), o, l)
end
local function bytes(name, s, o) return item(name, "bytes", s, digits(s, " "), o, #s) end
local function secret(name, s, o)
  if proto.prefs.secrets then return bytes(name, s, o) end
  return item(name, "none", nil, "<redacted>", o, #s)
end
local function names(list) return {names = list} end

-- Reading: R has the bytes s, the position p, the values env, the dialect and the last status.
local function fail(text) error({problem = text}, 0) end
local function need(R, count, name)
  local there = #R.s - R.p
  if count > there then
    fail("The payload ends inside " .. name .. ": bytes needed " .. int(count) ..
      ", bytes there " .. there .. ".")
  end
end
local function take(R, count, name)
  need(R, count, name)
  R.p = R.p + count
  return R.s:sub(R.p - count + 1, R.p)
end
local function uint(R, width, name) return number(take(R, width, name), 0, width) end
local function quantity(R, q)
  while type(q) == "table" do
    if q.line then
      local value = q.a * R.env[q.line] + q.b
      return q.rest and math.max(0, value - (R.p - R.start)) or value
    end
    local choice = q[bits(R.env[q.sel], q.shift, q.size)]
    q = choice == nil and q.usual or choice
  end
  return q
end
local function count(R, q, name)
  if q == "u8" then return uint(R, 1, name) end
  if q == "u16" then return uint(R, 2, name) end
  if q == "rest" then return #R.s - R.p, true end
  if type(q) == "table" and q.fit then return floor((#R.s - R.p) / q.fit) end
  return quantity(R, q)
end
local function holds(R, comparison, q)
  local rest, limit = #R.s - R.p, quantity(R, q)
  if comparison == "ne" then return rest ~= limit end
  return rest >= limit
end

-- Parameters.
local function row(space, key, dialect, length)
  local best, least
  for _, r in ipairs(T.parameters[space][key] or {}) do
    local fits = not r.lengths
    for _, l in ipairs(r.lengths or {}) do fits = fits or l == length end
    local g = dialect.generation
    local misfit = (r.vendors and not r.vendors[dialect.vendor] and 8 or 0)
      + ((fits or not length) and 0 or 4)
      + ((g >= (r.first or 1) and g <= (r.last or 3)) and 0 or 2) + (r.vendors and 0 or 1)
    if not least or misfit < least then best, least = r, misfit end
  end
  return best
end
local prefixes = {app = "APP_CONFIG", nxpApp = "NXP_APP_CONFIG", device = "DEVICE_CONFIG",
  test = "TEST_CONFIG", radar = "RADAR_CONFIG"}
local function unnamed(space, id, sub)
  return (prefixes[space] or "CAPABILITY") .. "_" .. hex(id) .. (sub and "_" .. hex(sub) or "")
end
local function big(s)
  local lo, hi = number(s, 0, math.min(#s, 4)), #s > 4 and number(s, 4, #s - 4) or 0
  if hi == 0 then return int(lo) end
  return tostring(UInt64.new(lo, hi))
end
local function whole(s) return #s >= 1 and #s <= 8 and big(s) or digits(s, " ") end
local function chunks(s, size)
  if #s == 0 or #s % size ~= 0 then return nil end
  local list = {}
  for index = 1, #s, size do list[#list + 1] = s:sub(index, index + size - 1) end
  return list
end
local function short(s) return #s <= 4 and whole(s) or digits(s, " ") end
local function joined(list, text)
  local all = {}
  for index, s in ipairs(list) do all[index] = text(s) end
  return table.concat(all, ", ")
end
local function version(s)
  local rest = s:byte(2)
  return s:byte(1) .. "." .. floor(rest / 16) .. "." .. rest % 16
end
-- Returns the text of a value, and the number where it is one.
local function written(r, s)
  local f = r.format
  if f == "number" or f == "mask" then return whole(s), #s <= 4 and #s > 0 and number(s, 0, #s) end
  if f == "maskBigEndian" then
    local turned = s:reverse()
    if #s < 1 or #s > 8 then return digits(s, " ") end
    return whole(turned), #s <= 4 and number(turned, 0, #s)
  elseif f == "signed" then
    if #s < 1 or #s > 6 then return digits(s, " ") end
    return int(number(s, 0, #s, true))
  elseif f == "numbers" then
    local list = chunks(s, r.size)
    return list and joined(list, whole) or short(s)
  elseif f == "fixedPoint" then
    local list = chunks(s, 2)
    return list and joined(list, function(c) return decimal(number(c, 0, 2, true) / r.scale) end)
      or digits(s, " ")
  elseif f == "addresses" then
    local long = false
    for _, l in ipairs(r.lengths or {}) do long = long or l == 8 and #s == 8 end
    local list = chunks(s, long and 8 or 2)
    return list and joined(list, address) or digits(s, " ")
  elseif f == "versionRange" then
    if #s ~= 4 then return short(s) end
    return version(s) .. "-" .. version(s:sub(3))
  elseif f == "text" and not s:find("[^\32-\126]") then
    return s
  end
  return digits(s, " ")
end
local function meaning(r, s)
  local f = r.format
  if not r.values or #s < 1 or #s > 8 then return nil end
  if f == "number" then return #s <= 6 and r.values[number(s, 0, #s)] or nil end
  if f ~= "mask" and f ~= "maskBigEndian" then return nil end
  local order, list = f == "mask" and s or s:reverse(), {}
  for number = 0, #s * 8 - 1 do
    if bit(order:byte(floor(number / 8) + 1), number % 8) then
      list[#list + 1] = r.values[number] or "bit " .. number
    end
  end
  return #list == 0 and "none" or table.concat(list, ", ")
end
local function tlvs(R, name, long)
  local list = {}
  for index = 0, uint(R, 1, name .. " count") - 1 do
    local title, start = name .. "[" .. index .. "]", R.p
    local id = uint(R, 1, title .. " id")
    local sub = long and id >= long and id <= 0xE5 and uint(R, 1, title .. " sub id") or nil
    local length = uint(R, 1, title .. " length")
    list[#list + 1] = {id = id, sub = sub, o = start, s = take(R, length, title .. " value")}
  end
  return list
end
local function readTLVs(R, name, space)
  local forms = {false, 0xE3}
  if type(space) == "table" then forms = {} end
  if space == "device" and R.dialect.vendor == "nxp" then forms = {0xE4, false} end
  local start = R.p
  for _, long in ipairs(forms) do
    R.p = start
    local ok, list = pcall(tlvs, R, name, long)
    if ok and R.p == #R.s then return list end
  end
  R.p = start
  return tlvs(R, name, forms[1])
end
local function secretRow(space, id)
  if space ~= "app" then return false end
  for _, r in ipairs(T.parameters.app[id] or {}) do if r.secret then return true end end
  return false
end
local function parameter(R, space, tlv, numbering, list)
  local id, sub, s = tlv.id, tlv.sub, tlv.s
  local key = sub and (id + 1) * 256 + sub or id
  if space == "capabilities" then key = T.capabilities[numbering][key] end
  local known = not (sub and (space == "app" or space == "nxpApp"))
  local r = known and key and row(space, key, R.dialect, #s) or nil
  local title = r and r.name or space == "capabilities" and key
    or unnamed(not known and "app" or space, id, sub)
  local size = R.p and #s + (sub and 3 or 2)
  if space ~= "capabilities" and (not known or r and r.secret or secretRow(space, id)) then
    local hidden = secret(title, s, tlv.o)
    hidden.t = title .. " = " .. hidden.t
    hidden.whole, hidden.l = true, size
    return hidden
  end
  local text, value
  if r then text, value = written(r, s) else text, value = short(s), #s > 0 and #s <= 4 and number(s, 0, #s) end
  if key == "CHANNELS" and list.channels then text = list.channels end
  local words = r and meaning(r, s)
  if space == "capabilities" then
    if not r then
      words = s:gsub(".", function(c) return string.format("%02X ", c:byte()) end):sub(1, -2)
    elseif not words then
      words = tostring((written(r, s)))
      if words == digits(s, " ") then words = words:upper() end
      words = words .. (r.unit and " " .. r.unit or "")
    end
  end
  local line = title .. " = " .. text
  if space ~= "capabilities" and r and r.unit then line = line .. " " .. r.unit end
  if words then line = line .. " (" .. words .. ")" end
  local found = item("parameter", value and "number" or "none", value, line, tlv.o, size)
  found.whole = true
  return found
end
local function parameters(R, name, space)
  local start, list = R.p, readTLVs(R, name, space)
  local out = {n = name, k = "list", c = {}, o = start, l = R.p - start}
  if type(space) == "table" then
    local all = {}
    for _, tlv in ipairs(list) do
      local title = space[tlv.id] or "result_" .. hex(tlv.id)
      all[#all + 1] = item(title, "none", nil, short(tlv.s), tlv.o, #tlv.s + 2)
    end
    return all
  end
  local numbering = "fira2"
  for _, tlv in ipairs(list) do
    if tlv.id == 2 then numbering = #tlv.s == 4 and "fira2" or "fira1" break end
  end
  for _, tlv in ipairs(list) do
    if space == "capabilities" and T.capabilities[numbering][tlv.id] == "CHANNELS"
      and #tlv.s >= 1 and #tlv.s <= 6 then
      local all, mask = {}, number(tlv.s, 0, #tlv.s)
      for index, channel in ipairs(T.channels) do
        if bit(mask, index - 1) then all[#all + 1] = tostring(channel) end
      end
      list.channels = #all > 0 and table.concat(all, ", ") or "none"
      break
    end
  end
  for _, tlv in ipairs(list) do out.c[#out.c + 1] = parameter(R, space, tlv, numbering, list) end
  if space == "capabilities" then out.n = "capabilities" end
  if #out.c == 0 then return {item(out.n, "none", nil, "none", out.o, out.l)} end
  return {out}
end

-- The interpreter of layouts.
local views, run = {}, nil
local function append(out, list) for _, i in ipairs(list) do out[#out + 1] = i end end
local function integer(R, node, out, signed)
  local name, form, width = node[2], node[3], quantity(R, node[4])
  local o, s = R.p, take(R, width, name)
  local value = number(s, 0, width, signed)
  R.env[node[5]] = value
  local i
  if form == "short" then i = item(name, "none", value, address(s:sub(1, 2)), o, width)
  elseif form == "mac" then i = item(name, "none", value, address(s), o, width)
  elseif form == "any" then
    local isShort = #s == 8 and s:sub(3) == ("\0"):rep(6)
    i = item(name, "none", value, address(isShort and s:sub(1, 2) or s), o, width)
  elseif form == "flag" then i = flag(name, value ~= 0, o, width)
  elseif type(form) == "table" and form.scale then i = dec(name, value / form.scale, o, width)
  elseif type(form) == "table" and form.bit then
    i = item(name, "number", value,
      form.names[bits(value, form.bit, 2) + 1] .. " (" .. hex(value % 256) .. ")", o, width)
  elseif type(form) == "table" then i = code(name, value, form, o, width)
  else
    i = num(name, value, o, width)
    if width > 4 then i.k, i.t, i.big = "none", big(s), true end
  end
  i.raw, i.s, i.hidden = value, s, form == "hidden"
  out[#out + 1] = i
end
local function elements(R, node, out, isPlain)
  local name, start = node[2], R.p
  local limit, isRest = count(R, node[3], name)
  local list = {n = name, k = "list", c = {}, o = start, isPlain = isPlain}
  local outer, number = R.start, 0
  while isRest and R.p < #R.s or not isRest and number < limit do
    local element = {n = name .. "[" .. number .. "]", k = "group", c = {}, o = R.p}
    R.start, number = R.p, number + 1
    run(R, node[4], element.c)
    element.l = R.p - element.o
    if isPlain then list.c[#list.c + 1] = element.c[1] and element.c or nil
    else
      if views[node[5]] then element.c = views[node[5]](element.c, R) end
      local c = element.c
      if c[1] and c[1].n == "name" and c[3] and c[3].n == "status" then
        element = item("parameter", "none", nil, c[1].t .. " = " .. c[3].t, element.o, element.l)
        element.whole = true
      end
      list.c[#list.c + 1] = element
    end
    if isRest and R.p == R.start then break end
  end
  R.start, list.l, list.count = outer, R.p - start, number
  if isPlain then
    local all = {}
    for index, one in ipairs(list.c) do all[index] = one[1].t end
    list.raws = list.c
    list.t = #all > 0 and table.concat(all, ", ") or "none"
    list.c = nil
  elseif number == 0 then
    list.t, list.c = "none", nil
  end
  out[#out + 1] = list
end
local function attempt(R, body)
  local start, out = R.p, {}
  local ok, problem = pcall(run, R, body, out)
  if ok then return out end
  if type(problem) ~= "table" then error(problem, 0) end
  R.p = start
end
local steps = {
  u = function(R, n, out) integer(R, n, out, false) end,
  i = function(R, n, out) integer(R, n, out, true) end,
  c = function(R, n, out)
    local o, width = R.p, quantity(R, n[4])
    local value = uint(R, width, n[2])
    R.env[n[5]] = value
    if n[3] == "Status" then R.status = value end
    local table = T.codes[n[3]]
    local i = table and code(n[2], value, table, o, width) or num(n[2], value, o, width)
    i.raw, i.code = value, n[3]
    out[#out + 1] = i
  end,
  b = function(R, n, out)
    local limit = count(R, n[4], n[2])
    local o, s = R.p, take(R, limit, n[2])
    local i = n[3] == "secret" and secret(n[2], s, o)
      or n[3] == "text" and item(n[2], "none", nil, plain(s), o, #s) or bytes(n[2], s, o)
    i.s, i.hidden = s, n[3] == "hidden"
    out[#out + 1] = i
  end,
  p = function(R, n, out) append(out, parameters(R, n[2], n[3])) end,
  d = function(R, n, out)
    local o, id, sub = R.p, uint(R, 1, "id"), nil
    if n[3] and n[3][id] then sub = uint(R, 1, "sub_id") end
    local r = row(n[2], sub and (id + 1) * 256 + sub or id, R.dialect, nil)
    out[#out + 1] = item("name", "none", nil, r and r.name or unnamed(n[2], id, sub), o, R.p - o)
    out[#out + 1] = num("id", id, o, 1)
  end,
  r = function(R, n)
    if quantity(R, n[3]) == 0 then fail(n[2] .. " cannot be read: its value is not known.") end
  end,
  l = function(R, n, out) elements(R, n, out, false) end,
  v = function(R, n, out) elements(R, n, out, true) end,
  g = function(R, n, out)
    local i = {n = n[2], k = "group", c = {}, o = R.p}
    run(R, n[3], i.c)
    i.l = R.p - i.o
    if views[n[4]] then i = views[n[4]](i, R) end
    out[#out + 1] = i
  end,
  a = function(R, n, out)
    if R.p >= #R.s and not (n[2] and R.status == 0) then return end
    if R.status == 0 then return run(R, n[3], out) end
    append(out, attempt(R, n[3]) or {})
  end,
  f = function(R, n, out)
    local start = R.p
    for _, mustEnd in ipairs({true, false}) do
      for _, body in ipairs(n[2]) do
        R.p = start
        local found = attempt(R, body)
        if found and (not mustEnd or R.p == #R.s) then return append(out, found) end
      end
    end
    R.p = start
    run(R, n[2][1], out)
  end,
  o = function(R, n, out)
    local isThere = holds(R, n[4], n[5])
    if isThere then run(R, n[6], out)
    elseif n[3] then out[#out + 1] = null(n[2], R.p, 0) end
    if n[7] then run(R, isThere and n[7] or n[8], out) end
  end,
  t = function(R, n, out)
    local found = attempt(R, n[2])
    append(out, found or {})
    if n[3] then run(R, found and n[3] or n[4], out) end
  end,
  h = function(R, n, out) run(R, holds(R, n[2], n[3]) and n[4] or n[5], out) end,
  s = function(R, n, out) run(R, n[4][n[3][R.env[n[2]]] or 1], out) end,
}
run = function(R, nodes, out)
  for _, node in ipairs(nodes) do steps[node[1]](R, node, out) end
end
local function reader(s, dialect) return {s = s, p = 0, env = {}, start = 0, dialect = dialect} end
local function shifted(list, by)
  for _, i in ipairs(list) do
    i.o = (i.o or 0) + by
    if i.c then shifted(i.c, by) end
  end
  return list
end
local function group(name, children, o, l) return {n = name, k = "group", c = children, o = o, l = l} end
local function listOf(name, list, o, l)
  if #list == 0 then return item(name, "none", nil, "none", o, 0) end
  return {n = name, k = "list", c = list, o = o, l = l}
end
-- Messages whose listing differs from their fields.
local function by(children)
  local found = {}
  for _, i in ipairs(children) do
    found[i.n] = found[i.n] or {}
    table.insert(found[i.n], i)
  end
  return function(name, index)
    local list = found[name] or {}
    return list[index or 1] or null(name, 0, 0)
  end
end
local function renamed(i, name) i.n = name return i end
local function scaled(i, name, divisor)
  return i.raw and dec(name, i.raw / divisor, i.o, i.l) or null(name, i.o, i.l)
end
local function choice(i, name, list)
  local all = {}
  for index, title in ipairs(list) do all[index - 1] = title end
  return code(name, i.raw, names(all), i.o, i.l)
end
local function addNLOS(out, i)
  if i.raw == 0 or i.raw == 1 then out[#out + 1] = flag("nlos", i.raw == 1, i.o, i.l) return end
  out[#out + 1] = null("nlos", i.o, i.l)
  if i.raw ~= 255 then out[#out + 1] = num("nlos_raw", i.raw, i.o, i.l) end
end
local function addAngles(out, get, list)
  for _, name in ipairs(list) do
    out[#out + 1] = scaled(get(name), name .. "_deg", 128)
    out[#out + 1] = renamed(get(name, 2), name .. "_fom")
  end
end
local function rssi(i)
  if i.raw == 0 or i.raw == 255 then return null("rssi_dbm", i.o, i.l) end
  return dec("rssi_dbm", -i.raw / 2, i.o, i.l)
end
-- The status of a measurement with a negative distance, and the one without error.
local negative = 0x1B
local measured = {}
local function withoutDistance(get)
  local out = {get("mac"), get("status"), null("distance_cm", 0, 0)}
  addAngles(out, get, {"azimuth", "elevation"})
  return out
end
measured[1] = function(get)
  local status, raw = get("status").raw, get("distance")
  local there = (status == 0 or status == negative) and raw.raw ~= 0xFFFF
  local out = {get("mac"), get("status"), there and
    item("distance_cm", "signed", status == negative and -raw.raw or raw.raw,
      int(status == negative and -raw.raw or raw.raw), raw.o, raw.l)
    or null("distance_cm", raw.o, raw.l)}
  addAngles(out, get, {"azimuth", "elevation", "destination_azimuth", "destination_elevation"})
  append(out, {get("slot"), rssi(get("rssi"))})
  addNLOS(out, get("nlos"))
  return out
end
measured[3] = function(get)
  local out = withoutDistance(get)
  append(out, {null("rssi_dbm", 0, 0), get("frame"), get("block")})
  addNLOS(out, get("nlos"))
  return out
end
measured[0] = function(get)
  local out, device = withoutDistance(get), get("device_id")
  append(out, {null("rssi_dbm", 0, 0), choice(get("frame_type"), "frame_type", {"TAG", "SYNC_ANCHOR"}),
    get("frame"), get("rx_timestamp"), get("tx_timestamp"), device})
  addNLOS(out, get("nlos"))
  return out
end
local function located(s, widths)
  local values, position = {}, 0
  for index, width in ipairs(widths) do
    local value = 0
    for first = 0, width - 1, 8 do
      for shift = math.min(first + 8, width) - 1, first, -1 do
        if bit(s:byte(floor(position / 8) + 1), 7 - position % 8) then value = value + 2 ^ shift end
        position = position + 1
      end
    end
    values[index] = value >= 2 ^ (width - 1) and value - 2 ^ width or value
  end
  return values
end
local function anchorLocation(type, i)
  local s = i.s or ""
  if type == 1 and #s == 12 then
    local v = located(s, {33, 33, 30})
    return group("anchor_location", {dec("latitude_deg", v[1] / 2 ^ 24, i.o, i.l),
      dec("longitude_deg", v[2] / 2 ^ 24, i.o, i.l), dec("altitude_m", v[3] / 2 ^ 21, i.o, i.l)},
      i.o, i.l)
  elseif type == 2 and #s == 10 then
    local v, out = located(s, {28, 28, 24}), {}
    for index, name in ipairs({"x", "y", "z"}) do
      out[index] = item(name, "signed", v[index], int(v[index]), i.o, i.l)
    end
    return group("anchor_location", out, i.o, i.l)
  end
  return null("anchor_location", i.o, i.l)
end
local function listed(i, name)
  local all = {}
  for index = 1, #(i.s or "") do all[index] = tostring(i.s:byte(index)) end
  return item(name, "none", nil, #all > 0 and table.concat(all, ", ") or "none", i.o, i.l)
end
local function downlink(get, tx, rx, more)
  local out, location = withoutDistance(get), get("location")
  append(out, {rssi(get("rssi")), choice(get("message"), "message", {"POLL", "RESPONSE", "FINAL"}),
    get("block"), get("round"),
    flag("common_time_base", bit(get("message_control").raw, 0), 0, 0), tx, rx,
    scaled(get("anchor_cfo"), "anchor_cfo_ppm", 1024), scaled(get("cfo"), "cfo_ppm", 1024),
    get("initiator_reply_time"), get("responder_reply_time"), get("time_of_flight"),
    location.s and location or null("location", 0, 0), listed(get("active_rounds"), "active_rounds")})
  append(out, more)
  addNLOS(out, get("nlos"))
  return out
end
measured[2] = function(get)
  return downlink(get, get("tx_timestamp"), get("rx_timestamp"),
    {anchorLocation(bits(get("message_control").raw, 5, 4), get("location"))})
end
measured[6] = function(get)
  local function time(name)
    local i = get(name)
    if #i.s < 1 or #i.s > 8 then return null(name, i.o, i.l) end
    return item(name, "none", nil, big(i.s), i.o, i.l)
  end
  local more, unknown = {get("supercluster_id")}, get("unknown")
  if unknown.s and #unknown.s > 0 then more[2] = unknown end
  return downlink(get, time("tx_timestamp"), time("rx_timestamp"), more)
end
views[0xC80] = function(out, R)
  local get = by(out)
  local type, list = get("type"), get("measurements")
  local new = {get("sequence"), get("session"), get("interval_ms"),
    choice(type, "type", {"UL_TDOA", "TWO_WAY", "DL_TDOA", "OWR_AOA", "0x04", "0x05", "DL_TDOA_V2"})}
  R.type, R.count = type.raw, list.count or 0
  for _, element in ipairs(list.c or {}) do element.c = measured[type.raw](by(element.c)) end
  if list.count then new[5] = list.c and list or item("measurements", "none", nil, "none", list.o, 0)
  else
    append(new, {item("measurements", "none", nil, "none", 0, 0), get("count"), get("payload")})
    new[6].hidden = false
  end
  return new
end
local function angle(R, hasFlag)
  local o = R.p
  local out = {dec("angle_deg", number(take(R, 2, "AoA"), 0, 2, true) / 128, o, 2),
    dec("pdoa_deg", number(take(R, 2, "PDoA"), 0, 2, true) / 128, o + 2, 2),
    num("index", uint(R, 2, "index"), o + 4, 2)}
  out[4] = hasFlag and num("field_of_view", uint(R, 1, "field"), o + 6, 1) or null("field_of_view", o, 0)
  return group("angle", out, o, R.p - o)
end
local function receiver(R, isLong)
  local o = R.p
  local out = {num("snr_first_db", uint(R, 1, "SNR"), o, 1), num("snr_main_db", uint(R, 1, "SNR"), o + 1, 1),
    dec("first_path_ns", uint(R, 2, "path") / 64, o + 2, 2), dec("main_path_ns", uint(R, 2, "path") / 64, o + 4, 2)}
  for index, name in ipairs({"snr_db", "rssi_dbm"}) do
    out[4 + index] = isLong and dec(name, number(take(R, 2, name), 0, 2, true) / 256, R.p - 2, 2)
      or null(name, o, 0)
  end
  return group("receiver", out, o, R.p - o)
end
local function octets(name, s, o) return listed({s = s, o = o, l = #s}, name) end
local function twoWayTail(s, count)
  local R = reader(s, {})
  local length = uint(R, 2, "length")
  if length == 0 or #s - 2 < length then return nil end
  local rest = reader(s, {})
  rest.p = 2 + length
  R.s = s:sub(1, 2 + length)
  local out, type = {}, uint(R, 1, "type")
  out[1] = num("type", type, 2, 1)
  local control = type == 0xA1 and uint(R, 4, "control") or nil
  out[2] = control and num("message_control", control, 3, 4) or null("message_control", 0, 0)
  out[3] = control and bit(control, 0) and num("tx_antenna", uint(R, 1, "antenna"), R.p - 1, 1)
    or null("tx_antenna", 0, 0)
  out[4] = num("wifi_coexistence", uint(R, 1, "Wi-Fi"), R.p - 1, 1)
  local mode = uint(R, 1, "mode")
  out[5] = choice({raw = mode, o = R.p - 1, l = 1}, "rx_mode",
    {"TOA", "AOA", "RADAR", "TOA_BY_FRAME", "AOA_BY_FRAME", "CSA", "CSA"})
  local antennas = take(R, uint(R, 1, "antennas"), "antennas")
  out[6] = octets("antennas", antennas, R.p - #antennas)
  take(R, 1, "debug mode")
  local debug = take(R, uint(R, 1, "debug"), "debug")
  out[7] = octets("debug_antennas", debug, R.p - #debug)
  local tag = null("authentication_tag", 0, 0)
  if #s > rest.p and uint(rest, 1, "authentication") ~= 0 then
    tag = bytes("authentication_tag", take(rest, 16, "tag"), rest.p - 16)
  end
  control = control or 0
  local isLong, second, millimetres = bit(control, 17), mode == 3 or mode == 4, bit(control, 16)
  local without = #debug * (isLong and 10 or 6) + (second and 2 or 0) + (millimetres and 4 or 0)
  local with = #antennas * (type == 0xA0 and 7 or 6) + without
  local there = #R.s - R.p
  if there ~= count * with and there ~= count * without then return nil end
  local hasAngles, list = there == count * with, {}
  for _ = 1, count do
    local o, angles, receivers, one = R.p, {}, {}, {}
    for index = 1, hasAngles and #antennas or 0 do angles[index] = angle(R, type == 0xA0) end
    for index = 1, #debug do receivers[index] = receiver(R, isLong) end
    one[1], one[2] = listOf("angles", angles, o, R.p - o), listOf("receivers", receivers, o, R.p - o)
    if second then one[3] = num("second_distance_cm", uint(R, 2, "distance"), R.p - 2, 2) end
    if millimetres then one[#one + 1] = num("distance_mm", uint(R, 4, "distance"), R.p - 4, 4) end
    list[#list + 1] = group("measurement", one, o, R.p - o)
  end
  append(out, {listOf("measurements", list, 2, length), tag})
  return out
end
local function oneWayTail(s, type, count)
  local R = reader(s, {generation = 2, vendor = "unknown"})
  local body = take(R, uint(R, 2, "vendor data"), "vendor data")
  local layout = type == 3 and T.extra.angles or type == 0 and T.extra.uplink
  if #body == 0 or not layout then return nil end
  local nodes, out = {}, {}
  for index, node in ipairs(layout) do
    nodes[index] = type == 3 and node[2] == "measurements" and {node[1], node[2], count, node[4], node[5]}
      or node
  end
  local inner = reader(body, R.dialect)
  inner.env.antennas = count
  run(inner, nodes, out)
  if inner.p ~= #body then return nil end
  return shifted(out, 2)
end
function views.tail(R, tail)
  local out = {bytes("vendor_tail", tail, R.p)}
  if R.dialect.vendor ~= "nxp" or #tail == 0 then return out end
  local ok, found
  if R.type == 1 then
    if #tail <= 2 then return out end
    ok, found = pcall(twoWayTail, tail, R.count)
  else
    ok, found = pcall(oneWayTail, tail, R.type, R.count)
  end
  if not ok and type(found) ~= "table" then error(found, 0) end
  if ok and found then out[2] = group("vendor", shifted(found, R.p), R.p, #tail) end
  return out
end
function views.UCIVersion(i)
  local major, rest = i.c[1].raw, i.c[2].raw
  local version = item(i.n, "none", nil, major .. "." .. floor(rest / 16) .. "." .. rest % 16, i.o, i.l)
  version.raw = major
  return version
end
function views.TestTimestamp(i)
  return dec(i.n, (i.c[1].raw + i.c[2].raw / 512) / 124.8, i.o, i.l)
end
local function qorvoInfo(s, o)
  if #s ~= 51 and #s ~= 52 then return nil end
  local width = #s - 48
  local base = width + 8
  local device = number(s, base + 35, 4)
  if floor(device / 65536) ~= 0xDECA then return nil end
  local firmware = s:byte(1) .. "." .. s:byte(2) .. "." .. s:byte(3)
  if width == 4 and s:byte(4) ~= 0 then firmware = firmware .. "-rc" .. s:byte(4) end
  return {item("vendor", "none", nil, "qorvo", o, #s), item("firmware", "none", nil, firmware, o, width),
    item("build", "none", nil, big(s:sub(width + 1, width + 8)), o + width, 8),
    item("oem_version", "none", nil, s:byte(base + 1) .. "." .. s:byte(base + 2) .. "." .. s:byte(base + 3),
      o + base, 3),
    bytes("soc_id", s:sub(base + 4, base + 35):gsub("%z+$", ""), o + base + 3),
    item("device_id", "none", nil, string.format("0x%X", device), o + base + 35, 4),
    choice({raw = s:byte(base + 40), o = o + base + 39, l = 1}, "packaging", {"SOC", "SIP"})}
end
local function nxpInfo(s, o)
  local found, R, first = {}, reader(s, {}), nil
  while R.p < #s do
    local id = uint(R, 1, "id")
    local value = take(R, uint(R, 1, "length"), "value")
    first = first or {id, value}
    if found[id] == nil then found[id] = value end
  end
  if not first or first[1] ~= 0 or #first[2] == 0 or first[2]:find("[^\32-\126]") then return nil end
  local function dotted(s)
    return s and (#s == 0 and "" or digits(s, "."):upper()) or "none"
  end
  local ppm = found[4] and #found[4] > 0 and found[4]:byte(1)
  return {item("vendor", "none", nil, "nxp", o, #s), item("device_name", "none", nil, found[0], o, #s),
    item("firmware", "none", nil, dotted(found[1]), o, #s),
    item("vendor_uci_version", "none", nil, dotted(found[2]), o, #s),
    found[3] and bytes("chip_id", found[3], o) or null("chip_id", o, 0),
    ppm and num("max_ppm", ppm, o, #s) or null("max_ppm", o, 0)}
end
views[0x802] = function(out, R)
  if #out < 6 then return out end
  local info = out[#out]
  local ok, nxp = pcall(nxpInfo, info.s, info.o)
  if not ok and type(nxp) ~= "table" then error(nxp, 0) end
  local qorvo = qorvoInfo(info.s, info.o)
  local details = qorvo or ok and nxp or {}
  R.learned = {generation = math.min(math.max(out[2].raw, 1), 3),
    vendor = qorvo and "qorvo" or #details > 0 and "nxp" or nil}
  out[#out] = nil
  append(out, details)
  out[#out + 1] = info
  return out
end
views[0xEE2] = function(out, R)
  if R.dialect.vendor ~= "nxp" then return out end
  local get = by(out)
  local frames, list, isMixed = get("frames"), {}, false
  for index, raw in ipairs(frames.raws or {}) do
    local i, fields = raw[1], {}
    if #i.s >= 99 then
      local inner = reader(i.s, R.dialect)
      local all, times = {}, {}
      run(inner, T.extra.frame, fields)
      shifted(fields, i.o)
      for _, f in ipairs(fields) do if f.n ~= "nlos" then all[#all + 1] = f end end
      local found = by(fields)
      all[#all + 1] = dec("rx_time_us", (found("rx_time").raw + found("rx_time_fraction").raw / 512) / 124.8,
        i.o, i.l)
      addNLOS(all, found("nlos"))
      list[index], isMixed = group("frame", all, i.o, i.l), true
    else
      list[index] = i
    end
  end
  if isMixed then frames.c, frames.t = list, nil end
  return {get("session"), get("sequence"), get("tx_antenna"), frames}
end
views[0xEC0] = function(out, R)
  if R.dialect.vendor ~= "qorvo" then return out end
  local get, all = by(out), {}
  for index, raw in ipairs(get("rssi").raws or {}) do
    all[index] = decimal(-math.min(raw[1].raw, 32768) / 256)
  end
  local angles, carrier = get("angles").raws, get("carrier_offset").raw
  if carrier and carrier >= 2 ^ 31 then carrier = carrier - 2 ^ 32 end
  return {item("rssi_dbm", "none", nil, #all > 0 and table.concat(all, ", ") or "none", 0, 0),
    renamed(get("noise"), "noise"), dec("azimuth_deg", angles[1][1].raw / 128, 0, 0),
    dec("elevation_deg", angles[2][1].raw / 128, 0, 0),
    carrier and dec("carrier_offset_ppm", carrier / 2 ^ 26 * 1e6, 0, 0) or null("carrier_offset_ppm", 0, 0)}
end
-- Diagnostics.
local function segment(id, o)
  return {choice({raw = id % 8, o = o, l = 1}, "segment", {"IPATOV", "STS0", "STS1", "STS2", "STS3"}),
    flag("primary", bit(id, 3), o, 1), num("receiver", floor(id / 16), o, 1)}
end
local function path(R, name)
  local o, out = R.p, {}
  for index, field in ipairs({"index", "level_raw", "time_raw"}) do
    out[index] = num(field, uint(R, 2, name), R.p - 2, 2)
  end
  return group(name, out, o, 6)
end
local diagnostics = {
  [0] = function(R) return {octets("rssi", take(R, #R.s, "rssi"), 0)} end,
  [1] = function(R)
    local list = {}
    while R.p < #R.s do
      local o, tdoa = R.p, number(take(R, 2, "TDoA"), 0, 2, true)
      local pdoa, aoa = number(take(R, 2, "PDoA"), 0, 2, true), number(take(R, 2, "AoA"), 0, 2, true)
      local fom, axis = uint(R, 1, "FoM"), uint(R, 1, "axis")
      list[#list + 1] = group("angle", {choice({raw = axis, o = o + 7, l = 1}, "axis", {"X", "Y", "Z"}),
        dec("angle_deg", aoa / 2048 * 180 / math.pi, o + 4, 2), dec("pdoa_rad", pdoa / 2048, o + 2, 2),
        item("tdoa_raw", "signed", tdoa, int(tdoa), o, 2), num("fom", fom, o + 6, 1)}, o, 8)
    end
    return {listOf("angles", list, 0, #R.s)}
  end,
  [3] = function(R)
    local value = uint(R, 2, "frame status")
    return {flag("received", bit(value, 0), 0, 2), flag("wifi_coexistence", bit(value, 1), 0, 2),
      flag("grant_exceeded", bit(value, 2), 0, 2)}
  end,
  [4] = function(R) return {dec("cfo_ppm", number(take(R, 4, "CFO"), 0, 4, true) / 67.108864, 0, 4)} end,
  [5] = function(R) return {item("mac", "none", nil, address(take(R, 2, "emitter")), 0, 2)} end,
  [6] = function(R)
    local list = {}
    while R.p < #R.s do
      local o = R.p
      local out = segment(uint(R, 1, "segment"), o)
      local noise = number(take(R, 2, "noise"), 0, 2, true)
      append(out, {item("noise_raw", "signed", noise, int(noise), o + 1, 2),
        dec("level_dbm", -uint(R, 2, "level") / 256, o + 3, 2), path(R, "first_path"), path(R, "peak_path")})
      list[#list + 1] = group("segment", out, o, R.p - o)
    end
    return {listOf("segments", list, 0, #R.s)}
  end,
  [7] = function(R)
    for _, parts in ipairs({1, 2}) do
      local list = {}
      local ok, err = pcall(function()
        R.p = 0
        while R.p < #R.s do
          local o = R.p
          local out = segment(uint(R, 1, "segment"), o)
          local first, count, size = uint(R, 1, "path"), uint(R, 1, "samples"), uint(R, 1, "size")
          local samples = take(R, count * size * parts, "samples")
          append(out, {num("first_path", first, o + 1, 1), num("count", count, o + 2, 1),
            num("sample_size", size, o + 3, 1), bytes("samples", samples, o + 4)})
          list[#list + 1] = group("response", out, o, R.p - o)
        end
      end)
      if not ok and type(err) ~= "table" then error(err, 0) end
      if ok then return {listOf("responses", list, 0, #R.s)} end
    end
  end,
}
function views.Item(children, R)
  local kind, value = children[1], children[2]
  local read = diagnostics[kind.raw]
  if not read then return children end
  local inner = reader(value.s, R.dialect)
  local ok, found = pcall(read, inner)
  if not ok and type(found) ~= "table" then error(found, 0) end
  if not ok or not found or inner.p ~= #value.s then return children end
  local out = {kind}
  append(out, shifted(found, value.o))
  return out
end
local function dissect(s, key, dialect)
  local entry = T.messages[dialect.vendor][key]
  local kind, mayHaveKeys = floor(key / 1024), T.keys[dialect.vendor][key]
  local R, out = reader(s, dialect), {}
  local rest = function(name, s, o)
    return mayHaveKeys and secret(name, s, o) or bytes(name, s, o)
  end
  if type(entry) == "table" then entry = entry[dialect.generation] end
  local problem
  if entry then
    local ok, err = pcall(run, R, T.layouts[entry], out)
    if not ok then
      if type(err) ~= "table" then error(err, 0) end
      problem, out, R.p = err.problem, {}, 0
    end
  end
  if not entry or problem then
    if kind == 2 and #s > 0 then
      R.status = s:byte(1)
      out[1] = code("status", s:byte(1), T.codes.Status, 0, 1)
    end
    if problem then
      out[#out + 1] = item("problem", "none", nil, problem, 0, #s)
      out[#out].isProblem = true
    end
    out[#out + 1] = rest("payload", s, 0)
    return out, R
  end
  local tail = s:sub(R.p + 1)
  if views[key] then out = views[key](out, R, tail) end
  if key == 0xC80 then append(out, views.tail(R, tail))
  elseif #tail > 0 then out[#out + 1] = rest("trailing", tail, R.p) end
  return out, R
end
-- Fields, which filters and columns use.
local fields, abbreviations = {}, {}
for name in ("mt gid oid pbf length name parameter request_in response_in malformed wrong_length cut " ..
  "refused unexpected unanswered"):gmatch("%S+") do abbreviations["uwbuci." .. name] = true end
local makers = {number = ProtoField.uint32, signed = ProtoField.int32, double = ProtoField.double,
  bool = ProtoField.bool, bytes = ProtoField.bytes, none = ProtoField.string, parameter = ProtoField.string}
local function field(name, kind)
  local key = name .. "/" .. kind
  if fields[key] or not makers[kind] or not name:match("^[%w_]+$") then return end
  if kind == "number" and fields[name .. "/signed"] then
    fields[key] = fields[name .. "/signed"]
    return
  end
  local abbreviation = "uwbuci." .. name:lower()
  if abbreviations[abbreviation] then abbreviation = abbreviation .. "." .. kind end
  if abbreviations[abbreviation] then return end
  abbreviations[abbreviation] = true
  fields[key] = makers[kind](abbreviation, name)
end
local function collect(nodes)
  for _, node in ipairs(nodes) do
    if type(node) ~= "table" or type(node[1]) ~= "string" then return end
    local op, form = node[1], node[3]
    if op == "u" or op == "i" then
      local text = form == "short" or form == "mac" or form == "any" or type(node[4]) == "table" or node[4] and node[4] > 4
      if type(form) == "table" and form.scale then field(node[2], "double")
      elseif form == "flag" then field(node[2], "bool")
      elseif form ~= "hidden" then field(node[2], text and "none" or op == "i" and "signed" or "number") end
    elseif op == "c" then field(node[2], "number")
    elseif op == "b" then field(node[2], form == "text" and "none" or "bytes")
    end
    for index = 2, 8 do
      if type(node[index]) == "table" then
        local first = node[index][1]
        if type(first) == "table" and type(first[1]) == "string" then collect(node[index])
        elseif type(first) == "table" then for _, body in ipairs(node[index]) do collect(body) end end
      end
    end
  end
end
for kind, list in pairs({
  double = "azimuth_deg elevation_deg destination_azimuth_deg destination_elevation_deg rssi_dbm " ..
    "anchor_cfo_ppm cfo_ppm latitude_deg longitude_deg altitude_m angle_deg pdoa_deg pdoa_rad " ..
    "first_path_ns main_path_ns snr_db level_dbm rx_time_us tx_time_us carrier_offset_ppm",
  signed = "distance_cm x y z tdoa_raw noise_raw",
  bool = "nlos common_time_base received wifi_coexistence grant_exceeded primary",
  number = "nlos_raw azimuth_fom elevation_fom destination_azimuth_fom destination_elevation_fom " ..
    "rx_mode second_distance_cm distance_mm frame_type segment axis fom max_ppm",
  bytes = "payload trailing vendor_tail chip_id soc_id authentication_tag",
  none = "problem vendor firmware device_name build oem_version device_id"}) do
  for name in list:gmatch("%S+") do field(name, kind) end
end
for _, layout in ipairs(T.layouts) do collect(layout) end
for _, layout in pairs(T.extra) do collect(layout) end
local f = {
  type = ProtoField.uint8("uwbuci.mt", "Message type", base.DEC, kinds),
  gid = ProtoField.uint8("uwbuci.gid", "Group", base.HEX), oid = ProtoField.uint8("uwbuci.oid", "Opcode", base.HEX),
  more = ProtoField.bool("uwbuci.pbf", "More segments follow"),
  length = ProtoField.uint32("uwbuci.length", "Length"), name = ProtoField.string("uwbuci.name", "Message"),
  parameter = ProtoField.string("uwbuci.parameter", "Parameter"),
  request = ProtoField.framenum("uwbuci.request_in", "Request in", base.NONE, frametype.REQUEST),
  response = ProtoField.framenum("uwbuci.response_in", "Response in", base.NONE, frametype.RESPONSE),
}
local all = {}
for _, one in pairs(f) do all[#all + 1] = one end
for key, one in pairs(fields) do
  if not (key:match("/number$") and fields[key:gsub("/number$", "/signed")]) then all[#all + 1] = one end
end
proto.fields = all
local experts = {
  problem = ProtoExpert.new("uwbuci.malformed", "The layout does not fit", expert.group.MALFORMED, expert.severity.ERROR),
  length = ProtoExpert.new("uwbuci.wrong_length", "The header announces another length", expert.group.MALFORMED, expert.severity.WARN),
  cut = ProtoExpert.new("uwbuci.cut", "The packet was cut when captured", expert.group.MALFORMED, expert.severity.WARN),
  status = ProtoExpert.new("uwbuci.refused", "The chip reports an error", expert.group.RESPONSE_CODE, expert.severity.WARN),
  trailing = ProtoExpert.new("uwbuci.unexpected", "Bytes follow the known fields", expert.group.UNDECODED, expert.severity.NOTE),
  unanswered = ProtoExpert.new("uwbuci.unanswered", "No response was captured", expert.group.SEQUENCE, expert.severity.NOTE),
}
local list = {}
for _, one in pairs(experts) do list[#list + 1] = one end
proto.experts = list

-- State of the capture, by the number of the frame.
local frames, dialect, joins, pending
function proto.init()
  frames, pending = {}, {}
  dialect = {vendor = "unknown", generation = 2}
  joins = {chip = {control = {}, data = {}}, host = {control = {}, data = {}}}
end
local function dialectNow()
  local vendor = proto.prefs.vendor
  return {vendor = vendor > 0 and vendors[vendor] or dialect.vendor, generation = dialect.generation}
end
local function isExact(s, key, now)
  local out, R = dissect(s, key, now)
  return T.messages[now.vendor][key] and R.p == #s and not (out[2] and out[2].isProblem)
    and not (out[1] and out[1].isProblem)
end
-- Adds a segment; returns the message that it ends, or nil.
local function join(s, kind, key, more, now)
  local isHost = kind == 1 or key == 64
  local part = joins[isHost and "host" or "chip"][kind == 0 and "data" or "control"]
  if part.key and part.key ~= key then part.key = nil end
  if not part.key then
    if not more then return s end
    part.key, part.s = key, ""
  end
  if #part.s + #s > 65536 then part.key = nil return nil end
  part.s = part.s .. s
  if more then return nil end
  part.key = nil
  if isExact(s, key, now) and not isExact(part.s, key, now) then return s end
  return part.s
end
local function title(kind, key, now)
  local group, oid = bits(key, 6, 16), key % 64
  local name = T.titles[now.vendor][key]
  if kind == 0 then return name or string.format("DATA_0x%X", group) end
  if kind > 3 then return string.format("RESERVED_%d_0x%X_%s", kind, group, hex(oid)) end
  return (name or string.format("%s_0x%X_%s", group >= 9 and "VENDOR" or "GROUP", group, hex(oid)))
    .. ({"_CMD", "_RSP", "_NTF"})[kind]
end
local function first(s, kind, key, more, frame)
  local state = {dialect = dialectNow(), more = more}
  state.whole = join(s, kind, key, more, state.dialect)
  if state.whole then
    local _, R = dissect(state.whole, key, state.dialect)
    if R.learned then
      dialect = {vendor = R.learned.vendor or dialect.vendor, generation = R.learned.generation}
      state.dialect = dialectNow()
    end
    state.status = kind == 2 and state.whole:byte(1) or nil
  end
  local opcode = key % 1024
  if kind == 1 and not more then
    pending[opcode] = state
    state.frame = frame
  elseif kind == 2 and pending[opcode] and not more then
    state.request, pending[opcode].response = pending[opcode].frame, frame
    pending[opcode] = nil
  end
  return state
end
local function show(tree, tvb, i)
  if i.hidden then return end
  local o = math.min(i.o or 0, tvb:len())
  local range = tvb(o, math.max(0, math.min(i.l or 0, tvb:len() - o)))
  if i.c then
    local inner = tree:add(range, i.n .. ":")
    for _, child in ipairs(i.c) do show(inner, tvb, child) end
    return
  end
  local label = i.whole and i.t or i.n .. ": " .. i.t
  local known = i.whole and f.parameter or fields[i.n .. "/" .. i.k]
  local added
  if not known or i.k == "none" and i.t == "none" and not i.whole then added = tree:add(range, label)
  elseif i.k == "none" or i.whole then added = tree:add(known, range, i.t, label)
  elseif i.k == "bytes" then
    added = i.l > 0 and tree:add(known, range) or tree:add(range, label)
    added:set_text(label)
  elseif i.k == "number" or i.k == "signed" then added = tree:add(known, range, floor(i.v), label)
  else added = tree:add(known, range, i.v, label) end
  if i.isProblem then added:add_proto_expert_info(experts.problem, i.t) end
  if i.n == "trailing" then added:add_proto_expert_info(experts.trailing) end
end
local function header(subtree, tvb, kind, oid, length)
  local byte = tvb(0, 1):uint()
  subtree:add(f.type, tvb(0, 1), kind)
  subtree:add(f.more, tvb(0, 1), bit(byte, 4))
  subtree:add(f.gid, tvb(0, 1), byte % 16)
  if kind > 0 then subtree:add(f.oid, tvb(1, 1), oid) end
  local i = subtree:add(f.length, tvb(2, 2), length)
  return i
end
local function announced(s, kind)
  local isLong = kind == 0 or kind > 3 or s:byte(2) >= 128
  local length = isLong and number(s, 2, 2) or s:byte(4)
  -- Some firmware writes the fourth byte only.
  if isLong and length ~= #s - 4 and s:byte(4) == #s - 4 then return #s - 4 end
  return length
end
function proto.dissector(tvb, pinfo, tree)
  local size = tvb:reported_length_remaining()
  if tvb:len() < 4 then return 0 end
  local s = tvb:raw(0, tvb:len())
  local kind = bits(s:byte(1), 5, 8)
  local oid = kind >= 1 and kind <= 3 and s:byte(2) % 64 or 0
  local key = kind * 1024 + s:byte(1) % 16 * 64 + oid
  local more, payload = bit(s:byte(1), 4), s:sub(5)
  if not frames[pinfo.number] then frames[pinfo.number] = first(payload, kind, key, more, pinfo.number) end
  local state = frames[pinfo.number]
  local name = title(kind, key, state.dialect)
  pinfo.cols.protocol = "UWBUCI"
  local subtree = tree:add(proto, tvb(), "UWB Command Interface, " .. name)
  local length = header(subtree, tvb, kind, oid, #payload)
  if announced(s, kind) ~= size - 4 then length:add_proto_expert_info(experts.length) end
  if tvb:len() < size then length:add_proto_expert_info(experts.cut) end
  subtree:add(f.name, tvb(0, 4), name)
  if state.request then subtree:add(f.request, tvb(0, 0), state.request):set_generated() end
  if state.response then subtree:add(f.response, tvb(0, 0), state.response):set_generated() end
  if state.frame and pinfo.visited and not state.response then
    subtree:add_proto_expert_info(experts.unanswered)
  end
  local info = name
  if not state.whole then
    local hidden = T.keys[state.dialect.vendor][key]
    show(subtree, tvb, (hidden and secret or bytes)("payload", payload, 4))
    pinfo.cols.info = info .. ", more segments follow"
    return tvb:len()
  end
  local source, offset = tvb, 4
  if #state.whole ~= #payload then
    source, offset = ByteArray.new(digits(state.whole, ""):gsub("^none$", "")):tvb("Message"), 0
    info = info .. ", last segment of " .. #state.whole .. " bytes"
  end
  for _, i in ipairs(shifted((dissect(state.whole, key, state.dialect)), offset)) do
    show(subtree, source, i)
    local text = (i.n == "status" or i.n == "state" or i.n == "reason" or i.n == "session") and i.t
    if text then info = info .. ", " .. i.n .. " " .. text:gsub(" %(.*", "") end
  end
  if state.status and state.status ~= 0 then
    subtree:add_proto_expert_info(experts.status,
      (T.codes.Status.words or {})[state.status] or T.codes.Status.names[state.status]
        or "STATUS_" .. hex(state.status))
  end
  pinfo.cols.info = info
  return tvb:len()
end
-- Wireshark 4.2 and later have a name for the link type and a dissector of their own.
local types = DissectorTable.get("wtap_encap")
local number299 = wtap and wtap.FIRA_UCI or wtap_encaps and wtap_encaps.FIRA_UCI or 0
types:add(number299, proto)
