import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type AnyCommand, option } from "../framework.ts";
import { plainText } from "../internal/plain-text.ts";
import { fetchImage } from "./fetch-image.ts";
import type { Host } from "./host.ts";
import type { Artifact } from "./model.ts";
import { FINGERPRINT, KEY, picking, SIGNATURE, TRUST_INDEX } from "./options.ts";
import { findImage, imageName, pickArtifact } from "./pick.ts";
import { sizeText } from "../internal/byte-size.ts";
import { fileName, openSource } from "./source.ts";
import { proofText, trustPolicyOf } from "./trust.ts";

export function download(host: Host): AnyCommand {
  return picking("download", "Download an image and verify it; an interrupted download is resumed", "debian/12")
    .argument("<image>", "DISTRO/RELEASE or DISTRO/RELEASE/BUILD; RELEASE may be an alias or a version")
    .option("--to <path>", "file or folder to write", ".")
    .addOption(TRUST_INDEX)
    .addOption(SIGNATURE)
    .addOption(KEY)
    .addOption(FINGERPRINT)
    .addOption(option("--no-verify", "do not check the file").conflicts("signature"))
    .action(host.withIo(async (io, reference, options) => {
      const source = await openSource(host, io, options.index);
      const image = await findImage(source, reference);
      const artifact = pickArtifact(image, options);
      const target = await targetOf(options.to, artifact);
      const check = options.verify ? await trustPolicyOf(options) : null;
      const fetched = await fetchImage(io, { source, image, artifact, target, check, other: "refuse" });
      const { variant = null, arch, format } = artifact;
      io.print(
        { file: target, image: imageName(image), variant, arch, format, ...flat(fetched) },
        `${plainText(target)}: ${imageName(image)}, ${sizeText(fetched.bytes)}, ` +
          `${proofText(fetched.proof)}${fetched.already_there ? " (already downloaded)" : ""}`,
      );
    }));
}

function flat({ proof, ...rest }: Awaited<ReturnType<typeof fetchImage>>) {
  return { ...rest, digest_from: proof.traced, signed_by: proof.signed_by };
}

async function targetOf(to: string, artifact: Artifact): Promise<string> {
  const path = resolve(to);
  const folder = to.endsWith("/") || await stat(path).then((found) => found.isDirectory(), () => false);
  return folder ? join(path, fileName(artifact)) : path;
}
