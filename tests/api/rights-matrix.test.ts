// Tests the permissions of every kind of caller on every route, with an existing and with a missing object. The rules
// are in docs/tenancy.md.
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { bareMachine } from "./bare-machine.ts";
import { addUser } from "./user.ts";
import { addUpload } from "../compute/upload.ts";
import { acceptedBodies } from "./bodies.ts";
import { identityTargets } from "../tenancy/identity-targets.ts";
import { scopedTargets } from "../compute/scoped-targets.ts";
import { instanceTargets } from "../compute/instance-targets.ts";
import { jobTargets } from "../compute/job-targets.ts";
import { networkTargets } from "../network/network-targets.ts";
import { publicAddressTargets } from "./public-address-targets.ts";

const UPLOAD_ROUTES = [
  "GET /v1/image-uploads/{upload_id}",
  "PUT /v1/image-uploads/{upload_id}/parts",
  "POST /v1/image-uploads/{upload_id}/finish",
  "DELETE /v1/image-uploads/{upload_id}",
];

// A cell such as 200/404 has the status for an existing object, then the status for a missing object. If a cell has one
// number, both objects get this status. The columns are the callers:
//
// - anon: no credential.
// - query: the root key in the query, and no other credential.
// - bad: each credential of BAD.
// - root: the root operator's full key.
// - read, audit, agent, booter, enroll: the root operator's key with that scope. The agent key is bound to no node.
// - user: the full key of a user who is not root.
// - node: the key of an approved node.
// - off: the key of a disabled node.
const TABLE = `
route                                anon query   bad    root    read   audit agent booter enroll    user    node     off
GET /                                 200   200   401     200     200     200   200    200    200     200     200     200
GET /v1/health                        200   200   401     200     200     200   200    200    200     200     200     200
GET /readyz                           200   200   401     200     200     200   200    200    200     200     200     200
GET /openapi.json                     200   200   401     200     200     200   200    200    200     200     200     200
GET /docs                             200   200   401     200     200     200   200    200    200     200     200     200
POST /lab/sign-in                     401   401   401     201     403     403   403    403    403     403     403     403
GET /lab/sign-in/{code}               404   404   401     404     404     404   404    404    404     404     404     404
POST /lab/clock                       200   200   401     200     200     200   200    200    200     200     200     200
POST /v1/agent/register               200   200   401     200     200     200   200    200    200     200     403     403
GET /v1/agent/register/status     200/404 200/404 401 200/404 200/404 200/404 200/404 200/404 200/404 200/404 200/404 200/404
POST /v1/agent/heartbeat              401   401   401     403     403     403   403    403    403     403     200     200
POST /v1/agent/status                 401   401   401     403     403     403   403    403    403     403     200     200
POST /v1/agent/capacity               401   401   401     403     403     403   403    403    403     403     200     200
GET /v1/agent/config                  401   401   401     403     403     403   403    403    403     403     200     200
POST /v1/agent/claim                  401   401   401     403     403     403   403    403    403     403     200     403
GET /v1/agent/jobs/{job_id}/blueprint 401   401   401     403     403     403   403    403    403     403 200/404 200/404
POST /v1/agent/jobs/{job_id}/progress 401   401   401     403     403     403   403    403    403     403 200/404 200/404
POST /v1/agent/jobs/{job_id}/complete 401   401   401     403     403     403   403    403    403     403 200/404 200/404
POST /v1/agent/jobs/{job_id}/bury     401   401   401     403     403     403   403    403    403     403 409/404 409/404
POST /v1/agent/network/poll           401   401   401     403     403     403   403    403    403     403     200     200
POST /v1/agent/poll                   401   401   401     403     403     403   403    403    403     403     200     200
POST /v1/agent/network/trace          401   401   401     403     403     403   403    403    403     403     404     404
POST /v1/agent/network-realization    401   401   401     403     403     403   403    403    403     403     403     403
POST /v1/agent/nic-tags               401   401   401     403     403     403   403    403    403     403     200     200
GET /v1/agent/images/{upload_id}      401   401   401     403     403     403   403    403    403     403     404     404
POST /v1/agent/images/{upload_id}     401   401   401     403     403     403   403    403    403     403     404     404
PUT /v1/agent/images/{upload_id}/parts
                                      401   401   401     403     403     403   403    403    403     403     404     404
POST /v1/agent/images/{upload_id}/finish
                                      401   401   401     403     403     403   403    403    403     403     404     404
GET /v1/agent/consoles/{session_id}   401   401   401     403     403     403   403    403    403     403     404     404
GET /v1/system/doctor                 401   401   401     200     200     404   404    404    404     404     404     404
GET /v1/system/jobs                   401   401   401     200     200     404   404    404    404     404     404     404
GET /v1/system/jobs/{job_id}          401   401   401 200/404 200/404     404   404    404    404     404     404     404
GET /v1/system/nodes                 401   401   401     200     200     404   404    404    404     404     404     404
GET /v1/system/capacity               401   401   401     200     200     404   404    404    404     404     404     404
GET /v1/system/usage                  401   401   401     200     200     404   404    404    404     404     404     404
GET /v1/system/load                   401   401   401     200     200     404   404    404    404     404     404     404
GET /v1/system/cns/{cn_id}/capacity   401   401   401 200/404 200/404     404   404    404    404     404     404     404
GET /v1/system/cns/{cn_id}/load       401   401   401 200/404 200/404     404   404    404    404     404     404     404
GET /v1/auth/sessions                 401   401   401     200     200     403   403    403    403     200     403     403
DELETE /v1/auth/sessions/{session_id} 401   401   401     404     403     403   403    403    403     404     403     403
GET /v1/tenants/{tenant_id}/audit/events
                                      401   401   401 200/404 200/404 200/404   404    404    404     404     404     404
GET /v1/system/summary                401   401   401     200     200     404   404    404    404     404     404     404
GET /v1/system/cns                    401   401   401     200     200     404   404    404    404     404     404     404
GET /v1/system/cns/{cn_id}            401   401   401 200/404 200/404     404   404    404    404     404     404     404
GET /v1/system/cns/{cn_id}/instances  401   401   401 200/404 200/404     404   404    404    404     404     404     404
GET /v1/system/cns/{cn_id}/doctor     401   401   401 200/404 200/404     404   404    404    404     404     404     404
GET /v1/system/instances              401   401   401     200     200     404   404    404    404     404     404     404
GET /v1/system/instances/{instance_id}/network-trace
                                      401   401   401     400     400     404   404    404    404     404     404     404
POST /v1/cn-approvals                 401   401   401 200/404     403     403   403    403    403     403     403     403
POST /v1/cns/{server_uuid}/disable    401   401   401 200/404     403     403   403    403    403     403     403     403
POST /v1/cns/{server_uuid}/enable     401   401   401 409/404     403     403   403    403    403     403     403     403
POST /v1/cns/{server_uuid}/role       401   401   401 200/404     403     403   403    403    403     403     403     403
PATCH /v1/cns/{server_uuid}/underlay   401   401   401 200/404     403     403   403    403    403     403     403     403
POST /v1/cns/{server_uuid}/reservoir  401   401   401 200/404     403     403   403    403    403     403     403     403
DELETE /v1/cns/{server_uuid}          401   401   401     204     403     403   403    403    403     403     403     403
GET /v1/cn-auto-approve               401   401   401     200     200     403   403    403    403     403     403     403
POST /v1/cn-auto-approve              401   401   401     200     403     403   403    403    403     403     403     403
DELETE /v1/cn-auto-approve            401   401   401     204     403     403   403    403    403     403     403     403
GET /v1/search                        401   401   401     200     200     403   403    403    403     200     403     403
GET /v1/changes                       401   401   401     200     200     403   403    403    403     200     403     403
GET /v1/auth/whoami                   401   401   401     200     200     200   200    200    200     200     200     200
GET /v1/auth/api-keys                 401   401   401     200     200     403   403    403    403     200     403     403
POST /v1/auth/api-keys                401   401   401     201     403     403   403    403    403     201     403     403
DELETE /v1/auth/api-keys/{id}         401   401   401 204/404     403     403   403    403    403 204/404     403     403
GET /v1/config                        401   401   401     200     200     403   403    403    403     403     403     403
GET /v1/config/{key}                  401   401   401 200/404 200/404     403   403    403    403     403     403     403
PUT /v1/config/{key}                  401   401   401 200/404     403     403   403    403    403     403     403     403
DELETE /v1/config/{key}               401   401   401 200/404     403     403   403    403    403     403     403     403
GET /v1/audit/events                  401   401   401     200     200     200   403    403    403     403     403     403
GET /v1/audit/events/{seq}            401   401   401 200/404 200/404 200/404   403    403    403     403     403     403
GET /v1/audit/verify                  401   401   401     200     200     200   403    403    403     403     403     403
GET /v1/operations                    401   401   401     200     200     403   403    403    403     403     403     403
GET /v1/operations/{id}               401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/operations/{id}/abandon      401   401   401 409/404     403     403   403    403    403     403     403     403
GET /v1/cns/{server_uuid}/traits      401   401   401 200/404 200/404     403   403    403    403     403     403     403
GET /v1/cns/{server_uuid}/hardware    401   401   401 200/404 200/404     403   403    403    403     403     403     403
POST /v1/cns/{server_uuid}/traits     401   401   401 200/404     403     403   403    403    403     403     403     403
GET /v1/cns/{server_uuid}/placement   401   401   401 200/404 200/404     403   403    403    403     403     403     403
PATCH /v1/cns/{server_uuid}/placement 401   401   401 200/404     403     403   403    403    403     403     403     403
POST /v1/cns/{server_uuid}/drain      401   401   401 200/404     403     403   403    403    403     403     403     403
POST /v1/cn-drains                    401   401   401     200     403     403   403    403    403     403     403     403
POST /v1/cn-upgrades                  401   401   401     200     403     403   403    403    403     403     403     403
POST /v1/cns/{server_uuid}/evacuate   401   401   401 200/404     403     403   403    403    403     403     403     403
POST /v1/cns/{server_uuid}/drain/preview
                                      401   401   401 200/404 200/404     403   403    403    403     403     403     403
POST /v1/system/placement/explain     401   401   401     200     200     404   404    404    404     404     404     404
POST /v1/cns/{server_uuid}/root-password 401 401  401 200/404     403     403   403    403    403     403     403     403
GET /v1/cns/{server_uuid}/setup-layout-proposal
                                      401   401   401 200/404 200/404     403   403    403    403     403     403     403
POST /v1/cns/{server_uuid}/approve-setup 401 401  401 409/404     403     403   403    403    403     403     403     403
POST /v1/cns/{server_uuid}/factory-reset 401 401  401 409/404     403     403   403    403    403     403     403     403
GET /v2/cn-boot                       401   401   401     200     200     403   403    200    403     403     403     403
GET /v2/cn-boot/{mac}                 401   401   401 200/404 200/404     403   403 200/404   403     403     403     403
GET /v2/cn-boot/{mac}/doctor          401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v2/cn-boot/{mac}/authorize      401   401   401     200     403     403   403    403    403     403     403     403
POST /v2/cn-boot/{mac}/reactivate     401   401   401 409/404     403     403   403    403    403     403     403     403
POST /v2/cn-boot/{mac}/rescue         401   401   401 200/404     403     403   403    403    403     403     403     403
POST /v2/cn-boot/{mac}/rescue/clear   401   401   401 200/404     403     403   403    403    403     403     403     403
POST /v2/cn-boot/{mac}/assign         401   401   401 200/404     403     403   403    403    403     403     403     403
PUT /v2/cn-boot/{mac}/arguments       401   401   401 200/404     403     403   403    403    403     403     403     403
POST /v2/cn-boot/{mac}/decommission   401   401   401 200/404     403     403   403    403    403     403     403     403
GET /v2/cn-boot-policy                401   401   401     200     200     403   403    200    403     403     403     403
PUT /v2/cn-boot-policy                401   401   401     200     403     403   403    403    403     403     403     403
GET /v2/cn-boot-roster                401   401   401     200     200     403   403    200    403     403     403     403
PUT /v2/cn-boot-roster                401   401   401     200     403     403   403    403    403     403     403     403
POST /v2/cn-boot-roster/converge      401   401   401     200     403     403   403    403    403     403     403     403
GET /v2/platform-images               401   401   401     200     200     403   403    200    403     403     403     403
PUT /v2/platform-images               401   401   401     200     403     403   403    200    403     403     403     403
POST /v2/booter/seen                  401   401   401     200     403     403   403    200    403     403     403     403
POST /v2/booter/announce              401   401   401     200     403     403   403    200    200     403     403     403
POST /v2/booter/cns/{server_uuid}/bundle
                                      401   401   401 409/404     403     403   403 409/404   403     403     403     403
PUT /v2/booter/cns/{server_uuid}/setup-script
                                      401   401   401 409/404     403     403   403 409/404   403     403     403     403
GET /v2/booter/setup-scripts/{token_sha256}
                                      401   401   401 200/404     403     403   403 200/404   403     403     403     403
POST /v2/booter/cns/{server_uuid}/setup-script/bundle
                                      401   401   401 409/404     403     403   403 409/404   403     403     403     403
PUT /v2/booter/cns/{server_uuid}/hardware
                                      401   401   401 200/404     403     403   403 200/404   403     403     403     403
POST /v2/booter/cns/{server_uuid}/setup-progress
                                      401   401   401 409/404     403     403   403 409/404   403     403     403     403
POST /v2/booter/cns/{server_uuid}/setup-complete
                                      401   401   401 409/404     403     403   403 409/404   403     403     403     403
POST /v2/booter/cns/{server_uuid}/setup-failed
                                      401   401   401 409/404     403     403   403 409/404   403     403     403     403
GET /v1/silos                         401   401   401     200     200     403   403    403    403     403     403     403
POST /v1/silos                        401   401   401     201     403     403   403    403    403     403     403     403
GET /v1/silos/{silo_id}               401   401   401 200/404 200/404     403   403    403    403     403     403     403
PATCH /v1/silos/{silo_id}             401   401   401 200/404     403     403   403    403    403     403     403     403
DELETE /v1/silos/{silo_id}            401   401   401 409/404     403     403   403    403    403     403     403     403
GET /v1/silos/{silo_id}/tenants       401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/silos/{silo_id}/tenants      401   401   401 201/404     404     404   404    404    404     404     404     404
GET /v1/silos/{silo_id}/tenants/{tenant_id}
                                      401   401   401 200/404 200/404     404   404    404    404     404     404     404
PATCH /v1/silos/{silo_id}/tenants/{tenant_id}
                                      401   401   401 200/404     404     404   404    404    404     404     404     404
DELETE /v1/silos/{silo_id}/tenants/{tenant_id}
                                      401   401   401 204/404     404     404   404    404    404     404     404     404
GET /v1/tenants/{tenant_id}/usage     401   401   401 200/404 200/404     404   404    404    404     404     404     404
GET /v1/tenants/{tenant_id}/quota     401   401   401 200/404 200/404     404   404    404    404     404     404     404
PUT /v1/tenants/{tenant_id}/quota     401   401   401 200/404     404     404   404    404    404     404     404     404
DELETE /v1/tenants/{tenant_id}/quota  401   401   401 204/404     404     404   404    404    404     404     404     404
GET /v1/tenants/{tenant_id}/projects  401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/tenants/{tenant_id}/projects 401   401   401 201/404     404     404   404    404    404     404     404     404
GET /v1/tenants/{tenant_id}/projects/{project_id}
                                      401   401   401 200/404 200/404     404   404    404    404     404     404     404
PATCH /v1/tenants/{tenant_id}/projects/{project_id}
                                      401   401   401 200/404     404     404   404    404    404     404     404     404
DELETE /v1/tenants/{tenant_id}/projects/{project_id}
                                      401   401   401 204/404     404     404   404    404    404     404     404     404
GET /v1/tenants/{tenant_id}/projects/{project_id}/usage
                                      401   401   401 200/404 200/404     404   404    404    404     404     404     404
GET /v1/tenants/{tenant_id}/projects/{project_id}/usage/days
                                      401   401   401 200/404 200/404     404   404    404    404     404     404     404
GET /v1/tenants/{tenant_id}/projects/{project_id}/quota
                                      401   401   401 200/404 200/404     404   404    404    404     404     404     404
PUT /v1/tenants/{tenant_id}/projects/{project_id}/quota
                                      401   401   401 200/404     404     404   404    404    404     404     404     404
DELETE /v1/tenants/{tenant_id}/projects/{project_id}/quota
                                      401   401   401 204/404     404     404   404    404    404     404     404     404
GET /v1/vpcs                          401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/vpcs                         401   401   401 201/404     404     404   404    404    404     404     404     404
GET /v1/vpcs/{vpc_id}                 401   401   401 200/404 200/404     404   404    404    404     404     404     404
PATCH /v1/vpcs/{vpc_id}               401   401   401 200/404     404     404   404    404    404     404     404     404
DELETE /v1/vpcs/{vpc_id}              401   401   401 204/404     404     404   404    404    404     404     404     404
GET /v1/placement-groups              401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/placement-groups             401   401   401 201/404     404     404   404    404    404     404     404     404
GET /v1/placement-groups/{placement_group_id}
                                      401   401   401 200/404 200/404     404   404    404    404     404     404     404
PATCH /v1/placement-groups/{placement_group_id}
                                      401   401   401 200/404     404     404   404    404    404     404     404     404
DELETE /v1/placement-groups/{placement_group_id}
                                      401   401   401 204/404     404     404   404    404    404     404     404     404
GET /v1/subnets                       401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/subnets                      401   401   401 201/404     404     404   404    404    404     404     404     404
GET /v1/subnets/{subnet_id}           401   401   401 200/404 200/404     404   404    404    404     404     404     404
PATCH /v1/subnets/{subnet_id}         401   401   401 200/404     404     404   404    404    404     404     404     404
PUT /v1/subnets/{subnet_id}/route-table
                                      401   401   401 200/404     404     404   404    404    404     404     404     404
DELETE /v1/subnets/{subnet_id}        401   401   401 204/404     404     404   404    404    404     404     404     404
GET /v1/route-tables                  401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/route-tables                 401   401   401 201/404     404     404   404    404    404     404     404     404
GET /v1/route-tables/{route_table_id}
                                      401   401   401 200/404 200/404     404   404    404    404     404     404     404
PATCH /v1/route-tables/{route_table_id}
                                      401   401   401 200/404     404     404   404    404    404     404     404     404
DELETE /v1/route-tables/{route_table_id}
                                      401   401   401 204/404     404     404   404    404    404     404     404     404
GET /v1/routes                        401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/routes                       401   401   401 201/404     404     404   404    404    404     404     404     404
GET /v1/routes/{route_id}             401   401   401 200/404 200/404     404   404    404    404     404     404     404
PATCH /v1/routes/{route_id}           401   401   401 200/404     404     404   404    404    404     404     404     404
DELETE /v1/routes/{route_id}          401   401   401 204/404     404     404   404    404    404     404     404     404
GET /v1/firewall-rules                401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/firewall-rules               401   401   401 201/404     404     404   404    404    404     404     404     404
GET /v1/firewall-rules/{firewall_rule_id}
                                      401   401   401 200/404 200/404     404   404    404    404     404     404     404
PATCH /v1/firewall-rules/{firewall_rule_id}
                                      401   401   401 200/404     404     404   404    404    404     404     404     404
DELETE /v1/firewall-rules/{firewall_rule_id}
                                      401   401   401 204/404     404     404   404    404    404     404     404     404
GET /v1/vpcs/{vpc_id}/firewall-rules  401   401   401 200/404 200/404     404   404   404    404     404     404     404
PUT /v1/vpcs/{vpc_id}/firewall-rules  401   401   401 200/404     404     404   404   404    404     404     404     404
GET /v1/vpcs/{vpc_id}/firewall-check  401   401   401 200/404 200/404     404   404   404    404     404     404     404
GET /v1/nat-gateways                  401   401   401 200/404 200/404     404   404   404    404    404     404     404     404
POST /v1/nat-gateways                 401   401   401 201/404     404     404   404   404    404    404     404     404     404
GET /v1/nat-gateways/{nat_gateway_id}
                                      401   401   401 200/404 200/404     404   404   404    404    404     404     404     404
PATCH /v1/nat-gateways/{nat_gateway_id}
                                      401   401   401 200/404     404     404   404   404    404    404     404     404     404
DELETE /v1/nat-gateways/{nat_gateway_id}
                                      401   401   401 204/404     404     404   404   404    404    404     404     404     404
GET /v1/webhooks                      401   401   401 200/404 200/404     404   404   404    404    404     404     404     404
POST /v1/webhooks                     401   401   401 201/404     404     404   404   404    404    404     404     404     404
GET /v1/webhooks/{webhook_id}         401   401   401 200/404 200/404     404   404   404    404    404     404     404     404
PATCH /v1/webhooks/{webhook_id}       401   401   401 200/404     404     404   404   404    404    404     404     404     404
DELETE /v1/webhooks/{webhook_id}      401   401   401 204/404     404     404   404   404    404    404     404     404     404
GET /v1/webhooks/{webhook_id}/deliveries
                                      401   401   401 200/404 200/404     404   404   404    404    404     404     404     404
GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}
                                      401   401   401 200/404 200/404     404   404   404    404    404     404     404     404
POST /v1/webhooks/{webhook_id}/test   401   401   401 201/404     404     404   404   404    404    404     404     404     404
POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver
                                      401   401   401 200/404     404     404   404   404    404    404     404     404     404
GET /v1/port-forwards                 401   401   401 200/404 200/404     404   404   404    404    404     404     404     404
POST /v1/port-forwards                401   401   401 201/404     404     404   404   404    404    404     404     404     404
GET /v1/port-forwards/{port_forward_id}
                                      401   401   401 200/404 200/404     404   404   404    404    404     404     404     404
PATCH /v1/port-forwards/{port_forward_id}
                                      401   401   401 200/404     404     404   404   404    404    404     404     404     404
DELETE /v1/port-forwards/{port_forward_id}
                                      401   401   401 204/404     404     404   404   404    404    404     404     404     404
GET /v1/floating-ips                  401   401   401 200/404 200/404     404   404   404    404    404     404     404     404
POST /v1/floating-ips                 401   401   401 201/404     404     404   404   404    404    404     404     404     404
GET /v1/floating-ips/{floating_ip_id}
                                      401   401   401 200/404 200/404     404   404   404    404    404     404     404     404
PATCH /v1/floating-ips/{floating_ip_id}
                                      401   401   401 200/404     404     404   404   404    404    404     404     404     404
DELETE /v1/floating-ips/{floating_ip_id}
                                      401   401   401 204/404     404     404   404   404    404    404     404     404     404
POST /v1/floating-ips/{floating_ip_id}/attach
                                      401   401   401 409/404     404     404   404   404    404    404     404     404     404
POST /v1/floating-ips/{floating_ip_id}/detach
                                      401   401   401 200/404     404     404   404   404    404    404     404     404     404
POST /v1/tenants/{tenant_id}/projects/{project_id}/floating-ips/{floating_ip_id}/attach
                                      401   401   401 409/404     404     404   404   404    404    404     404     404     404
POST /v1/tenants/{tenant_id}/projects/{project_id}/floating-ips/{floating_ip_id}/detach
                                      401   401   401 200/404     404     404   404   404    404    404     404     404     404
GET /v1/system/nic-tags               401   401   401     200     200     404   404   404    404    404     404     404     404
POST /v1/system/nic-tags              401   401   401     201     404     404   404   404    404    404     404     404     404
GET /v1/system/nic-tags/{nic_tag_id}  401   401   401 200/404 200/404     404   404   404    404    404     404     404     404
DELETE /v1/system/nic-tags/{nic_tag_id}
                                      401   401   401 204/404     404     404   404   404    404    404     404     404     404
GET /v1/system/external-subnets       401   401   401     200     200     404   404   404    404    404     404     404     404
POST /v1/system/external-subnets      401   401   401     201     404     404   404   404    404    404     404     404     404
GET /v1/system/external-subnets/{external_subnet_id}
                                      401   401   401 200/404 200/404     404   404   404    404    404     404     404     404
PATCH /v1/system/external-subnets/{external_subnet_id}
                                      401   401   401 200/404     404     404   404   404    404    404     404     404     404
DELETE /v1/system/external-subnets/{external_subnet_id}
                                      401   401   401 204/404     404     404   404   404    404    404     404     404     404
GET /v1/system/network-pools          401   401   401     200     200     404   404   404    404    404     404     404     404
POST /v1/system/network-pools         401   401   401     201     404     404   404   404    404    404     404     404     404
GET /v1/system/network-pools/{network_pool_id}
                                      401   401   401 200/404 200/404     404   404   404    404    404     404     404     404
PUT /v1/system/network-pools/{network_pool_id}
                                      401   401   401 200/404     404     404   404   404    404    404     404     404     404
DELETE /v1/system/network-pools/{network_pool_id}
                                      401   401   401 204/404     404     404   404   404    404    404     404     404     404
GET /v1/system/cn-nic-tags            401   401   401     200     200     404   404   404    404    404     404     404     404
GET /v1/images                         200   200   401     200     200     200   200    200    200     200     200     200
POST /v1/images                        401   401   401     201     403     403   403    403    403     403     403     403
GET /v1/images/{image_id}
                                  200/404 200/404 401 200/404 200/404 200/404 200/404 200/404 200/404 200/404 200/404 200/404
PATCH /v1/images/{image_id}            401   401   401 200/404     403     403   403    403    403 403/404     403     403
DELETE /v1/images/{image_id}           401   401   401 204/404     403     403   403    403    403 403/404     403     403
GET /v1/silos/{silo_id}/images         401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/silos/{silo_id}/images        401   401   401 201/404     404     404   404    404    404     404     404     404
GET /v1/tenants/{tenant_id}/images     401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/tenants/{tenant_id}/images    401   401   401 201/404     404     404   404    404    404     404     404     404
GET /v1/tenants/{tenant_id}/projects/{project_id}/images
                                       401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/tenants/{tenant_id}/projects/{project_id}/images
                                       401   401   401 201/404     404     404   404    404    404     404     404     404
GET /v1/instances                      401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/instances                     401   401   401 400/404     404     404   404    404    404     404     404     404
GET /v1/instances/{instance_id}        401   401   401 200/404 200/404     404   404    404    404     404     404     404
PATCH /v1/instances/{instance_id}      401   401   401 200/404     404     404   404    404    404     404     404     404
DELETE /v1/instances/{instance_id}     401   401   401 409/404     404     404   404    404    404     404     404     404
POST /v1/instances/{instance_id}/start 401   401   401 409/404     404     404   404    404    404     404     404     404
POST /v1/tenants/{tenant_id}/image-uploads
                                      401   401   401 409/404     404     404   404    404    404     404     404     404
GET /v1/image-uploads/{upload_id}     401   401   401 200/404 200/404     404   404    404    404     404     404     404
PUT /v1/image-uploads/{upload_id}/parts
                                      401   401   401 409/404     404     404   404    404    404     404     404     404
POST /v1/image-uploads/{upload_id}/finish
                                      401   401   401 409/404     404     404   404    404    404     404     404     404
DELETE /v1/image-uploads/{upload_id}  401   401   401 204/404     404     404   404    404    404     404     404     404
POST /v1/instances/{instance_id}/console-ticket
                                      401   401   401 201/404     404     404   404    404    404     404     404     404
GET /v1/instances/{instance_id}/console
                                      403   403   401     403     403     403   403    403    403     403     403     403
GET /v1/instances/{instance_id}/consoles
                                      401   401   401 200/404 200/404     404   404    404    404     404     404     404
GET /v1/instances/{instance_id}/console-log
                                      401   401   401 502/404 502/404     404   404    404    404     404     404     404
GET /v1/instances/{instance_id}/metrics
                                      401   401   401 200/404 200/404     404   404    404    404     404     404     404
GET /v1/instances/{instance_id}/load  401   401   401 200/404 200/404     404   404    404    404     404     404     404
GET /v1/instances/{instance_id}/screenshot
                                      401   401   401 409/404 409/404     404   404    404    404     404     404     404
POST /v1/instances/{instance_id}/stop  401   401   401 409/404     404     404   404    404    404     404     404     404
POST /v1/instances/{instance_id}/restart
                                       401   401   401 409/404     404     404   404    404    404     404     404     404
POST /v1/instances/{instance_id}/reset 401   401   401 409/404     404     404   404    404    404     404     404     404
POST /v1/instances/{instance_id}/retry 401   401   401 409/404     404     404   404    404    404     404     404     404
POST /v1/instances/{instance_id}/rebuild
                                       401   401   401 409/404     404     404   404    404    404     404     404     404
POST /v1/instances/{instance_id}/migrate
                                       401   401   401 409/404     404     404   404    404    404     404     404     404
GET /v1/instances/{instance_id}/migrations
                                       401   401   401 200/404 200/404     404   404    404    404     404     404     404
GET /v1/disks                          401   401   401 200/404 200/404     404   404    404    404     404     404     404
GET /v1/disks/{disk_id}                401   401   401 200/404 200/404     404   404    404    404     404     404     404
PATCH /v1/disks/{disk_id}              401   401   401 200/404     404     404   404    404    404     404     404     404
POST /v1/disks/{disk_id}/resize        401   401   401 400/404     404     404   404    404    404     404     404     404
POST /v1/disks                         401   401   401 409/404     404     404   404    404    404     404     404     404
POST /v1/disks/{disk_id}/attach        401   401   401 409/404     404     404   404    404    404     404     404     404
POST /v1/disks/{disk_id}/detach        401   401   401 409/404     404     404   404    404    404     404     404     404
DELETE /v1/disks/{disk_id}             401   401   401 409/404     404     404   404    404    404     404     404     404
GET /v1/snapshots                      401   401   401 200/404 200/404     404   404    404    404     404     404     404
GET /v1/snapshots/{snapshot_id}        401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/snapshots                     401   401   401 409/404     404     404   404    404    404     404     404     404
PATCH /v1/snapshots/{snapshot_id}      401   401   401 200/404     404     404   404    404    404     404     404     404
DELETE /v1/snapshots/{snapshot_id}     401   401   401 409/404     404     404   404    404    404     404     404     404
POST /v1/snapshots/{snapshot_id}/image
                                       401   401   401 409/404     404     404   404    404    404     404     404     404
GET /v1/nics                           401   401   401 200/404 200/404     404   404    404    404     404     404     404
GET /v1/nics/{nic_id}                  401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/nics                          401   401   401 409/404     404     404   404    404    404     404     404     404
PATCH /v1/nics/{nic_id}                401   401   401 409/404     404     404   404    404    404     404     404     404
DELETE /v1/nics/{nic_id}               401   401   401 409/404     404     404   404    404    404     404     404     404
GET /v1/ssh-keys                       200   200   401     200     200     200   200    200    200     200     200     200
POST /v1/ssh-keys                      401   401   401     201     403     403   403    403    403     403     403     403
GET /v1/ssh-keys/{key_id}
                                  200/404 200/404 401 200/404 200/404 200/404 200/404 200/404 200/404 200/404 200/404 200/404
PATCH /v1/ssh-keys/{key_id}            401   401   401 200/404     403     403   403    403    403 403/404     403     403
DELETE /v1/ssh-keys/{key_id}           401   401   401 204/404     403     403   403    403    403 403/404     403     403
GET /v1/silos/{silo_id}/ssh-keys       401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/silos/{silo_id}/ssh-keys      401   401   401 201/404     404     404   404    404    404     404     404     404
GET /v1/tenants/{tenant_id}/ssh-keys   401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/tenants/{tenant_id}/ssh-keys  401   401   401 201/404     404     404   404    404    404     404     404     404
GET /v1/tenants/{tenant_id}/projects/{project_id}/ssh-keys
                                       401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/tenants/{tenant_id}/projects/{project_id}/ssh-keys
                                       401   401   401 201/404     404     404   404    404    404     404     404     404
GET /v1/auth/ssh-keys                  401   401   401     200     200     403   403    403    403     200     403     403
POST /v1/auth/ssh-keys                 401   401   401     201     403     403   403    403    403     201     403     403
POST /v1/auth/login               200/401 200/401 401 200/401 200/401 200/401 200/401 200/401 200/401 200/401 200/401 200/401
POST /v1/console/session          200/401 200/401 401 200/401 200/401 200/401 200/401 200/401 200/401 200/401 200/401 200/401
GET /v1/auth/oidc/start               302   302   401     302     302     302   302    302    302     302     302     302
GET /v1/auth/oidc/callback            302   302   401     302     302     302   302    302    302     302     302     302
DELETE /v1/console/session            401   401   401     400     400     400   400    400    400     400     400     400
POST /v1/auth/refresh             200/401 200/401 401 200/401 200/401 200/401 200/401 200/401 200/401 200/401 200/401 200/401
POST /v1/auth/logout                  401   401   401     400     400     400   400    400    400     400     400     400
POST /v1/auth/password                401   401   401     409     403     403   403    403    403     409     403     403
GET /v1/system/users                  401   401   401     200     200     404   404    404    404     404     404     404
POST /v1/system/users                 401   401   401     201     404     404   404    404    404     404     404     404
GET /v1/system/users/{user_id}        401   401   401 200/404 200/404     404   404    404    404     404     404     404
DELETE /v1/system/users/{user_id}     401   401   401 204/404     404     404   404    404    404     404     404     404
PUT /v1/system/users/{user_id}/password
                                      401   401   401 200/404     404     404   404    404    404     404     404     404
PUT /v1/system/users/{user_id}/capabilities/{capability}
                                      401   401   401 200/404     404     404   404    404    404     404     404     404
DELETE /v1/system/users/{user_id}/capabilities/{capability}
                                      401   401   401 200/404     404     404   404    404    404     404     404     404
GET /v1/tenants/{tenant_id}/api-keys  401   401   401 200/404 200/404     404   404    404    404     404     404     404
POST /v1/tenants/{tenant_id}/api-keys 401   401   401 201/404     404     404   404    404    404     404     404     404
DELETE /v1/tenants/{tenant_id}/api-keys/{id}
                                      401   401   401 204/404     404     404   404    404    404     404     404     404
GET /v1/tenants/{tenant_id}/idp       401   401   401 200/404 200/404     403   403    403    403     403     403     403
POST /v1/tenants/{tenant_id}/idp      401   401   401 201/404     403     403   403    403    403     403     403     403
DELETE /v1/tenants/{tenant_id}/idp    401   401   401 204/404     403     403   403    403    403     403     403     403
GET /metrics                          401   401   401     200     200     403   403    403    403     403     403     403
`;
const [HEAD = "", ...ROWS] = TABLE.trim().replace(/\n(?=\s)/g, "").split("\n");
const COLUMNS = HEAD.split(/\s+/).slice(1);
/** The expected cells of each route, in the order of the columns. The key is `METHOD /path`. */
const EXPECTED = new Map(ROWS.map((row) => {
  const [method, path, ...cells] = row.split(/\s+/);
  return [`${method} ${path}`, cells];
}));

