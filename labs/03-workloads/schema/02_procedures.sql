-- The five transactions, the loader and a driver. Random numbers come from a seed, so a run can be repeated.
-- @pause is the time that a transaction spends between its statements: leave it at zero on a real server,
-- where statements take time by themselves.
GO
CREATE OR ALTER PROCEDURE dbo.new_order
    @w_id int, @d_id int, @c_id int, @seed bigint, @pause varchar(12) = '00:00:00', @sort_lines bit = 0
AS
SET NOCOUNT ON;
DECLARE @o_id int, @number int = 1, @drawn int = 0, @i_id int, @price decimal(5, 2), @quantity int, @items int = (SELECT items FROM dbo.scale);
DECLARE @tax decimal(4, 4) = (SELECT w_tax FROM dbo.warehouse WHERE w_id = @w_id);
DECLARE @count int = 5 + @seed % 11, @wanted bit = IIF(@seed / 4096 % 100 = 0, 1, 0);
DECLARE @lines TABLE (position int NOT NULL PRIMARY KEY, i_id int NOT NULL UNIQUE, quantity int NOT NULL);
DECLARE @ordered TABLE (number int NOT NULL PRIMARY KEY, i_id int NOT NULL, quantity int NOT NULL);

-- Items are drawn without repetition, some far more often than others (the "or" of two draws); one order in a hundred asks for an item that does not exist and is rolled back.
WHILE @drawn < @count
BEGIN
    SET @seed = (@seed * 1103515245 + 12345) % 2147483648;
    SET @i_id = @seed / 64 % @items + 1;
    SET @seed = (@seed * 1103515245 + 12345) % 2147483648;
    SET @i_id = (@i_id | @seed / 64 % (@items / 12 + 1)) % @items + 1;
    IF NOT EXISTS (SELECT 1 FROM @lines WHERE i_id = @i_id)
    BEGIN
        SET @drawn += 1;
        INSERT INTO @lines VALUES (@drawn, @i_id, @seed / 7 % 10 + 1);
    END;
END;
IF @wanted = 1
    UPDATE @lines SET i_id = @items + 1 WHERE position = @count;
-- The order in which the stock is touched: as drawn, or by item number.
INSERT INTO @ordered
SELECT ROW_NUMBER() OVER (ORDER BY IIF(@sort_lines = 1, i_id, position)), i_id, quantity FROM @lines;

BEGIN TRANSACTION;
UPDATE dbo.district SET @o_id = d_next_o_id, d_next_o_id = d_next_o_id + 1 WHERE d_w_id = @w_id AND d_id = @d_id;
INSERT INTO dbo.orders VALUES (@w_id, @d_id, @o_id, @c_id, SYSDATETIME(), NULL, @count);
INSERT INTO dbo.open_order VALUES (@w_id, @d_id, @o_id);

WHILE @number <= @count
BEGIN
    SELECT @i_id = i_id, @quantity = quantity FROM @ordered WHERE number = @number;
    SET @price = NULL;
    SELECT @price = i_price FROM dbo.item WHERE i_id = @i_id;
    IF @price IS NULL
    BEGIN
        ROLLBACK TRANSACTION;
        RETURN 1;
    END;
    -- The row of the item's stock stays locked until the order commits.
    UPDATE dbo.stock
    SET s_quantity = IIF(s_quantity - @quantity >= 10, s_quantity - @quantity, s_quantity - @quantity + 91),
        s_ytd = s_ytd + @quantity, s_order_cnt = s_order_cnt + 1
    WHERE s_w_id = @w_id AND s_i_id = @i_id;
    INSERT INTO dbo.order_line VALUES (@w_id, @d_id, @o_id, @number, @i_id, NULL, @quantity, @quantity * @price);
    SET @number += 1;
    IF @pause > '00:00:00' WAITFOR DELAY @pause;
