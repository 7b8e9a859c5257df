-- Labels of the objects in tenants' networks. Lists can be filtered by label.
alter table vpc          add column labels jsonb not null default '{}' check (jsonb_typeof(labels) = 'object');
alter table subnet       add column labels jsonb not null default '{}' check (jsonb_typeof(labels) = 'object');
alter table route_table  add column labels jsonb not null default '{}' check (jsonb_typeof(labels) = 'object');
alter table route        add column labels jsonb not null default '{}' check (jsonb_typeof(labels) = 'object');
alter table nat_gateway  add column labels jsonb not null default '{}' check (jsonb_typeof(labels) = 'object');
alter table port_forward add column labels jsonb not null default '{}' check (jsonb_typeof(labels) = 'object');