type Target = { readonly path: string; readonly body?: unknown };
type Objects = "existing" | "absent";

/** All requests have this request id, so that the test can compare answers byte by byte. */
const REQUEST_ID = randomUUID();

let t: TestControlPlane;
let nodeToken: string;
let operation: string;
/** The request headers of each column. A column can have several credentials; each must get the same status. */
const callers = new Map<string, Headers[]>();
const userKeys = new Map<string, string>();
/** The node of each column's key. */
const nodes = new Map<string, string>();

function bearer(key: string): Headers {
  return new Headers({ authorization: `Bearer ${key}` });
}

beforeAll(async () => {
  t = await openTestControlPlane({ env: { BERTH_LOGIN_PER_MINUTE: "1000000" } });
  const expired = await t.mintKey("full", { expires_at: new Date(Date.now() + 60_000).toISOString() });
  await t.advance(61);
  const revoked = await t.mintKey("full");
  await t.call("DELETE", `/v1/auth/api-keys/${revoked.id}`);
  const twice = bearer(ROOT_KEY);
  twice.append("authorization", `Bearer ${ROOT_KEY}`);
  const user = await addUser(t.db, "somebody");
  const node = await t.approvedNode();
  const off = await t.approvedNode();
  await t.call("POST", `/v1/cns/${off.server_uuid}/disable`);
  for (const route of ["PUT /v2/platform-images", "PUT /v2/cn-boot-policy"]) {
    const [method = "", path = ""] = route.split(" ");
    okOf(await t.call(method, path, { body: acceptedBodies[route]?.() }));
  }
  nodeToken = node.poll_token;
  operation = (await t.call("GET", "/v1/operations")).body[0].id;
  await t.call("GET", `/v1/operations/${operation}?wait=5`);

  userKeys.set("user", user.key);
  callers.set("anon", [new Headers()]);
  callers.set("query", [new Headers()]);
  callers.set("bad", [
    bearer("garbage"),
    bearer(`${ROOT_KEY.slice(0, -1)}0`),
    bearer(`opsk_unknownunkno_${"0".repeat(32)}`),
    new Headers({ authorization: `Basic ${btoa(`root:${ROOT_KEY}`)}` }),
    new Headers({ authorization: `Bearer  ${ROOT_KEY}` }),
    new Headers({ authorization: `bearer ${ROOT_KEY}` }),
    new Headers({ authorization: ROOT_KEY }),
    new Headers({ authorization: "Bearer" }),
    new Headers({ authorization: "" }),
    twice,
    bearer(expired.secret),
    bearer(revoked.secret),
  ]);
  callers.set("root", [bearer(ROOT_KEY)]);
  callers.set("read", [bearer((await t.mintKey("read_only")).secret)]);
  callers.set("audit", [bearer((await t.mintKey("audit_only")).secret)]);
  callers.set("agent", [bearer((await t.mintKey("agent")).secret)]);
  callers.set("booter", [bearer((await t.mintKey("booter")).secret)]);
  callers.set("enroll", [bearer((await t.mintKey("ur_enroll")).secret)]);
  callers.set("user", [bearer(user.key)]);
  nodes.set("node", node.server_uuid);
  nodes.set("off", off.server_uuid);
  callers.set("node", [bearer(node.api_key)]);
  callers.set("off", [bearer(off.api_key)]);
});
afterAll(() => t.close());

