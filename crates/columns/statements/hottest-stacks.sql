-- Stacks by what was spent in them: a flame graph with --flame.
SELECT w.stack_id AS stack_id, w.value AS value, s.symbol AS symbol
FROM (SELECT stack_id, sum(period) AS value FROM samples GROUP BY stack_id) w
JOIN stacks s ON s.stack_id = w.stack_id
ORDER BY value DESC, stack_id
LIMIT 20
