import { resolve } from "node:path";
import type { AnyCommand } from "../framework.ts";
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";
import type { Io } from "../internal/io.ts";
import { plainText } from "../internal/plain-text.ts";
import { statusLine } from "../internal/status-line.ts";
import { ALGORITHM_NAMES, type Hashes, hashFile, knownDigests, mismatch } from "./digest.ts";
import { filterImages } from "./filter.ts";
import type { Host } from "./host.ts";
import type { Artifact, Image } from "./model.ts";
import { FINGERPRINT, KEY, picking, SIGNATURE, TRUST_INDEX } from "./options.ts";
import { sizeOfFile } from "./part.ts";
import { artifactName, findImage, imageName } from "./pick.ts";
import { openSource } from "./source.ts";
import { proofText, proveListing, wishOf } from "./trust.ts";
import { checkImageSignatures } from "./vendor-check.ts";

type Match = { readonly image: Image; readonly artifact: Artifact };

export function verify(host: Host): AnyCommand {
  return picking(
    "verify",
    "Check that a file is the image of an index, and what the vendor lists; exit code 1 when not",
  )
    .argument("<file>", "the file as it was downloaded")
    .option("--image <image>", "the image it must be: DISTRO/RELEASE[/BUILD]; left out, whichever of the index it is")
    .addOption(TRUST_INDEX)
    .addOption(SIGNATURE)
    .addOption(KEY)
    .addOption(FINGERPRINT)
    .action(host.withIo(async (io, file, options) => {
      const wish = await wishOf(options);
      const path = resolve(file);
      if (await sizeOfFile(path) === null) throw new Failure(`there is no file ${path}`, EXIT.failure);
      const source = await openSource(host, io, options.index);
      const images = options.image === undefined ? await source.images() : [await findImage(source, options.image)];
      const { image, artifact } = matching(filterImages(images, options), await hashesOf(io, path));
      const proof = await proveListing(source, artifact, wish);
      const signed_by = [
        ...proof.signed_by,
        ...(wish.signature === null
          ? []
          : await checkImageSignatures(source, artifact, { wish: wish.signature, path })),
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
      algorithms: ALGORITHM_NAMES,
      tell: () => line.show(`checking ${path}`),
    });
  } finally {
    line.clear();
  }
}

/** Throws a Failure when the file is none of them. */
function matching(images: readonly Image[], hashes: Hashes): Match {
  const all = images.flatMap((image) => image.build.artifacts.map((artifact) => ({ image, artifact })));
  const vetted = all.filter(({ artifact }) => knownDigests(artifact).length > 0);
  const found = vetted.find(({ artifact }) => mismatch(hashes, knownDigests(artifact)) === null);
  if (found !== undefined) return found;
  const [only] = vetted;
  if (only === undefined) throw new Failure("the index has no hash to compare with", EXIT.failure);
  if (vetted.length > 1) throw new Failure(`it is none of the ${vetted.length} files the index lists`, EXIT.failure);
  const { algorithm, value } = mismatch(hashes, knownDigests(only.artifact))!;
  throw new Failure(`its ${algorithm} is ${hashes[algorithm]}, ${imageName(only.image)} has ${value}`, EXIT.failure);
}