const node = async (objects: Objects) => objects === "existing" ? (await t.register()).server_uuid : randomUUID();

/**
 * For some routes, a function that returns the request; `usual` returns the requests of all other routes. A request can
 * fail only because of permissions or a missing object.
 */
const TARGETS: Record<string, (objects: Objects, column: string) => Promise<Target> | Target> = {
  "POST /v1/agent/register": async (objects) => ({
    path: "/v1/agent/register",
    body: { server_uuid: await node(objects), hostname: "n", sysinfo: {} },
  }),
  "GET /v1/agent/register/status": (objects) => ({
    path: `/v1/agent/register/status?poll_token=${objects === "existing" ? nodeToken : "0".repeat(32)}`,
  }),
  "GET /v1/system/cns/{cn_id}": async (objects) => ({ path: `/v1/system/cns/${await node(objects)}` }),
  "GET /v1/system/cns/{cn_id}/capacity": async (objects) => ({
    path: `/v1/system/cns/${await node(objects)}/capacity`,
  }),
  "GET /v1/system/cns/{cn_id}/load": async (objects) => ({ path: `/v1/system/cns/${await node(objects)}/load` }),
  "DELETE /v1/auth/sessions/{session_id}": () => ({ path: `/v1/auth/sessions/${randomUUID()}` }),
  "GET /v1/system/cns/{cn_id}/doctor": async (objects) => ({ path: `/v1/system/cns/${await node(objects)}/doctor` }),
  "GET /v1/system/cns/{cn_id}/instances": async (objects) => ({
    path: `/v1/system/cns/${await node(objects)}/instances`,
  }),
  "GET /lab/sign-in/{code}": () => ({ path: "/lab/sign-in/unknown" }),
  "GET /v1/search": () => ({ path: "/v1/search?q=x" }),
  "GET /v1/system/instances": () => ({ path: `/v1/system/instances?cn=${randomUUID()}` }),
  "POST /v1/cn-approvals": async (objects) => ({
    path: "/v1/cn-approvals",
    body: { code: objects === "existing" ? (await t.register()).claim_code : "000-000" },
  }),
  "DELETE /v1/auth/api-keys/{id}": async (objects, column) => ({
    path: `/v1/auth/api-keys/${objects === "existing" ? await ownKey(column) : randomUUID()}`,
  }),
  "GET /v2/cn-boot/{mac}/doctor": async (objects) => ({ path: `/v2/cn-boot/${await mac(objects)}/doctor` }),
  "GET /v2/cn-boot/{mac}": async (objects) => ({ path: `/v2/cn-boot/${await mac(objects)}` }),
  "PUT /v2/cn-boot-roster": () => ({ path: "/v2/cn-boot-roster", body: [] }),
  "POST /v2/booter/seen": async (objects) => ({ path: "/v2/booter/seen", body: { mac: await mac(objects) } }),
  "POST /v2/booter/announce": async (objects) => ({
    path: "/v2/booter/announce",
    body: { server_uuid: await node(objects), hostname: "n", sysinfo: {} },
  }),
  "GET /v2/booter/setup-scripts/{token_sha256}": async (objects) => ({
    path: `/v2/booter/setup-scripts/${await scriptToken(objects)}`,
  }),
  ...networkTargets(() => t),
  ...jobTargets(() => t, nodes),
  ...instanceTargets(() => t),
  ...publicAddressTargets(() => t),
  ...identityTargets(() => t),
  ...scopedTargets(() => t),
  "GET /v1/config/{key}": setting,
  "PUT /v1/config/{key}": (objects) => ({ ...setting(objects), body: { value: 0.5 } }),
  "DELETE /v1/config/{key}": setting,
  "GET /v1/audit/events/{seq}": (objects) => ({ path: `/v1/audit/events/${objects === "existing" ? 0 : 99_999_999}` }),
  "GET /v1/agent/images/{upload_id}": () => ({ path: `/v1/agent/images/${randomUUID()}?part=0` }),
  "POST /v1/agent/images/{upload_id}": () => ({ path: `/v1/agent/images/${randomUUID()}`, body: { size_bytes: 1 } }),
  "PUT /v1/agent/images/{upload_id}/parts": () => ({ path: `/v1/agent/images/${randomUUID()}/parts?from=0` }),
  "POST /v1/agent/images/{upload_id}/finish": () => ({ path: `/v1/agent/images/${randomUUID()}/finish`, body: {} }),
  ...Object.fromEntries(UPLOAD_ROUTES.map((route) => [route, (objects: Objects) => uploadTarget(route, objects)])),
  "GET /v1/agent/consoles/{session_id}": () => ({ path: `/v1/agent/consoles/${randomUUID()}` }),
  "GET /v1/operations/{id}": (objects) => ({ path: `/v1/operations/${ofOperation(objects)}` }),
  "POST /v1/operations/{id}/abandon": (objects) => ({ path: `/v1/operations/${ofOperation(objects)}/abandon` }),
};

