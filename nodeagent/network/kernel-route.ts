// Describes one route of a router's namespace.

/** The target of a route: packets are dropped, are rejected with an error, or leave through a device. */
export type Hop =
  | { readonly kind: "blackhole" | "unreachable" }
  | { readonly kind: "device"; readonly device: string }
  | { readonly kind: "gateway"; readonly gateway: string; readonly device: string };

/** A route of a kernel table. `destination` is a block, an address, or `default`. */
export type KernelRoute = {
  readonly table: number;
  readonly destination: string;
  readonly hop: Hop;
  /** True for a route that counts only while no other route to its destination exists. */
  readonly is_fallback?: boolean;
};

export const MAIN_TABLE = 254;
/**
 * The protocol of fallback routes, a number that no routing daemon uses. The driver's other routes are `static`. Agents
 * of earlier releases compare only `static` routes, so they ignore fallback routes.
 */
export const FALLBACK_PROTOCOL = "190";
/** Higher than the metrics of all other routes: 0 for IPv4 and 1,024 for IPv6. The lowest metric wins. */
export const FALLBACK_METRIC = 9_999;

/**
 * Keeps the last route to each destination of a table. So a tenant's route to a whole block replaces the block's
 * `unreachable` route.
 */
export function distinct(routes: readonly KernelRoute[]): readonly KernelRoute[] {
  return [...new Map(routes.map((route) => [destinationKey(route), route])).values()];
}

/** Two routes with the same key cannot be in the kernel at the same time. */
export function destinationKey({ table, destination, is_fallback = false }: KernelRoute): string {
  return `${table} ${destination} ${is_fallback}`;
}

/** Returns the destination as the kernel prints it. */
export function destinationText(block: string): string {
  if (block === "0.0.0.0/0" || block === "::/0") return "default";
  return block.replace(block.includes(":") ? /\/128$/ : /\/32$/, "");
}
