-- During an attach, the record may have prior_cn without prior_nic_id. Then prior_cn is the node of an old binding
-- whose instance was deleted by force. This node may still answer for the address. A process of an earlier release
-- reads such a row as an attach without an old binding.
alter table floating_ip
  drop constraint floating_ip_prior_whole,
  add constraint floating_ip_prior_whole check (
    num_nulls(prior_nic_id, prior_instance_id) in (0, 2) and (prior_nic_id is null or prior_cn is not null)),
  drop constraint floating_ip_at_rest,
  add constraint floating_ip_at_rest check (operation_id is not null or num_nulls(prior_cn, reclaimed_as) = 2);