/**
 * Returns the request of a route that is not in TARGETS. Parameters of the path get a MAC address, or the id of a node,
 * a silo, a tenant or a project. The body is valid.
 */
async function usual(route: string, objects: Objects): Promise<Target> {
  const [, pattern = ""] = route.split(" ");
  const withNode = pattern.includes("{server_uuid}") ? pattern.replace("{server_uuid}", await node(objects)) : pattern;
  const withMac = withNode.includes("{mac}") ? withNode.replace("{mac}", await mac(objects)) : withNode;
  const path = /\{(silo|tenant|project)_id\}/.test(withMac) ? await tenancyPath(withMac, objects) : withMac;
  return { path, body: acceptedBodies[route]?.() };
}

/** Returns a path below a new silo and tenant, and sets the quotas that the path needs. */
async function tenancyPath(pattern: string, objects: Objects): Promise<string> {
  const ids: Record<string, string> = { silo_id: randomUUID(), tenant_id: randomUUID(), project_id: randomUUID() };
  if (objects === "existing") {
    const body = { name: randomUUID() };
    ids.silo_id = okOf(await t.call("POST", "/v1/silos", { body })).id;
    ids.tenant_id = okOf(await t.call("POST", `/v1/silos/${ids.silo_id}/tenants`, { body })).id;
    const limits = acceptedBodies["PUT /v1/tenants/{tenant_id}/quota"]?.();
    if (pattern.endsWith("/quota")) okOf(await t.call("PUT", `/v1/tenants/${ids.tenant_id}/quota`, { body: limits }));
    if (pattern.includes("{project_id}")) {
      ids.project_id = okOf(await t.call("POST", `/v1/tenants/${ids.tenant_id}/projects`, { body })).id;
      const quota = `/v1/tenants/${ids.tenant_id}/projects/${ids.project_id}/quota`;
      if (!pattern.endsWith("{project_id}")) okOf(await t.call("PUT", quota, { body: limits }));
    }
  }
  return pattern.replace(/\{(\w+)\}/g, (whole, name) => ids[name] ?? whole);
}

