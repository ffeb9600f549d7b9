create procedure sys.sp_linkedservers as
select name as SRV_NAME, provider as SRV_PROVIDERNAME, product as SRV_PRODUCT, data_source as SRV_DATASOURCE,
    convert(nvarchar(4000), null) as SRV_PROVIDERSTRING, convert(nvarchar(4000), null) as SRV_LOCATION, convert(sysname, null) as SRV_CAT
from sys.servers order by name
return 0