END;
COMMIT TRANSACTION;
RETURN 0;
GO
CREATE OR ALTER PROCEDURE dbo.payment
    @w_id int, @d_id int, @c_id int, @seed bigint, @pause varchar(12) = '00:00:00'
AS
SET NOCOUNT ON;
DECLARE @amount decimal(6, 2) = 1 + @seed % 499900 / 100.0;
BEGIN TRANSACTION;
UPDATE dbo.customer
SET c_balance = c_balance - @amount, c_ytd_payment = c_ytd_payment + @amount, c_payment_cnt = c_payment_cnt + 1
WHERE c_w_id = @w_id AND c_d_id = @d_id AND c_id = @c_id;
INSERT INTO dbo.history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount)
VALUES (@c_id, @d_id, @w_id, @d_id, @w_id, SYSDATETIME(), @amount);
IF @pause > '00:00:00' WAITFOR DELAY @pause;
UPDATE dbo.district SET d_ytd = d_ytd + @amount WHERE d_w_id = @w_id AND d_id = @d_id;
UPDATE dbo.warehouse SET w_ytd = w_ytd + @amount WHERE w_id = @w_id;   -- the row that all want is locked last
COMMIT TRANSACTION;
RETURN 0;
GO
CREATE OR ALTER PROCEDURE dbo.order_status
    @w_id int, @d_id int, @c_id int, @seed bigint, @pause varchar(12) = '00:00:00'
AS
SET NOCOUNT ON;
DECLARE @o_id int, @balance decimal(12, 2), @lines int;
SELECT @balance = c_balance FROM dbo.customer WHERE c_w_id = @w_id AND c_d_id = @d_id AND c_id = @c_id;
SELECT TOP (1) @o_id = o_id FROM dbo.orders
WHERE o_w_id = @w_id AND o_d_id = @d_id AND o_c_id = @c_id ORDER BY o_id DESC;
SELECT @lines = COUNT(*) FROM dbo.order_line WHERE ol_w_id = @w_id AND ol_d_id = @d_id AND ol_o_id = @o_id;
IF @pause > '00:00:00' WAITFOR DELAY @pause;
RETURN 0;
GO
CREATE OR ALTER PROCEDURE dbo.delivery
    @w_id int, @d_id int, @c_id int, @seed bigint, @pause varchar(12) = '00:00:00'
AS
SET NOCOUNT ON;
-- The oldest open order of each district; the district the caller named does not matter.
DECLARE @o_id int, @buyer int, @amount decimal(12, 2), @carrier int = @seed % 10 + 1, @now datetime2 = SYSDATETIME();
DECLARE @gone TABLE (o_id int NOT NULL);
SET @d_id = 1;
BEGIN TRANSACTION;
WHILE @d_id <= 10
BEGIN
    DELETE FROM @gone;
    DELETE FROM dbo.open_order OUTPUT deleted.no_o_id INTO @gone
    WHERE no_w_id = @w_id AND no_d_id = @d_id
      AND no_o_id = (SELECT MIN(no_o_id) FROM dbo.open_order WITH (UPDLOCK) WHERE no_w_id = @w_id AND no_d_id = @d_id);
    SET @o_id = NULL;
    SELECT @o_id = o_id FROM @gone;
    IF @o_id IS NOT NULL
    BEGIN
        UPDATE dbo.orders SET @buyer = o_c_id, o_carrier_id = @carrier
        WHERE o_w_id = @w_id AND o_d_id = @d_id AND o_id = @o_id;
        UPDATE dbo.order_line SET ol_delivery_d = @now WHERE ol_w_id = @w_id AND ol_d_id = @d_id AND ol_o_id = @o_id;
        SELECT @amount = SUM(ol_amount) FROM dbo.order_line
        WHERE ol_w_id = @w_id AND ol_d_id = @d_id AND ol_o_id = @o_id;
        UPDATE dbo.customer SET c_balance = c_balance + @amount, c_delivery_cnt = c_delivery_cnt + 1
        WHERE c_w_id = @w_id AND c_d_id = @d_id AND c_id = @buyer;
    END;
    SET @d_id += 1;
