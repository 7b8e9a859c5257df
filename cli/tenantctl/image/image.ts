// What the image verbs about the control plane share: which images there are, and how one is named. Document 4, 1.14.
import type { Whoami } from "../../../src/contract/api-key.ts";
import type { Image } from "../../../src/contract/image.ts";
import { isUuid } from "../../opsctl/record-name.ts";
import type { TenantIo } from "../open-io.ts";
import { pick } from "../record/pick.ts";

const PATH = "/v1/images";

/** The public ones, then those of the tenant and of the project, as far as the line or the credential says which. */
export async function visibleImages(io: TenantIo): Promise<Image[]> {
  const everybody = await io.all<Image>(PATH, { scope: "public" });
  const tenant = await io.tenant() ?? await tenantOfCaller(io);
  if (tenant === null) return everybody;
  const own = await io.get<Image[]>(`/v1/tenants/${tenant}/images`);
  const project = await io.project();
  if (project === undefined) return [...everybody, ...own];
  return [...everybody, ...own, ...await io.get<Image[]>(`/v1/tenants/${tenant}/projects/${project}/images`)];
}

/** An API key does not say of itself which tenant it acts in; the server does. */
async function tenantOfCaller(io: TenantIo): Promise<string | null> {
  return (await io.get<Whoami>("/v1/auth/whoami")).tenant_id;
}

/** A UUID is taken as it is. */
export async function resolveImage(io: TenantIo, name: string): Promise<string> {
  return isUuid(name) ? name.toLowerCase() : (await findImage(io, name)).id;
}

export async function findImage(io: TenantIo, name: string): Promise<Image> {
  if (isUuid(name)) return await io.get<Image>(`${PATH}/${name.toLowerCase()}`);
  return pick(await visibleImages(io), { name, words: "image", plural: "images" });
}
