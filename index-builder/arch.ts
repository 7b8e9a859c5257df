// Maps vendors' names of architectures to the names of the osinfo database, which the index uses.
const OSINFO_NAMES: Readonly<Record<string, string>> = {
  amd64: "x86_64",
  x86_64: "x86_64",
  // Images for a microarchitecture level of x86-64 (AlmaLinux v2, Ubuntu v3) get their own architecture names.
  x86_64_v2: "x86_64_v2",
  amd64v3: "x86_64_v3",
  arm64: "aarch64",
  aarch64: "aarch64",
  armhf: "armv7l",
  armv7: "armv7l",
  ppc64el: "ppc64le",
  ppc64le: "ppc64le",
  riscv64: "riscv64",
  s390x: "s390x",
};

/** Returns the osinfo name, or null for an unknown name: the builder then leaves out the image. */
export function osinfoArch(vendor_name: string): string | null {
  return OSINFO_NAMES[vendor_name] ?? null;
}
