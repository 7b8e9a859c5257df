// Maps vendors' names of architectures to the names of the osinfo database, which the index uses.
const OSINFO_NAMES: Readonly<Record<string, string>> = {
  amd64: "x86_64",
  x86_64: "x86_64",
  // Microarchitecture levels of x86-64 (AlmaLinux v2, Ubuntu v3) have images of their own, so they have names of their
  // own.
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

/** Null for an unknown name: the builder leaves out such an image rather than publish it under a wrong name. */
export function osinfoArch(vendor_name: string): string | null {
  return OSINFO_NAMES[vendor_name] ?? null;
}
