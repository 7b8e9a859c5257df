// Finds completion candidates for records that have names: names first, then ids.
import type { User } from "../../../src/contract/identity.ts";
import { CAPABILITIES } from "../../../src/contract/enums.ts";
import type { Candidate } from "../../internal/completion.ts";
import type { Io } from "../../internal/io.ts";
import { EXTERNAL_SUBNETS_PATH } from "../external-subnet/subnet.ts";
import { POOLS_PATH } from "../network-pool/pool.ts";
import { TAGS_PATH } from "../nic-tag/tag.ts";
import { listProjects } from "../project/project.ts";
import { allSilos } from "../silo/silo.ts";
import { listTenants } from "../tenant/tenant.ts";
import { USERS_PATH } from "../user/user.ts";

type Named = { readonly id: string; readonly name: string };
/** A named record with its parent's name. */
type Child = Named & { readonly parent: string };

/** Returns the candidates for an argument, or null if the argument does not name a record. */
export function recordCandidates(io: Io, argument: string): Promise<Candidate[]> | null {
  switch (argument) {
    case "silo":
      return allSilos(io).then(candidatesOf);
    case "tenant":
      return listTenants(io, undefined).then((found) =>
        candidatesOf(distinct(found.map(({ silo, tenant }) => ({ ...tenant, parent: silo.name }))))
      );
    case "project":
      return listProjects(io, undefined).then((found) =>
        candidatesOf(distinct(found.map(({ tenant, project }) => ({ ...project, parent: tenant.name }))))
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

/**
 * Returns candidates for an argument that names a tenant or a project. If a tenant and a project have the same name,
 * their candidates start with the parent's name.
 */
async function bothCandidates(io: Io): Promise<Candidate[]> {
  const [tenants, projects] = await Promise.all([listTenants(io, undefined), listProjects(io, undefined)]);
  return candidatesOf(distinct([
    ...tenants.map(({ silo, tenant }) => ({ ...tenant, parent: silo.name })),
    ...projects.map(({ tenant, project }) => ({ ...project, parent: tenant.name })),
  ]));
}

function candidatesOf(records: readonly Named[]): Candidate[] {
  return [
    ...records.map(({ id, name }) => ({ value: name, summary: id })),
    ...records.map(({ id, name }) => ({ value: id, summary: name })),
  ];
}

/** Puts the parent in front of a name that several records have. */
function distinct(records: readonly Child[]): Named[] {
  const counts = new Map<string, number>();
  for (const { name } of records) counts.set(name, (counts.get(name) ?? 0) + 1);
  return records.map(({ id, name, parent }) => ({ id, name: counts.get(name) === 1 ? name : `${parent}/${name}` }));
}
