-- Functions by what was spent in them and in all that they called: once a stack, however often a function stands in it.
SELECT f.symbol AS symbol, sum(w.value) AS value
FROM (SELECT stack_id, sum(period) AS value FROM samples GROUP BY stack_id) w
JOIN (SELECT DISTINCT stack_id, symbol FROM stack_frames) f ON f.stack_id = w.stack_id
GROUP BY f.symbol
ORDER BY value DESC, symbol
LIMIT 20
