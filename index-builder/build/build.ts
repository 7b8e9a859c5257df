// Resolves one build of a release. If the bytes of an image changed under a known build id, throws `held`, which raises
// an alarm. The operator can accept such changes.
import { isFault, messageOf, VendorFault } from "../fault.ts";
import { osinfoRef, pointEntry } from "../osinfo/lookup.ts";
import type { LocationKind } from "../../src/lib/image-index/values.ts";
import { artifactKey } from "../tree/check-build.ts";
import type { Artifact, Build } from "../tree/model.ts";
import type { BuildDraft, Visit } from "../vendor.ts";
import type { Web } from "../web/web.ts";
import { resolveArtifact } from "./artifact.ts";
import type { Gaps } from "./gaps.ts";
import { isName } from "../../src/lib/image-index/paths.ts";

export type BuildSetting = {
  readonly visit: Visit;
  readonly gaps: Gaps;
  readonly web: Web;
  readonly kind: LocationKind;
  readonly distro: string;
  readonly release: string;
  readonly previous: readonly Build[];
  readonly first_seen: string;
  /** True if the operator accepts changed bytes under a known build id. */
  readonly accept_changes: boolean;
};

/**
 * Returns the build to publish, or null if no image is available.
 * @throws VendorFault `gone` if the default image does not exist; `held` if a hash or size changed under the same build
 * id; or another fault of an image
 */
export async function resolveBuild(draft: BuildDraft, setting: BuildSetting): Promise<Build | null> {
  if (!isName(draft.build)) throw new VendorFault("unreadable", `"${draft.build}" cannot be a build id`);
  const before = setting.previous.find(({ build }) => build === draft.build);
  const artifacts = (await Promise.all(draft.artifacts.map((_, index) => artifactAt(draft, index, setting))))
    .flatMap((artifact) => artifact ?? []);
  if (artifacts.length === 0) return null;
  const change = artifacts.map((artifact) => changeIn(draft.build, before, artifact)).find((text) => text !== null) ??
    null;
  if (change !== null && !setting.accept_changes) throw new VendorFault("held", change);
  return {
    build: draft.build,
    point_release: draft.point_release,
    published_at: draft.published_at ?? null,
    // A build with changed bytes counts as new, even under the same id.
    first_seen: (change === null ? before?.first_seen : null) ?? setting.first_seen,
    osinfo: osinfoRef(pointEntry(setting.distro, draft.point_release)),
    artifacts,
  };
}

async function artifactAt(draft: BuildDraft, index: number, setting: BuildSetting): Promise<Artifact | null> {
  const { visit, web, kind, previous } = setting;
  const images = previous.flatMap((build) => build.artifacts);
  const artifact = draft.artifacts[index]!;
  try {
    return await resolveArtifact(artifact, {
      visit,
      web,
      kind,
      previous: (url) => images.find(({ locations }) => locations.some((location) => location.url === url)),
      release_known: kind === "primary" && previous.length > 0,
    });
  } catch (error) {
    const what = `${setting.release} ${artifact.variant ?? "-"} ${artifact.arch}`;
    // An archived build must be complete, because the builder never reads it again. Only a recording may lack images.
    const is_optional = kind === "primary" && index > 0;
    if (isFault(error, "not_recorded") || (is_optional && isFault(error, "gone", "held", "unverifiable"))) {
      visit.warn(`${what}: left out: ${messageOf(error)}`);
    } else if (!is_optional || !setting.gaps.allows(what, error)) {
      throw error;
    }
    return null;
  }
}

/** Describes how the bytes of an artifact changed under a known build id. Returns null if they did not change. */
function changeIn(id: string, before: Build | undefined, artifact: Artifact): string | null {
  const same = before?.artifacts.find((candidate) => artifactKey(candidate) === artifactKey(artifact));
  if (same === undefined) return null;
  const digests = artifact.integrity?.digests ?? [];
  const known = same.integrity?.digests ?? [];
  const changed = digests.find(({ algorithm, value }) =>
    known.some((digest) => digest.algorithm === algorithm && digest.value !== value)
  );
  const resized = same.size !== null && artifact.size !== null && same.size !== artifact.size;
  if (changed === undefined && !resized) return null;
  return `build ${id} ${artifactKey(artifact)}: the ${changed?.algorithm ?? "size"} changed under the same build id`;
}
