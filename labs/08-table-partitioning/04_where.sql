-- 04  Where are the rows? One line for each partition of the clustered key; then what $PARTITION says of a boundary.
USE PartitionLab;
SELECT p.partition_number, p.rows, fg.name AS filegroup, r.value AS upper_boundary
FROM sys.partitions AS p
JOIN sys.indexes AS i ON i.object_id = p.object_id AND i.index_id = p.index_id
JOIN sys.partition_schemes AS s ON s.data_space_id = i.data_space_id
JOIN sys.destination_data_spaces AS d ON d.partition_scheme_id = s.data_space_id AND d.destination_id = p.partition_number
JOIN sys.filegroups AS fg ON fg.data_space_id = d.data_space_id
LEFT JOIN sys.partition_range_values AS r ON r.function_id = s.function_id AND r.boundary_id = p.partition_number
WHERE p.object_id = OBJECT_ID(N'dbo.E_TRADE') AND p.index_id = 1
ORDER BY p.partition_number;

SELECT v.T_ID, $PARTITION.pf_trade(v.T_ID) AS partition_number
FROM (VALUES (1), (5000), (5001), (20000), (999999)) AS v(T_ID);
