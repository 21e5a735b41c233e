-- The first three functions of each command, by a window over its rows.
SELECT comm, place, symbol, value
FROM (
    SELECT comm, symbol, value, row_number() OVER (PARTITION BY comm ORDER BY value DESC, symbol) AS place
    FROM (SELECT comm, symbol, sum(period) AS value FROM profile GROUP BY comm, symbol) v
) p
WHERE place <= 3
ORDER BY comm, place
LIMIT 100
