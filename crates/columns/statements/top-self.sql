-- Functions by what was spent in them alone.
SELECT symbol, dso, sum(period) AS value, count(*) AS samples
FROM profile
GROUP BY symbol, dso
ORDER BY value DESC, symbol, dso
LIMIT 20