/** Returns a new MAC address. For an existing object, it also creates an enrolling boot record without a node. */
async function mac(objects: Objects): Promise<string> {
  const address = `02${randomBytes(5).toString("hex")}`.replace(/..(?=.)/g, "$&:");
  if (objects === "existing") okOf(await t.call("POST", "/v2/booter/seen", { body: { mac: address } }));
  return address;
}

/** Returns a new token's SHA-256. For an existing object, it also starts a setup whose script has this token. */
async function scriptToken(objects: Objects): Promise<string> {
  const token_sha256 = randomBytes(32).toString("hex");
  if (objects === "existing") {
    const mac = "02:be:57:00:00:01";
    const path = `/v2/booter/cns/${await bareMachine(t, "setting_up", mac)}`;
    const { epoch } = okOf(await t.call("POST", `${path}/bundle`));
    const body = { epoch, token_sha256, mac, address: "10.20.0.10" };
    okOf(await t.call("PUT", `${path}/setup-script`, { body }));
  }
  return token_sha256;
}

function setting(objects: Objects): Target {
  return { path: `/v1/config/${objects === "existing" ? "reservoir.percent_default" : "no.such_setting"}` };
}

/** Returns the request for an upload. This control plane has no image store, so the test inserts the upload's row. */
async function uploadTarget(route: string, objects: Objects): Promise<Target> {
  const id = randomUUID();
  if (objects === "existing") {
    const silo = okOf(await t.call("POST", "/v1/silos", { body: { name: id } }));
    const tenant = okOf(await t.call("POST", `/v1/silos/${silo.id}/tenants`, { body: { name: id } }));
    await addUpload(t, id, tenant.id);
  }
  const [, pattern = ""] = route.split(" ");
  const from = route.endsWith("/parts") ? "?from=0" : "";
  return { path: pattern.replace("{upload_id}", id) + from, body: acceptedBodies[route]?.() };
}

