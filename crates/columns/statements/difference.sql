-- Difference of two selections, here of the first and the second half of the time: functions by how much more the second spent in them.
SELECT p.symbol AS symbol,
       sum(CASE WHEN 2 * p.time < r.first_time + r.last_time THEN p.period ELSE 0 END) AS value_before,
       sum(CASE WHEN 2 * p.time < r.first_time + r.last_time THEN 0 ELSE p.period END) AS value_after,
       sum(CASE WHEN 2 * p.time < r.first_time + r.last_time THEN -p.period ELSE p.period END) AS change
FROM (SELECT min(time) AS first_time, max(time) AS last_time FROM samples) r
CROSS JOIN profile p
GROUP BY p.symbol
ORDER BY change DESC, symbol
LIMIT 20
