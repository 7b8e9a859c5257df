-- Reserves the number.
select 1;
