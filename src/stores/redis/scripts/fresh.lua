-- Included where `head`, `tail` and `lifetime` of a claim and its `number` are known: the record of a name that
-- nobody else holds or waits for.
local record = UNCONTENDED .. pack('<ddd', now + lifetime * 1000 - 10001000, now, number) .. head ..
    pack('<d', now) .. tail
