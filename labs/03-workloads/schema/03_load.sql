-- Load. The specification asks for 3,000 customers in each district and 100,000 items; the lab takes a hundredth of both.
-- Change the three numbers: the shape stays the same, only the number of rows grows.
SET NOCOUNT ON;
DECLARE @warehouses int = 1, @customers int = 30, @items int = 1000;

DECLARE @wanted int = (SELECT MAX(n) FROM (VALUES (@items), (@customers), (@warehouses), (15)) AS most (n)), @have int = 1;
INSERT INTO dbo.scale VALUES (@warehouses, @customers, @items);
INSERT INTO dbo.numbers VALUES (1);
WHILE @have < @wanted
BEGIN
    INSERT INTO dbo.numbers (n) SELECT n + @have FROM dbo.numbers WHERE n + @have <= @wanted;
    SET @have += @@ROWCOUNT;
END;

INSERT INTO dbo.item (i_id, i_name, i_price, i_data)
SELECT n, CONCAT('item ', n), 1 + n * 37 % 9900 / 100.0, REPLICATE('i', 26 + n % 25) FROM dbo.numbers WHERE n <= @items;

INSERT INTO dbo.warehouse (w_id, w_name, w_tax, w_ytd)
SELECT n, CONCAT('w ', n), n % 20 / 100.0, 10 * @customers * 10 FROM dbo.numbers WHERE n <= @warehouses;

INSERT INTO dbo.stock (s_w_id, s_i_id, s_quantity, s_ytd, s_order_cnt, s_data)
SELECT w_id, n, 10 + n * 7 % 91, 0, 0, REPLICATE('s', 26 + n % 25)
FROM dbo.warehouse CROSS JOIN dbo.numbers WHERE n <= @items;

-- The first 70 percent of the orders are delivered; every customer has one order and has paid 10.00 once.
INSERT INTO dbo.district (d_w_id, d_id, d_name, d_tax, d_ytd, d_next_o_id)
SELECT w_id, n, CONCAT('d ', n), n % 20 / 100.0, 10 * @customers, @customers + 1
FROM dbo.warehouse CROSS JOIN dbo.numbers WHERE n <= 10;

INSERT INTO dbo.customer (c_w_id, c_d_id, c_id, c_last, c_first, c_credit, c_discount, c_balance, c_ytd_payment,
                          c_payment_cnt, c_delivery_cnt, c_data)
SELECT d_w_id, d_id, n, CONCAT('name ', n % 1000), CONCAT('first ', n), IIF(n % 10 = 0, 'BC', 'GC'), n % 50 / 100.0,
       -10, 10, 1, 0, REPLICATE('c', 300 + n % 200)
FROM dbo.district CROSS JOIN dbo.numbers WHERE n <= @customers;

INSERT INTO dbo.history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount)
SELECT c_id, c_d_id, c_w_id, c_d_id, c_w_id, SYSDATETIME(), 10 FROM dbo.customer;

INSERT INTO dbo.orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt)
SELECT c_w_id, c_d_id, c_id, @customers + 1 - c_id, SYSDATETIME(), IIF(c_id <= @customers * 7 / 10, c_id % 10 + 1, NULL),
       5 + (c_id * 7 + c_d_id) % 11
FROM dbo.customer;

INSERT INTO dbo.open_order (no_w_id, no_d_id, no_o_id)
SELECT o_w_id, o_d_id, o_id FROM dbo.orders WHERE o_carrier_id IS NULL;

-- Delivered lines cost nothing, so that every customer's balance starts at -10.00.
INSERT INTO dbo.order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_delivery_d, ol_quantity, ol_amount)
SELECT o_w_id, o_d_id, o_id, n, (o_id * 211 + o_d_id * 31 + n * 17) % @items + 1,
       IIF(o_carrier_id IS NULL, NULL, o_entry_d), 5, IIF(o_carrier_id IS NULL, (o_id * 13 + n * 101) % 9000 / 10.0 + 0.01, 0)
FROM dbo.orders JOIN dbo.numbers ON n <= o_ol_cnt;

SELECT (SELECT COUNT(*) FROM dbo.item) AS items, (SELECT COUNT(*) FROM dbo.stock) AS stock,
       (SELECT COUNT(*) FROM dbo.customer) AS customers, (SELECT COUNT(*) FROM dbo.orders) AS orders,
       (SELECT COUNT(*) FROM dbo.order_line) AS order_lines;
