import { resolve } from "node:path";
import type { AnyCommand } from "../framework.ts";
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";
import type { Io } from "../internal/io.ts";
import { plainText } from "../internal/plain-text.ts";
import { statusLine } from "../internal/status-line.ts";
import { DIGEST_ALGORITHMS } from "../../src/lib/image-index/values.ts";
import { type Hashes, hashFile, knownDigests, mismatch } from "./digest.ts";
import { filterImages } from "./filter.ts";
import type { Host } from "./host.ts";
import type { Artifact, Image } from "./model.ts";
import { FINGERPRINT, KEY, picking, SIGNATURE, TRUST_INDEX } from "./options.ts";
import { sizeOfFile } from "./part.ts";
import { artifactName, findImage, imageName } from "./pick.ts";
import { openSource } from "./source.ts";
import { proofText, proveListing, trustPolicyOf } from "./trust.ts";
import { checkImageSignatures } from "./vendor-check.ts";

type Match = { readonly image: Image; readonly artifact: Artifact };

export function verify(host: Host): AnyCommand {
  return picking(
    "verify",
    "Check a file against an index and the vendor's checksums; exit code 1 if it differs",
    "debian-12.qcow2 --image debian/12",
  )
    .argument("<file>", "the downloaded file")
    .option("--image <image>", "the expected image, DISTRO/RELEASE[/BUILD] (default: search the whole index)")
    .addOption(TRUST_INDEX)
    .addOption(SIGNATURE)
    .addOption(KEY)
    .addOption(FINGERPRINT)
    .action(host.withIo(async (io, file, options) => {
      const check = await trustPolicyOf(options);
      const path = resolve(file);
      if (await sizeOfFile(path) === null) throw new Failure(`the file ${path} does not exist`, EXIT.failure);
      const source = await openSource(host, io, options.index);
      const images = options.image === undefined ? await source.images() : [await findImage(source, options.image)];
      const { image, artifact } = matching(filterImages(images, options), await hashesOf(io, path));
      const proof = await proveListing(source, artifact, check);
      const signed_by = [
        ...proof.signed_by,
        ...(check.signature === null
          ? []
          : await checkImageSignatures(source, artifact, { request: check.signature, path })),
      ];
      const whole = { ...proof, signed_by };
      const { variant = null, arch, format } = artifact;
      io.print(
        { file: path, image: imageName(image), variant, arch, format, digest_from: proof.traced, signed_by },
        `${plainText(path)}: ${imageName(image)} ${artifactName(artifact)}, ${proofText(whole)}`,
      );
    }));
}

async function hashesOf(io: Io, path: string): Promise<Hashes> {
  const line = statusLine(io);
  try {
    return await hashFile(io.environment, path, {
      algorithms: DIGEST_ALGORITHMS,
      onProgress: () => line.show(`checking ${path}`),
    });
  } finally {
    line.clear();
  }
}

/** Finds the file in the index by its hashes. Throws a Failure if the index does not list it. */
function matching(images: readonly Image[], hashes: Hashes): Match {
  const all = images.flatMap((image) => image.build.artifacts.map((artifact) => ({ image, artifact })));
  const has_digest = all.filter(({ artifact }) => knownDigests(artifact).length > 0);
  const found = has_digest.find(({ artifact }) => mismatch(hashes, knownDigests(artifact)) === null);
  if (found !== undefined) return found;
  const [only] = has_digest;
  if (only === undefined) throw new Failure("the index has no hash to compare the file with", EXIT.failure);
  if (has_digest.length > 1) {
    throw new Failure(`the file's hashes match none of the ${has_digest.length} files in the index`, EXIT.failure);
  }
  const { algorithm, value } = mismatch(hashes, knownDigests(only.artifact))!;
  throw new Failure(
    `the ${algorithm} of the file is ${hashes[algorithm]}, but the index lists ${value} for ${imageName(only.image)}`,
    EXIT.failure,
  );
}