function ofOperation(objects: Objects): string {
  return objects === "existing" ? operation : randomUUID();
}

async function ownKey(column: string): Promise<string> {
  const key = userKeys.get(column) ?? ROOT_KEY;
  return (await t.call("POST", "/v1/auth/api-keys", { key, body: { description: "to be deleted" } })).body.id;
}

/**
 * The maximum number of a column's credentials that are tried on a missing object. A few are enough, because the server
 * checks the credential first. All credentials are tried on an existing object.
 */
const ABSENT_MAX = 3;

async function cell(route: string, column: string): Promise<string> {
  const statuses = { existing: new Set<number>(), absent: new Set<number>() };
  for (const objects of ["existing", "absent"] as const) {
    const tried = callers.get(column) ?? [];
    for (const headers of objects === "existing" ? tried : tried.slice(0, ABSENT_MAX)) {
      const answer = await ask(route, column, objects, headers);
      statuses[objects].add(answer.status);
      if (answer.status === 401) expect(refusalsOf401(route)).toContain(answer.text);
      if (answer.status === 401) expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    }
  }
  const [existing, absent] = [[...statuses.existing].join("+"), [...statuses.absent].join("+")];
  return existing === absent ? existing : `${existing}/${absent}`;
}

/** The answer to a request with a missing, malformed, expired, revoked or unknown credential. */
const UNAUTHENTICATED = refusal401("the API key or token is missing, not recognized, expired or revoked");
const WRONG_LOGIN = refusal401("wrong user name or password");

