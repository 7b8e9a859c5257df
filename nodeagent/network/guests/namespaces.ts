// Creates sockets in the network namespaces of routers. A socket stays in the namespace in which it was created. So one
// thread enters a namespace, creates the sockets without a pause, and returns to its own namespace.
import { closeSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { foreignFunctions } from "./bun.ts";

/** Folder in which `ip netns` keeps the names of namespaces. */
const NAMESPACES = "/run/netns";
/** CLONE_NEWNET of sched.h. */
const NETWORK_NAMESPACE = 0x4000_0000;

export type Namespaces = {
  /**
   * Runs code in a namespace. The code must create its sockets before it returns. Throws an Error if the namespace does
   * not exist.
   */
  within<T>(name: string, create: () => T): T;
};

export async function openNamespaces(): Promise<Namespaces> {
  const { dlopen } = await foreignFunctions();
  const { symbols: libc } = dlopen("libc.so.6", { setns: { args: ["i32", "i32"], returns: "i32" } });
  const home = openSync("/proc/self/ns/net", "r");
  return {
    within: (name, create) => {
      const descriptor = openSync(join(NAMESPACES, name), "r");
      try {
        if (libc.setns(descriptor, NETWORK_NAMESPACE) !== 0) throw new Error(`cannot enter the namespace ${name}`);
        return create();
      } finally {
        // If the process cannot return, it ends: otherwise it would open its later sockets in the tenant's namespace.
        if (libc.setns(home, NETWORK_NAMESPACE) !== 0) process.abort();
        closeSync(descriptor);
      }
    },
  };
}

/** Returns a number that changes when another namespace replaces this namespace; null if no namespace has this name. */
export function namespaceIdentity(name: string): number | null {
  return statSync(join(NAMESPACES, name), { throwIfNoEntry: false })?.ino ?? null;
}