END;
IF @pause > '00:00:00' WAITFOR DELAY @pause;
COMMIT TRANSACTION;
RETURN 0;
GO
CREATE OR ALTER PROCEDURE dbo.stock_level
    @w_id int, @d_id int, @c_id int, @seed bigint, @pause varchar(12) = '00:00:00'
AS
SET NOCOUNT ON;
DECLARE @next int, @low int;
SELECT @next = d_next_o_id FROM dbo.district WHERE d_w_id = @w_id AND d_id = @d_id;
SELECT @low = COUNT(DISTINCT s_i_id)
FROM dbo.order_line JOIN dbo.stock ON s_w_id = @w_id AND s_i_id = ol_i_id AND s_quantity < 10 + @seed % 11
WHERE ol_w_id = @w_id AND ol_d_id = @d_id AND ol_o_id >= @next - 20 AND ol_o_id < @next;
IF @pause > '00:00:00' WAITFOR DELAY @pause;
RETURN 0;
GO
-- One user: @transactions of the mix, one after the other without thinking. The five weights are percent and make 100.
-- Returns what became of them. A deadlock victim is counted and the user goes on with the next transaction.
CREATE OR ALTER PROCEDURE dbo.run_mix
    @user int, @transactions int, @seed bigint, @new_order int = 45, @payment int = 43, @order_status int = 4,
    @delivery int = 4, @stock_level int = 4, @pause varchar(12) = '00:00:00', @sort_lines bit = 0
AS
SET NOCOUNT ON;
DECLARE @done int = 0, @orders int = 0, @rolled_back int = 0, @victims int = 0, @others int = 0;
DECLARE @w_id int, @d_id int, @c_id int, @dice int, @code int, @start datetime2 = SYSDATETIME();
DECLARE @warehouses int, @customers int;
SELECT @warehouses = warehouses, @customers = customers FROM dbo.scale;
SET @w_id = (@user - 1) % @warehouses + 1;
SET @seed = (@seed * 7919 + @user * 104729) % 2147483648;
WHILE @done < @transactions
BEGIN
    SET @seed = (@seed * 1103515245 + 12345) % 2147483648;
    SET @dice = @seed / 65536 % 100;
    SET @seed = (@seed * 1103515245 + 12345) % 2147483648;
    SET @d_id = @seed / 65536 % 10 + 1;
    SET @seed = (@seed * 1103515245 + 12345) % 2147483648;
    SET @c_id = @seed / 65536 % @customers + 1;
    SET @code = 0;
    BEGIN TRY
        IF @dice < @new_order
        BEGIN
            EXEC @code = dbo.new_order @w_id, @d_id, @c_id, @seed, @pause, @sort_lines;
            IF @code = 0 SET @orders += 1 ELSE SET @rolled_back += 1;
        END
        ELSE
        BEGIN
            IF @dice < @new_order + @payment
                EXEC dbo.payment @w_id, @d_id, @c_id, @seed, @pause;
            ELSE IF @dice < @new_order + @payment + @order_status
                EXEC dbo.order_status @w_id, @d_id, @c_id, @seed, @pause;
            ELSE IF @dice < @new_order + @payment + @order_status + @delivery
                EXEC dbo.delivery @w_id, @d_id, @c_id, @seed, @pause;
            ELSE
                EXEC dbo.stock_level @w_id, @d_id, @c_id, @seed, @pause;
            SET @others += 1;
        END;
    END TRY
    BEGIN CATCH
        IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
        IF ERROR_NUMBER() <> 1205 THROW;
        SET @victims += 1;
    END CATCH;
    SET @done += 1;
END;
SELECT @user AS user_number, @orders AS new_orders, @others AS others, @rolled_back AS rolled_back,
       @victims AS deadlock_victims, DATEDIFF(millisecond, @start, SYSDATETIME()) AS elapsed_ms;
GO
