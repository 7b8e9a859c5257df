-- Kernel arguments and the console of one machine, and of the nodes with a label (docs/booting.md, "Kernel arguments
-- and the console"). A process of the previous release does not write these columns, so they have defaults or may be
-- null.
alter table boot_record add column kernel_args jsonb not null default '[]' check (jsonb_typeof(kernel_args) = 'array');
alter table boot_record add column console jsonb;
alter table boot_policy add column label_arguments jsonb not null default '[]'
  check (jsonb_typeof(label_arguments) = 'array');
