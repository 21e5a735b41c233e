-- Difference of two selections, here of two CPUs: functions by how much more the second spent in them.
SELECT symbol,
       sum(CASE WHEN cpu = 0 THEN period ELSE 0 END) AS value_before,
       sum(CASE WHEN cpu = 1 THEN period ELSE 0 END) AS value_after,
       sum(CASE WHEN cpu = 1 THEN period WHEN cpu = 0 THEN -period ELSE 0 END) AS change
FROM profile
GROUP BY symbol
ORDER BY change DESC, symbol
LIMIT 20
