-- Drives Pktgen without anybody at its prompt: one JSON object a line to a file of its own, because the screen, the log
-- and the script share stdout. Works with 19.x to 26.x: it asks for the interface, not for the version.
local out = assert(io.open(@OUT@, "w"))
out:setvbuf("line")

local function quoted(s)
  return '"' .. s:gsub('[%c"\\\127-\255]', function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
end

local function json(v, depth)
  if type(v) == "table" and depth < 8 then
    local fields = {}
    for k, x in pairs(v) do fields[#fields + 1] = quoted(tostring(k)) .. ":" .. json(x, depth + 1) end
    return "{" .. table.concat(fields, ",") .. "}"
  elseif type(v) == "number" and v == v and v ~= math.huge and v ~= -math.huge then return tostring(v)
  elseif type(v) == "boolean" then return tostring(v)
  end
  return quoted(tostring(v))
end

local function emit(kind, fields)
  fields.kind = kind
  out:write(json(fields, 0), "\n")
end

-- os.clock counts CPU time of two spinning threads, os.time whole seconds; this is neither.
local function uptime()
  local f = assert(io.open("/proc/uptime"))
  local line = f:read("l")
  f:close()
  return tonumber(line:match("^%S+"))
end

local function counters()
  local ok, stats = pcall(pktgen.portStats, "all", "port")
  if not ok then stats = pktgen.portStats("all") end
  local ports = {}
  for id, port in pairs(stats) do
    if type(id) == "number" then ports[id] = port.curr or port end
  end
  return ports
end

local function try(kind, f, ...)
  if f == nil then return end
  local ok, v = pcall(f, ...)
  if ok and type(v) == "table" then emit(kind, v) end
end

local function main()
  pktgen.screen("off")
  try("info", function() return pktgen.info end)
  try("linkState", pktgen.linkState, "all")
  pktgen.set("all", "count", 0)
  pktgen.set("all", "size", @SIZE@)
  pktgen.set("all", "rate", @RATE@)
  pktgen.clr()
  pktgen.start("all")
  for _ = 0, @SECONDS@ do
    emit("sample", {uptime_s = uptime(), ports = counters()})
    pktgen.delay(1000)
  end
  try("pktStats", pktgen.pktStats, "all")
  try("portInfo", pktgen.portInfo, "all")
  pktgen.stop("all")
  pktgen.delay(1500)
  emit("final", counters())
end

local ok, err = xpcall(main, debug.traceback)
emit("done", {ok = ok, err = ok and "" or tostring(err)})
out:close()
pktgen.quit()
