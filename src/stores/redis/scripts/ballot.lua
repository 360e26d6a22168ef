-- Included where a submit has a ballot and the name could be had without one: whether the ballot may be the sequence
-- of the claim, by the rules of src/stores/lease. Leaves `number`, nil when it may not, and `highest`, which the next
-- one has to exceed.
-- The name's own is kept for longer than it is needed: keys end by a time that the server took before our `now`.
-- KEYS: 8 the last ballot of the name, 9 those of all names by their age. ARGV: 7 ballot, 8 repairs.
-- Reads: ballot, ballots. Writes: the same, when it may. Publishes nothing.
local number, last = tonumber(ARGV[7]), tonumber(call('GET', KEYS[8]) or 0) or 0
local window, recent, older, floor = 0, 0, 0, 0
local ages = call('GET', KEYS[9])
if ages and #ages == 32 then window, recent, older, floor = unpack_from('<dddd', ages) end
local current = math.floor(now / 5000000)
if current ~= window then
    floor = math.max(floor, older)
    if current ~= window + 1 then floor, recent = math.max(floor, recent), 0 end
    window, older, recent = current, recent, 0
end
local highest = math.max(last, floor)
if ARGV[8] ~= '1' and number <= highest then
    number = nil
else
    call('SET', KEYS[9], pack('<dddd', window, math.max(recent, number), older, floor))
    call('SET', KEYS[8], string.format('%.0f', math.max(last, number)), 'PX', '11000')
end
