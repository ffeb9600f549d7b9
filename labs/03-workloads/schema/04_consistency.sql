-- Does every number that is kept twice agree with its other copy? After any mix, roll-back, deadlock, crash or failover
-- every count below must be 0. The conditions are those of the TPC-C specification, clause 3.3.2 (1 to 10 and 12).
SELECT condition, violations
FROM (
    SELECT 1 AS number, '1 warehouse year to date = sum of its districts' AS condition, COUNT(*) AS violations
    FROM dbo.warehouse
    WHERE w_ytd <> (SELECT SUM(d_ytd) FROM dbo.district WHERE d_w_id = w_id)
    UNION ALL
    SELECT 2, '2 next order id - 1 = highest order = highest open order', COUNT(*)
    FROM dbo.district AS d
    JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS last_o FROM dbo.orders GROUP BY o_w_id, o_d_id) AS o
        ON o.o_w_id = d.d_w_id AND o.o_d_id = d.d_id
    LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS last_no FROM dbo.open_order GROUP BY no_w_id, no_d_id) AS n
        ON n.no_w_id = d.d_w_id AND n.no_d_id = d.d_id
    WHERE d.d_next_o_id - 1 <> o.last_o OR (n.last_no IS NOT NULL AND n.last_no <> o.last_o)
    UNION ALL
    SELECT 3, '3 open orders have no gap', COUNT(*)
    FROM (SELECT MAX(no_o_id) - MIN(no_o_id) + 1 AS span, COUNT(*) AS present FROM dbo.open_order GROUP BY no_w_id, no_d_id) AS s
    WHERE span <> present
    UNION ALL
    SELECT 4, '4 sum of order line counts = order lines, by district', COUNT(*)
    FROM (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS counted FROM dbo.orders GROUP BY o_w_id, o_d_id) AS o
    JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS present FROM dbo.order_line GROUP BY ol_w_id, ol_d_id) AS l
        ON l.ol_w_id = o.o_w_id AND l.ol_d_id = o.o_d_id
    WHERE counted <> present
    UNION ALL
    SELECT 5, '5 no carrier exactly where the order is open', COUNT(*)
    FROM dbo.orders LEFT JOIN dbo.open_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
    WHERE (o_carrier_id IS NULL AND no_o_id IS NULL) OR (o_carrier_id IS NOT NULL AND no_o_id IS NOT NULL)
    UNION ALL
    SELECT 6, '6 order line count = order lines, by order', COUNT(*)
    FROM dbo.orders
    LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS present FROM dbo.order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) AS l
        ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
    WHERE o_ol_cnt <> COALESCE(present, 0)
    UNION ALL
    SELECT 7, '7 no delivery date exactly where there is no carrier', COUNT(*)
    FROM dbo.order_line JOIN dbo.orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
    WHERE (ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL) OR (ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL)
    UNION ALL
    SELECT 8, '8 warehouse year to date = sum of its payments', COUNT(*)
    FROM dbo.warehouse WHERE w_ytd <> (SELECT SUM(h_amount) FROM dbo.history WHERE h_w_id = w_id)
    UNION ALL
    SELECT 9, '9 district year to date = sum of its payments', COUNT(*)
    FROM dbo.district
    JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS paid FROM dbo.history GROUP BY h_w_id, h_d_id) AS h
        ON h_w_id = d_w_id AND h_d_id = d_id
    WHERE d_ytd <> paid
    UNION ALL
    SELECT 10, '10 and 12 balance = delivered - paid, and year to date = paid', COUNT(*)
    FROM dbo.customer
    LEFT JOIN (
        SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS delivered
        FROM dbo.orders JOIN dbo.order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
        WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) AS o
        ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
    LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS paid FROM dbo.history GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS h
        ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id
    WHERE c_balance <> COALESCE(delivered, 0) - COALESCE(paid, 0) OR c_ytd_payment <> COALESCE(paid, 0)
) AS checks
ORDER BY number;
