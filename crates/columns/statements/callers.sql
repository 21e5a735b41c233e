-- Callers of a function, here malloc, by what was spent below each call.
SELECT c.caller AS caller, sum(w.value) AS value
FROM (SELECT stack_id, sum(period) AS value FROM samples GROUP BY stack_id) w
JOIN (
    SELECT DISTINCT callee.stack_id AS stack_id, outer_frame.symbol AS caller
    FROM stack_frames callee
    JOIN stack_frames outer_frame
      ON outer_frame.stack_id = callee.stack_id AND outer_frame.depth = callee.depth + 1
    WHERE callee.symbol = 'malloc'
) c ON c.stack_id = w.stack_id
GROUP BY c.caller
ORDER BY value DESC, caller
LIMIT 20
