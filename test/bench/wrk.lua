-- Sends the requests of a file in turns: each line is a path and a token.
local requests, at = {}, 0

function init(args)
  for line in io.lines(args[1]) do
    local path, token = line:match("^(%S+) (%S+)$")
    requests[#requests + 1] = wrk.format("GET", path, {["client-id"] = "bench", ["authorization"] = "Bearer " .. token})
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format('{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"errors":%d}\n', summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end
