// Reads and builds the paths of pages and their parameters. This file does not need a browser.

/** The names in a pattern: "/nodes/:id" has { id: string }. */
export type Params<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [K in Name]: string } & Params<`/${Rest}`>
  : P extends `${string}:${infer Name}` ? { readonly [K in Name]: string }
  : unknown;

/** Returns the parameters of a path, or null if the path does not match the pattern. */
export function match(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const text = given[index] ?? "";
    if (!part.startsWith(":")) {
      if (part !== text) return null;
      continue;
    }
    const value = decoded(text);
    if (value === null || value === "") return null;
    params[part.slice(1)] = value;
  }
  return params;
}

/** The form of each parameter by its name, with the words for error texts. A parameter with another name is a UUID. */
const FORMS: Readonly<Record<string, readonly [RegExp, string]>> = {
  // The server takes the same forms.
  mac: [/^[0-9a-f](?:[:\-. ]?[0-9a-f]){11}$/i, "a MAC"],
  seq: [/^\d+$/, "a number"],
  text: [/./, "a text"],
};
const UUID = [/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, "a UUID"] as const;

/** A parameter that cannot name an object: its value, and the form that it should have, such as "a UUID". */
export type Malformed = { readonly value: string; readonly form: string };

/** Returns the first malformed parameter of a path; null if all parameters are well formed. */
export function malformed(params: Readonly<Record<string, string>>): Malformed | null {
  for (const [name, value] of Object.entries(params)) {
    const [pattern, form] = FORMS[name] ?? UUID;
    if (!pattern.test(value)) return { value, form };
  }
  return null;
}

/** Returns the path of a pattern with these parameters. This is the inverse of `match`. */
export function fill(pattern: string, params: Readonly<Record<string, string>>): string {
  return pattern.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

/** Returns the query with these keys set. A key with an empty value is removed. */
export function narrowed(query: URLSearchParams, keys: Readonly<Record<string, string | undefined>>): URLSearchParams {
  const next = new URLSearchParams(query);
  for (const [key, value] of Object.entries(keys)) {
    if (value === undefined || value === "") next.delete(key);
    else next.set(key, value);
  }
  return next;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null; // A malformed escape matches nothing.
  }
}
