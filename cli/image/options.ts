// Defines the options that several image verbs share.
import { command, each, option } from "../framework.ts";

export type PickOptions = { readonly arch?: string; readonly variant?: string; readonly format?: string };
export type FilterOptions = PickOptions & {
  readonly distro?: string;
  readonly release?: string;
  readonly alias?: string;
};

const INDEX = ["--index <place>", "URL or folder of the image index (default: the control plane's index)"] as const;
const VARIANT = ["--variant <variant>", "variant of the image, as named by the vendor"] as const;
const FORMAT = ["--format <format>", "disk image format: qcow2, raw, vmdk"] as const;

/** Returns a verb that acts on one image. */
export function picking(name: string, summary: string, example: string) {
  return command(name, summary, example)
    .option(...INDEX)
    .option("--arch <arch>", "architecture (default: x86_64 when the verb needs one file)")
    .option(...VARIANT)
    .option(...FORMAT);
}

/** Returns a verb that acts on all images that match its options. */
export function filtering(name: string, summary: string, example: string) {
  return command(name, summary, example)
    .option(...INDEX)
    .option("--distro <distro>", "only this distribution")
    .option("--release <release>", "only this release, by id or version")
    .option("--alias <alias>", "only the release with this alias: latest, lts or dev")
    .option("--arch <arch>", "only this architecture")
    .option(...VARIANT)
    .option(...FORMAT);
}

/** Options for the verification of a file, added to a verb's own options. */
export const TRUST_INDEX = option(
  "--trust-index",
  "trust the index; skip the vendor's checksum document",
);
export const SIGNATURE = option(
  "--signature",
  "also require the vendor's OpenPGP signature; name its key with --key or --fingerprint",
);
export const KEY = option("--key <file>", "the vendor's key, instead of the key that the index names");
export const FINGERPRINT = option("--fingerprint <hex>", "fingerprint of an accepted key; may be repeated").argParser(
  each,
);
