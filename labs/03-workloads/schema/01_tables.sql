-- Tables of a TPC-C-like order entry schema: our own, smaller than the specification asks and not a TPC-C implementation.
-- Run it in an empty database, or again to start over: it drops what it made before.
SET NOCOUNT ON;

DROP PROCEDURE IF EXISTS dbo.run_mix, dbo.stock_level, dbo.delivery, dbo.order_status, dbo.payment, dbo.new_order,
    dbo.load_warehouses;
DROP TABLE IF EXISTS dbo.order_line, dbo.open_order, dbo.orders, dbo.history, dbo.stock, dbo.item, dbo.customer,
    dbo.district, dbo.warehouse, dbo.scale, dbo.numbers;

-- What was loaded; the procedures choose customers and items in these ranges.
CREATE TABLE dbo.scale (
    warehouses int NOT NULL, customers int NOT NULL, items int NOT NULL);
CREATE TABLE dbo.numbers (n int NOT NULL PRIMARY KEY);

CREATE TABLE dbo.warehouse (
    w_id int NOT NULL PRIMARY KEY, w_name varchar(10) NOT NULL, w_tax decimal(4, 4) NOT NULL, w_ytd decimal(12, 2) NOT NULL);

CREATE TABLE dbo.district (
    d_w_id int NOT NULL, d_id int NOT NULL, d_name varchar(10) NOT NULL, d_tax decimal(4, 4) NOT NULL,
    d_ytd decimal(12, 2) NOT NULL, d_next_o_id int NOT NULL,
    PRIMARY KEY (d_w_id, d_id));

CREATE TABLE dbo.customer (
    c_w_id int NOT NULL, c_d_id int NOT NULL, c_id int NOT NULL, c_last varchar(16) NOT NULL, c_first varchar(16) NOT NULL,
    c_credit char(2) NOT NULL, c_discount decimal(4, 4) NOT NULL, c_balance decimal(12, 2) NOT NULL,
    c_ytd_payment decimal(12, 2) NOT NULL, c_payment_cnt int NOT NULL, c_delivery_cnt int NOT NULL, c_data varchar(500) NOT NULL,
    PRIMARY KEY (c_w_id, c_d_id, c_id));

CREATE TABLE dbo.history (
    h_id bigint IDENTITY NOT NULL PRIMARY KEY, h_c_id int NOT NULL, h_c_d_id int NOT NULL, h_c_w_id int NOT NULL,
    h_d_id int NOT NULL, h_w_id int NOT NULL, h_date datetime2 NOT NULL, h_amount decimal(6, 2) NOT NULL);

CREATE TABLE dbo.orders (
    o_w_id int NOT NULL, o_d_id int NOT NULL, o_id int NOT NULL, o_c_id int NOT NULL, o_entry_d datetime2 NOT NULL,
    o_carrier_id int NULL, o_ol_cnt int NOT NULL,
    PRIMARY KEY (o_w_id, o_d_id, o_id));
CREATE INDEX ix_orders_customer ON dbo.orders (o_w_id, o_d_id, o_c_id, o_id);

-- The specification calls it NEW-ORDER; here that is the name of the procedure.
CREATE TABLE dbo.open_order (
    no_w_id int NOT NULL, no_d_id int NOT NULL, no_o_id int NOT NULL,
    PRIMARY KEY (no_w_id, no_d_id, no_o_id));

CREATE TABLE dbo.item (
    i_id int NOT NULL PRIMARY KEY, i_name varchar(24) NOT NULL, i_price decimal(5, 2) NOT NULL, i_data varchar(50) NOT NULL);

CREATE TABLE dbo.stock (
    s_w_id int NOT NULL, s_i_id int NOT NULL, s_quantity int NOT NULL, s_ytd int NOT NULL, s_order_cnt int NOT NULL,
    s_data varchar(50) NOT NULL,
    CONSTRAINT pk_stock PRIMARY KEY (s_w_id, s_i_id));

CREATE TABLE dbo.order_line (
    ol_w_id int NOT NULL, ol_d_id int NOT NULL, ol_o_id int NOT NULL, ol_number int NOT NULL, ol_i_id int NOT NULL,
    ol_delivery_d datetime2 NULL, ol_quantity int NOT NULL, ol_amount decimal(6, 2) NOT NULL,
    PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number));
