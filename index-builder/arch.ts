// Vendors' names of architectures and the osinfo database's, which the index uses.
const OSINFO_NAMES: Readonly<Record<string, string>> = {
  amd64: "x86_64",
  x86_64: "x86_64",
  // The second level of x86-64, as AlmaLinux and Ubuntu (v3) offer it: another image, so another name.
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

/** Null for a name that is not known: such an image is not published rather than filed under a wrong name. */
export function osinfoArch(vendor_name: string): string | null {
  return OSINFO_NAMES[vendor_name] ?? null;
}
