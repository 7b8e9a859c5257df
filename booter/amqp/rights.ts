// Checks the rights of a machine on the AMQP broker. The user name of a machine is its MAC address. The first server
// UUID that the connection uses is the machine's identity: later queues, bindings and messages must not contain another
// UUID. A binding must not have a wildcard in the place of the UUID, because it would receive messages of other
// machines.
import { createHmac, timingSafeEqual } from "node:crypto";
import { Buffer } from "node:buffer";

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const REQUEST_QUEUE = new RegExp(`^ur\\.request\\.(${UUID})\\.([0-9a-f:.-]{12,17})$`, "i");
const PING_QUEUE = new RegExp(`^ur\\.ping\\.(${UUID})$`, "i");
const BIND_KEYS = [
  new RegExp(`^ur\\.execute\\.(${UUID})(?:-[0-9a-f:-]{12,17})?\\.\\*$`, "i"),
  new RegExp(`^ur\\.ping\\.(${UUID})$`, "i"),
];
const BROADCAST_KEY = "ur.broadcast.*.*";
const PUBLISH_KEYS = [
  new RegExp(`^ur\\.startup\\.(${UUID})$`, "i"),
  new RegExp(`^ur\\.(?:sysinfo|execute-reply|execute)\\.(${UUID})\\.[A-Za-z0-9-]{1,64}$`, "i"),
  new RegExp(`^ur\\.ack[A-Za-z0-9.-]{0,128}\\.(${UUID})$`, "i"),
];
const OWN_QUEUE = /^amq\.gen-[0-9a-f]{24}$/;

export type QueueName =
  | { readonly kind: "request"; readonly server_uuid: string }
  | { readonly kind: "ping"; readonly server_uuid: string }
  | { readonly kind: "own" };

/** Parses the name of a queue. Returns null for a name that no machine may use. */
export function queueName(name: string): QueueName | null {
  const request = REQUEST_QUEUE.exec(name);
  if (request !== null) return { kind: "request", server_uuid: request[1]!.toLowerCase() };
  const ping = PING_QUEUE.exec(name);
  if (ping !== null) return { kind: "ping", server_uuid: ping[1]!.toLowerCase() };
  return OWN_QUEUE.test(name) ? { kind: "own" } : null;
}

/** Returns the server UUID in a binding key: null for the broadcast key, false for a key that no machine may bind. */
export function bindKeyOwner(key: string): string | null | false {
  return key === BROADCAST_KEY ? null : ownerIn(BIND_KEYS, key);
}

export function publishKeyOwner(key: string): string | false {
  return ownerIn(PUBLISH_KEYS, key);
}

function ownerIn(forms: readonly RegExp[], key: string): string | false {
  for (const form of forms) {
    const found = form.exec(key);
    if (found !== null) return found[1]!.toLowerCase();
  }
  return false;
}

/**
 * Derives a machine's login from the booter's secret and the machine's MAC address. So the booter stores no logins, and
 * each machine has a different login.
 */
export function amqpLogin(secret: Uint8Array, mac: string): { readonly user: string; readonly password: string } {
  const user = mac.replaceAll(":", "");
  return { user, password: createHmac("sha256", secret).update(`bus ${user}`).digest("hex").slice(0, 32) };
}

/** Returns the MAC address of a login, or null if the user name or the password is wrong. */
export function macOfLogin(secret: Uint8Array, user: string, password: string): string | null {
  if (!/^[0-9a-f]{12}$/.test(user)) return null;
  const mac = user.match(/../g)!.join(":");
  const expected = Buffer.from(amqpLogin(secret, mac).password);
  const given = Buffer.from(password);
  return given.length === expected.length && timingSafeEqual(given, expected) ? mac : null;
}