function refusal401(message: string): string {
  return JSON.stringify({ message, request_id: REQUEST_ID, error_code: "Unauthenticated" });
}

function refusalsOf401(route: string): string[] {
  return ["POST /v1/auth/login", "POST /v1/console/session"].includes(route)
    ? [UNAUTHENTICATED, WRONG_LOGIN]
    : [UNAUTHENTICATED];
}

/**
 * Returns whether a cell needs its own object: a cell of an agent's route, or a cell whose caller may change the
 * object.
 */
function needsItsOwn(route: string, column: string): boolean {
  if (route.includes(" /v1/agent/")) return true;
  const expected = EXPECTED.get(route)?.[COLUMNS.indexOf(column)] ?? "";
  return !route.startsWith("GET ") && expected.startsWith("2");
}

async function targetOf(route: string, objects: Objects, column: string): Promise<Target> {
  return await (TARGETS[route]?.(objects, column) ?? usual(route, objects));
}

/** `METHOD /path status` of every answer so far. */
const answered = new Set<string>();
const shared = new Map<string, Promise<Target>>();

/**
 * Returns the request for an object that several cells share. The callers of these cells only read the object, or are
 * refused.
 */
function sharedTarget(route: string, objects: Objects): Promise<Target> {
  const key = `${route} ${objects}`;
  const target = shared.get(key) ?? targetOf(route, objects, "root");
  shared.set(key, target);
  return target;
}

