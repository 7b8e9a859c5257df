// Writes the bill of materials in CycloneDX 1.6. It lists the runtimes that the release contains, and all npm packages
// in deno.lock, including those that only the build and the tests need.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { closureOf, type Lock, type LockedPackage } from "./lock.ts";

export type BillInput = {
  readonly lock: Lock;
  readonly version: string;
  /** Names of npm packages that the programs import. They and their dependencies are required to run the programs. */
  readonly shipped: readonly string[];
  /** Versions of the runtimes that the release contains, by name. */
  readonly runtimes: Readonly<Record<string, string>>;
  readonly time_s: number;
};

export function billOfMaterials({ lock, version, shipped, runtimes, time_s }: BillInput): string {
  const required = new Set(closureOf(lock, shipped).map(reference));
  const packages = distinct([...lock.values()]);
  const root = `pkg:generic/berth@${version}`;
  const components = [
    ...Object.entries(runtimes).map(([name, each]) => ({
      type: "platform",
      "bom-ref": `pkg:generic/${name}@${each}`,
      name,
      version: each,
      scope: "required",
      purl: `pkg:generic/${name}@${each}`,
    })),
    ...packages.map((each) => ({
      type: "library",
      "bom-ref": reference(each),
      name: each.name,
      version: each.version,
      scope: required.has(reference(each)) ? "required" : "excluded",
      hashes: [{ alg: "SHA-512", content: digestOf(each.integrity) }],
      purl: reference(each),
    })),
  ];
  const dependencies = [
    {
      ref: root,
      dependsOn: [...Object.entries(runtimes).map(([name, each]) => `pkg:generic/${name}@${each}`), ...required],
    },
    ...packages.map((each) => ({
      ref: reference(each),
      dependsOn: [...new Set(each.needs.map((key) => reference(lock.get(key)!)))].sort(),
    })),
  ];
  const content = { components, dependencies };
  return `${
    JSON.stringify(
      {
        $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
        bomFormat: "CycloneDX",
        specVersion: "1.6",
        serialNumber: `urn:uuid:${uuidOf(JSON.stringify([root, content]))}`,
        version: 1,
        metadata: {
          timestamp: new Date(time_s * 1_000).toISOString(),
          component: { type: "application", "bom-ref": root, name: "berth", version },
        },
        ...content,
      },
      null,
      2,
    )
  }\n`;
}

/** Removes duplicates: the lock has a package once for each combination of peers. */
function distinct(packages: readonly LockedPackage[]): readonly LockedPackage[] {
  return [...new Map(packages.map((each) => [reference(each), each])).values()]
    .sort((a, b) => (reference(a) < reference(b) ? -1 : 1));
}

/** Returns the package URL (purl). It has %40 in place of the at sign of an npm scope; the slash stays. */
function reference({ name, version }: LockedPackage): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

function digestOf(integrity: string): string {
  return Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex");
}

/** Returns a UUID of version 8 (RFC 9562) made from the content, so that equal releases have equal serial numbers. */
function uuidOf(text: string): string {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
