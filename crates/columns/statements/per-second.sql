-- What was spent in each second, by event.
SELECT date_trunc('second', ts) AS moment, event, sum(period) AS value, count(*) AS samples
FROM samples
GROUP BY date_trunc('second', ts), event
ORDER BY moment, event
LIMIT 100
