// Makes the image index of the rack. The packaged builder builds the index from recorded answers of a vendor and signs
// it, and the control plane serves it.
import { createHash } from "node:crypto";
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as openpgp from "openpgp";
import { ROOT } from "../environment.ts";
import { releaseKeyText } from "./build.ts";
import { API_URL, DEBIAN } from "./plan.ts";
import { must } from "./processes.ts";

const HOME = "/var/lib/berth-images";
const USER = "berth-index-builder";
/** The time at which the vendor's answers were recorded. */
const RECORDED_AT = "2026-10-09T05:17:00Z";

export async function publishIndex(): Promise<void> {
  await must(["install", "-d", "-o", USER, "-g", USER, "-m", "755", HOME], { user: "root" });
  await cp(join(ROOT, "tests/fixtures/vendor-web/t0"), join(DEBIAN, HOME, "web"), { recursive: true });
  const key = join(HOME, "index.key");
  await writeFile(join(DEBIAN, key), await releaseKeyText(), { mode: 0o600 });
  await must(["chown", "-R", `${USER}:${USER}`, HOME], { user: "root" });
  const recorded = ["--recorded", `${HOME}/web`, "--at", RECORDED_AT, "--vendor", "debian"];
  await must(["index-builder", "all", "--site", `${HOME}/site`, "--sign-key", key, ...recorded], { user: USER });
  await must(["index-builder", "verify", `${HOME}/site`], { user: USER });
}

/**
 * Returns whether the image index of the control plane is signed. Its SHA256SUMS must have a good signature, and must
 * contain the digest of its images.json.
 */
export async function isSignedIndex(): Promise<boolean> {
  const [sums = "", signature = "", images = ""] = await Promise.all(
    ["SHA256SUMS", "SHA256SUMS.asc", "images.json"].map(async (name) => (await fetch(`${API_URL}/v1/${name}`)).text()),
  );
  const { signatures } = await openpgp.verify({
    message: await openpgp.createMessage({ text: sums }),
    signature: await openpgp.readSignature({ armoredSignature: signature }),
    verificationKeys: (await openpgp.readPrivateKey({ armoredKey: await releaseKeyText() })).toPublic(),
  });
  const is_good = await signatures[0]?.verified.catch(() => false) ?? false;
  return is_good && sums.includes(`${createHash("sha256").update(images).digest("hex")}  images.json`);
}
