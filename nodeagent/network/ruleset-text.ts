// Writes the chains of a ruleset as lines of nftables text.

export function chain(name: string, rules: readonly string[]): string[] {
  return [`chain ${name} {`, ...rules.map((rule) => `  ${rule}`), "}"];
}

/** Returns a chain that the kernel calls at a hook. */
export function base(name: string, hook: string, rules: readonly string[]): string[] {
  return chain(name, [`type ${hook};`, ...rules]);
}

/** Returns the family of an address or a block, as nftables names it. */
export function familyOf(address: string): "ip" | "ip6" {
  return address.includes(":") ? "ip6" : "ip";
}
