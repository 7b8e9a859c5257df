// Reads the object of an audit event, such as `FloatingIp::"0198c2f4-…"`.
import { kindText, type Ref, shortId } from "./names.ts";

/** Returns the kind and the id of the object; null if the event has no object, or one without an id. */
export function objectOf(resource: string | null): Ref | null {
  const [, kind, id] = /^([A-Za-z]+)::"(.+)"$/.exec(resource ?? "") ?? [];
  if (kind === undefined || id === undefined) return null;
  return { scope: kind.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase(), id };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns the kind in words and the id, of a UUID only its end: "floating ip …edfd2a6d". Returns a resource without a
 * kind and an id unchanged, and an empty text for null.
 */
export function objectText(resource: string | null): string {
  const object = objectOf(resource);
  if (object === null) return resource ?? "";
  return `${kindText(object.scope)} ${UUID.test(object.id) ? shortId(object.id) : object.id}`;
}
