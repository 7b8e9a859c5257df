// Candidates of records that have a name: first their names, then their ids, since either may be given.
import type { User } from "../../../src/contract/identity.ts";
import { CAPABILITIES } from "../../../src/contract/enums.ts";
import type { Candidate } from "../../internal/completion.ts";
import type { Io } from "../../internal/io.ts";
import { EXTERNAL_SUBNETS_PATH } from "../external-subnet/subnet.ts";
import { POOLS_PATH } from "../network-pool/pool.ts";
import { TAGS_PATH } from "../nic-tag/tag.ts";
import { placedProjects } from "../project/project.ts";
import { allSilos } from "../silo/silo.ts";
import { placedTenants } from "../tenant/tenant.ts";
import { USERS_PATH } from "../user/user.ts";

type Named = { readonly id: string; readonly name: string };
type Placed = Named & { readonly place: string };

/** Null for an argument that names no such record. */
export function recordCandidates(io: Io, argument: string): Promise<Candidate[]> | null {
  switch (argument) {
    case "silo":
      return allSilos(io).then(candidatesOf);
    case "tenant":
      return placedTenants(io, undefined).then((found) =>
        candidatesOf(distinct(found.map(({ silo, tenant }) => ({ ...tenant, place: silo.name }))))
      );
    case "project":
      return placedProjects(io, undefined).then((found) =>
        candidatesOf(distinct(found.map(({ tenant, project }) => ({ ...project, place: tenant.name }))))
      );
    case "tenant-or-project":
      return bothCandidates(io);
    case "user":
      return io.all<User>(USERS_PATH).then((users) =>
        candidatesOf(users.map(({ id, username: name }) => ({ id, name })))
      );
    case "nic-tag":
      return io.all<Named>(TAGS_PATH).then(candidatesOf);
    case "external-subnet":
      return io.all<Named>(EXTERNAL_SUBNETS_PATH).then(candidatesOf);
    case "network-pool":
      return io.all<Named>(POOLS_PATH).then(candidatesOf);
    case "capability":
      return Promise.resolve(CAPABILITIES.map((value) => ({ value, summary: "" })));
    default:
      return null;
  }
}

/** A name that a tenant and a project have is offered as a project's, with its tenant. */
async function bothCandidates(io: Io): Promise<Candidate[]> {
  const [tenants, projects] = await Promise.all([placedTenants(io, undefined), placedProjects(io, undefined)]);
  return candidatesOf(distinct([
    ...tenants.map(({ silo, tenant }) => ({ ...tenant, place: silo.name })),
    ...projects.map(({ tenant, project }) => ({ ...project, place: tenant.name })),
  ]));
}

function candidatesOf(records: readonly Named[]): Candidate[] {
  return [
    ...records.map(({ id, name }) => ({ value: name, summary: id })),
    ...records.map(({ id, name }) => ({ value: id, summary: name })),
  ];
}

/** With its place in front where the name alone fits several. */
function distinct(records: readonly Placed[]): Named[] {
  const bearers = new Map<string, number>();
  for (const { name } of records) bearers.set(name, (bearers.get(name) ?? 0) + 1);
  return records.map(({ id, name, place }) => ({ id, name: bearers.get(name) === 1 ? name : `${place}/${name}` }));
}
