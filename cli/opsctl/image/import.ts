import type { Image as ImageRecord } from "../../../src/contract/image.ts";
import { INSTANCE_BRANDS, type InstanceBrand } from "../../../src/contract/enums.ts";
import { type AnyCommand, oneOf } from "../../framework.ts";
import type { Host } from "../../image/host.ts";
import type { Artifact, Image } from "../../image/model.ts";
import { FINGERPRINT, KEY, picking, SIGNATURE, TRUST_INDEX } from "../../image/options.ts";
import { findImage, imageName, pickArtifact } from "../../image/pick.ts";
import { openSource } from "../../image/source.ts";
import { type Proof, proofText, trustPolicyOf } from "../../image/trust.ts";
import { parseByteSize } from "../../internal/byte-size.ts";
import { Failure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { DESCRIPTION_OPTION } from "../../internal/named-patch.ts";
import { titleOf } from "../../internal/record-name.ts";
import { contentOf, listedSha256 } from "./content.ts";
import { IMAGES_PATH, publicImages } from "./record.ts";

/** Brand of imported images: vendors publish disk images of whole virtual machines. */
const BRAND: InstanceBrand = "bhyve";
const CONFLICT = 409;
const FORBIDDEN = 403;
/** Status of the answer if the control plane is too old to have the setting `fetch.allowed_private`. */
const NOT_FOUND = 404;

export function importImage(host: Host): AnyCommand {
  return picking("import", "Verify an image of an index and offer it to tenants", "debian/12 --name debian-12")
    .argument("<image>", "DISTRO/RELEASE or DISTRO/RELEASE/BUILD; a release may be its alias or version")
    .option("--name <name>", "name for tenants; by default DISTRO-RELEASE-BUILD-VARIANT-ARCH")
    .option(...DESCRIPTION_OPTION)
    .addOption(oneOf("--brand <brand>", "brand of its instances", INSTANCE_BRANDS).default(BRAND))
    .option("--min-platform <stamp>", "oldest platform image that can run it")
    .option("--download", "fetch and verify the image, and compute the values that the index does not list")
    .option(
      "--content-size <size>",
      "size of the disk in a compressed image: bytes, or a size such as 10GiB; --download measures it",
    )
    .addOption(TRUST_INDEX)
    .addOption(SIGNATURE)
    .addOption(KEY)
    .addOption(FINGERPRINT)
    .action(host.withIo(async (io, reference, options) => {
      const { contentSize } = options;
      const content_size = contentSize === undefined ? null : parseByteSize(contentSize, "--content-size");
      const policy = await trustPolicyOf(options);
      const source = await openSource(host, io, options.index, await allowedBySite(io));
      const image = await findImage(source, reference);
      const artifact = pickArtifact(image, options);
      const listed = listedSha256(artifact);
      const existing = listed === null ? undefined : await recordOf(io, listed);
      if (existing !== undefined) return printExisting(io, image, existing);
      const { proof, ...content } = await contentOf(io, {
        source,
        image,
        artifact,
        policy,
        download: options.download === true,
        content_bytes: content_size,
      });
      const { name, description, brand, minPlatform: min_platform } = options;
      const body = {
        ...content,
        name: name ?? defaultName(image, artifact),
        description,
        os: image.distro.id,
        version: image.build.point_release ?? image.release.version ?? image.release.id,
        compatibility: { brand, arch: artifact.arch, min_platform },
      };
      const imported = await createOrFind(io, body);
      if (imported.already_there) return printExisting(io, image, imported.record);
      printImported(io, { image, proof, record: imported.record });
    }));
}

/**
 * Returns the control plane's `fetch.allowed_private`. Returns an empty list if the caller lacks permission to read the
 * setting, or if the control plane does not have it.
 */
async function allowedBySite(io: Io): Promise<readonly unknown[]> {
  try {
    const { value } = await io.get<{ readonly value: unknown }>("/v1/config/fetch.allowed_private");
    return Array.isArray(value) ? value : [];
  } catch (error) {
    if (error instanceof Failure && (error.status === FORBIDDEN || error.status === NOT_FOUND)) return [];
    throw error;
  }
}

type Imported = { readonly record: ImageRecord; readonly already_there: boolean };

/** Creates the image. Returns the existing record if another operator imported the image in the meantime. */
async function createOrFind(io: Io, body: { readonly sha256: string }): Promise<Imported> {
  try {
    return { record: await io.post<ImageRecord>(IMAGES_PATH, body), already_there: false };
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== CONFLICT) throw error;
    const record = await recordOf(io, body.sha256);
    if (record === undefined) throw error;
    return { record, already_there: true };
  }
}

async function recordOf(io: Io, sha256: string): Promise<ImageRecord | undefined> {
  return (await publicImages(io)).find((record) => record.sha256 === sha256);
}

function defaultName({ distro, release, build }: Image, { variant, default_variant, arch }: Artifact): string {
  const flavour = default_variant === true ? null : variant ?? null;
  return [distro.id, release.id, build.build, flavour, arch].filter((part) => part !== null).join("-");
}

function printImported(io: Io, { image, proof, record }: { image: Image; proof: Proof; record: ImageRecord }): void {
  const { traced, signed_by } = proof;
  io.print(
    { ...record, already_there: false, digest_from: traced, signed_by },
    `Imported ${imageName(image)} as ${titleOf(record)}, ${proofText(proof)}`,
  );
}

function printExisting(io: Io, image: Image, record: ImageRecord): void {
  io.print({ ...record, already_there: true }, `${imageName(image)} is already imported as ${titleOf(record)}`);
}