async function ask(route: string, column: string, objects: Objects, headers: Headers) {
  const [method = ""] = route.split(" ");
  const target = await (needsItsOwn(route, column) ? targetOf(route, objects, column) : sharedTarget(route, objects));
  const sent = new Headers(headers);
  sent.set("x-request-id", REQUEST_ID);
  const secret = column === "query" ? `${target.path.includes("?") ? "&" : "?"}access_token=${ROOT_KEY}` : "";
  const answer = await t.call(method, target.path + secret, { key: null, headers: sent, body: target.body });
  answered.add(`${route} ${answer.status}`);
  // Closes the window, because it would approve the nodes of later cells.
  if (route === "POST /v1/cn-auto-approve" && answer.status === 200) await t.call("DELETE", "/v1/cn-auto-approve");
  return answer;
}

test("S-01: the table has exactly one row for each route of the API description", async () => {
  const { paths } = (await t.call("GET", "/openapi.json")).body;
  const routes = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
  );
  expect([...EXPECTED.keys()].sort()).toEqual(routes.sort());
});

describe("each kind of caller gets the statuses of the table", () => {
  test.each([...EXPECTED.keys()])("%s", async (route) => {
    const found = await Promise.all(COLUMNS.map(async (column) => [column, await cell(route, column)]));
    const expected = COLUMNS.map((column, index) => [column, EXPECTED.get(route)?.[index]]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  });
});

test("for each route, the API description lists every status that the route returned", async () => {
  const { paths } = (await t.call("GET", "/openapi.json")).body;
  const undescribed = [...answered].filter((each) => {
    const [method = "", path = "", status = ""] = each.split(" ");
    return !(status in paths[path][method.toLowerCase()].responses);
  });
  expect(answered.size).toBeGreaterThan(EXPECTED.size);
  expect(undescribed).toEqual([]);
});

test("a refused action gets the same answer for an existing and a missing node", async () => {
  const key = (await t.mintKey("read_only")).secret;
  const texts = await Promise.all(["existing", "absent"].map(async (objects) => {
    const path = `/v1/cns/${await node(objects as Objects)}/disable`;
    return (await t.call("POST", path, { key, headers: { "x-request-id": REQUEST_ID } })).text;
  }));
  expect(texts[0]).toBe(texts[1]);
  expect(JSON.parse(texts[0] ?? "")).toMatchObject({
    error_code: "Forbidden",
    message: expect.stringContaining("cn_disable"),
  });
});
