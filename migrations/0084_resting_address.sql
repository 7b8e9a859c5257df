-- The public addresses of deleted NAT gateways that a node may still run. The pool gets such an address back only when
-- the node no longer runs the gateway (docs/networking.md, "Where NAT gateways run"). There are no foreign keys,
-- because the VPC and the node's record may be deleted before that.
create table resting_address (
  address         inet primary key,
  vpc_id          uuid not null,
  -- The node that ran the gateway last, and the time at which the gateway left it.
  leaving_cn_uuid uuid not null,
  left_at         timestamptz not null,
  -- A generation of the VPC at which the documents do not contain the gateway. Null until the background worker has
  -- read it.
  generation      bigint
);
