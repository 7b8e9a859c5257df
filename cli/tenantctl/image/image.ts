// Lists and finds the control plane's images; shared by the image verbs. See docs/instances.md, "Images".
import type { Whoami } from "../../../src/contract/api-key.ts";
import type { Image } from "../../../src/contract/image.ts";
import { exactSizeText } from "../../internal/byte-size.ts";
import { labelLines } from "../../internal/labels.ts";
import { blockText } from "../../internal/table.ts";
import { isUuid } from "../../internal/record-name.ts";
import type { TenantIo } from "../open-io.ts";
import { pick } from "../record/pick.ts";
import { projectScope } from "../scope.ts";

export const PATH = "/v1/images";

/**
 * Lists the images that the caller can use. Without --project, also lists the images of the tenant's project if the
 * tenant has only one. If the tenant and the project are known, one request returns all these images. Otherwise joins
 * up to three lists: the public images, then the images of the silo and of the tenant if they are known.
 */
export async function visibleImages(io: TenantIo, label?: string): Promise<Image[]> {
  const levels = await imageLevels(io);
  const own: Image[] = [];
  for (const level of levels.own) own.push(...await io.get<Image[]>(`${level}/images`, { label }));
  return levels.with_public ? [...await io.all<Image>(PATH, { scope: "public", label }), ...own] : own;
}

/**
 * Returns the paths of the owners whose images to list (silo, tenant or project), and whether to list the public images
 * separately.
 */
export async function imageLevels(io: TenantIo): Promise<{ own: readonly string[]; with_public: boolean }> {
  const { tenant, project } = await projectScope(io);
  if (tenant === undefined) return { own: [], with_public: true };
  if (project !== undefined) return { own: [`/v1/tenants/${tenant}/projects/${project}`], with_public: false };
  const { tenant_id, home_silo_id } = await io.get<Whoami>("/v1/auth/whoami");
  const silo = tenant_id === tenant && home_silo_id !== null ? [`/v1/silos/${home_silo_id}`] : [];
  return { own: [...silo, `/v1/tenants/${tenant}`], with_public: true };
}

/** Returns the UUID of an image. A UUID needs no lookup. */
export async function resolveImage(io: TenantIo, name: string): Promise<string> {
  return isUuid(name) ? name.toLowerCase() : (await findImage(io, name)).id;
}

export async function findImage(io: TenantIo, name: string): Promise<Image> {
  if (isUuid(name)) return await io.get<Image>(`${PATH}/${name.toLowerCase()}`);
  return pick(await visibleImages(io), { name, singular: "image", plural: "images" });
}

/** Returns the lines that show and update print. */
export function imageText(image: Image): string {
  return blockText([
    ["id", image.id],
    ["name", image.name],
    ["description", image.description],
    ...labelLines(image.labels),
    ["scope", image.scope.kind],
    ["os", image.os],
    ["version", image.version],
    ["size", exactSizeText(image.size_bytes)],
    ["sha256", image.sha256],
  ]);
}
