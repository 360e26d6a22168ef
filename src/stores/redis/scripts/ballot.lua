-- Included where a submit has a ballot: whether it may be the sequence of the claim, by the rules of
-- src/stores/lease. A function only then: to make one costs more than a command.
-- KEYS: 8 the last ballot of the name, 9 those of all names by their age. ARGV: 16 ballot, 17 repairs.
-- Reads: ballot, ballots. Writes: the same, when it may. Publishes nothing.
vote = function()
    local number, last = tonumber(ARGV[16]), tonumber(call('GET', KEYS[8]) or 0) or 0
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
    if ARGV[17] ~= '1' and number <= highest then return nil, highest end
    call('SET', KEYS[9], pack('<dddd', window, math.max(recent, number), older, floor))
    call('SET', KEYS[8], string.format('%.0f', math.max(last, number)), 'PX', '10001')
    return number
end
