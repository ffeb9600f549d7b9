"""Extended Events: what event sessions collect; the node supplies the rows.

Columns: "Extended Events catalog views", sys.dm_xe_objects (SQL Server documentation).
"""

from __future__ import annotations

from aglab.tsql.catalog.registry import define

define(
    """sys.server_event_session_events: event_session_id int!, event_id int!, name sysname!, package sysname!, module sysname,
    predicate nvarchar(3000), predicate_xml nvarchar(3000)"""
)
define(
    """sys.server_event_session_actions: event_session_id int!, event_id int!, name sysname!, package sysname!, module sysname"""
)
define(
    """sys.server_event_session_targets: event_session_id int!, target_id int!, name sysname!, package sysname!, module sysname"""
)
define(
    """sys.dm_xe_objects: name nvarchar(256)!, object_type nvarchar(256)!, package_guid uniqueidentifier!, description nvarchar(256)!,
    capabilities int, capabilities_desc nvarchar(256), type_name nvarchar(256), type_package_guid uniqueidentifier, type_size int"""
)
