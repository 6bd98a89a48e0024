import { createHash } from "node:crypto";

export type RedisScript = { lua: string; sha: string };

/**
 * gcra.ts and lease.ts in Lua. Callers pass prices in time, so only `drainBacklog`, `hasRoom` and `hasFreeLease` are
 * duplicated; tests compare both on random sequences. Numbers are returned as text with 17 digits, because Redis
 * truncates Lua numbers to integers.
 */
const common = `
-- The clock of Redis, so that all gateways share one. Tests pass theirs, and then keys must not expire in real time.
local now = tonumber(ARGV[1])
local isRealTime = now == nil
if isRealTime then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

local function text(number)
  return string.format('%.17g', number)
end
local nowText = text(now)

local function readBacklog(key)
  local mark = redis.call('GET', key)
  if not mark then return 0, now end
  local backlog, at = string.match(mark, '(%S+) (%S+)')
  at = tonumber(at)
  return math.max(0, tonumber(backlog) - math.max(0, now - at)), at
end

local function keepBacklog(key, backlog)
  if backlog <= 0 then
    redis.call('DEL', key)
  elseif isRealTime then
    redis.call('SET', key, text(backlog) .. ' ' .. nowText, 'PX', math.ceil(backlog / 1000))
  else
    redis.call('SET', key, text(backlog) .. ' ' .. nowText)
  end
end

local function keepLease(key, id, ttlMs)
  redis.call('ZADD', key, text(now + ttlMs * 1000), id)
  -- The key must live as long as its longest lease.
  if isRealTime and redis.call('PTTL', key) < ttlMs then
    redis.call('PEXPIRE', key, ttlMs)
  end
end
`;

/**
 * KEYS: the rates', then the leases'. ARGV: now, number of rates; for each rate needed, capacity, charged; for each
 * lease max, id, ttl in ms. Returns whether all passed; for each rate the previous backlog; for each lease the number of
 * live ones, whether it is held, and the microseconds until one more fits (-1: never, or now).
 */
export const takeScript = createScript(`
local rateCount = tonumber(ARGV[2])
local isAllowed = true
local backlogs, answer = {}, { '1' }

for i = 1, rateCount do
  local needed, capacity, charged = tonumber(ARGV[3 * i]), tonumber(ARGV[3 * i + 1]), tonumber(ARGV[3 * i + 2])
  local backlog, at = readBacklog(KEYS[i])
  if at > now then keepBacklog(KEYS[i], backlog) end
  if charged > 0 and backlog + needed > capacity then isAllowed = false end
  backlogs[i] = backlog
  answer[#answer + 1] = text(backlog)
end

for i = rateCount + 1, #KEYS do
  local key, max, id = KEYS[i], tonumber(ARGV[3 * i]), ARGV[3 * i + 1]
  redis.call('ZREMRANGEBYSCORE', key, '-inf', nowText)
  local live = redis.call('ZCARD', key)
  local isHeld = redis.call('ZSCORE', key, id) and 1 or 0
  local freeIn = -1
  if isHeld == 0 and live >= max then
    isAllowed = false
    local ending = redis.call('ZRANGE', key, live - max, live - max, 'WITHSCORES')
    if ending[2] then freeIn = tonumber(ending[2]) - now end
  end
  answer[#answer + 1] = text(live)
  answer[#answer + 1] = text(isHeld)
  answer[#answer + 1] = text(freeIn)
end

if not isAllowed then
  answer[1] = '0'
  return answer
end
for i = 1, rateCount do
  local charged = tonumber(ARGV[3 * i + 2])
  if charged > 0 then keepBacklog(KEYS[i], backlogs[i] + charged) end
end
for i = rateCount + 1, #KEYS do
  keepLease(KEYS[i], ARGV[3 * i + 1], tonumber(ARGV[3 * i + 2]))
end
return answer
`);

/** KEYS: the rate's. ARGV: now, what to add to the backlog. */
export const correctScript = createScript(`
keepBacklog(KEYS[1], readBacklog(KEYS[1]) + tonumber(ARGV[2]))
`);

/** KEYS: the lease's. ARGV: now, id, ttl in ms. */
export const renewScript = createScript(`
local ending = redis.call('ZSCORE', KEYS[1], ARGV[2])
if ending and tonumber(ending) > now then keepLease(KEYS[1], ARGV[2], tonumber(ARGV[3])) end
`);

function createScript(body: string): RedisScript {
  const lua = common + body;
  return { lua, sha: createHash("sha1").update(lua).digest("hex") };
}
