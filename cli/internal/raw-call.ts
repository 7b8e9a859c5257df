// Defines the verb `api`: sends one request with the saved endpoint and credential, for routes that have no command.
import { type AnyCommand, command, each } from "../framework.ts";
import { type Call } from "./exchange.ts";
import { usageFailure } from "./failure.ts";
import type { Io } from "./io.ts";
import { plainJson } from "./plain-text.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** The program's function that returns the action of a verb. The action opens an Io and calls `body` with the Io. */
type WithIo = <R extends unknown[]>(body: (io: Io, ...rest: R) => Promise<void>) => (...rest: R) => Promise<void>;

export function rawCall(summary: string, { withIo, example }: { withIo: WithIo; example: string }): AnyCommand {
  return command("api", summary, example)
    .argument("<method>", METHODS.join(", "))
    .argument("<path>", "path of the route, such as /v1/auth/whoami")
    .option(
      "-f, --field <name=value>",
      "field of the body, or of the query of a GET; a value that is JSON is sent as JSON; may be repeated",
      each,
    )
    .action(withIo(async (io: Io, method: string, path: string, { field = [] }: { field?: readonly string[] }) => {
      const answer = await io.send<unknown>(callOf(method, path, field));
      io.print(answer, plainJson(answer));
    }));
}

function callOf(
  word: string,
  path: string,
  fields: readonly string[],
): Pick<Call, "method" | "path" | "query" | "body"> {
  const method = METHODS.find((each) => each === word.toUpperCase());
  if (method === undefined) throw usageFailure(`${word} is not a method; use ${METHODS.join(", ")}`);
  if (!path.startsWith("/")) throw usageFailure(`the path must start with /, as in /v1/silos, not ${path}`);
  const pairs = fields.map((text) => {
    const at = text.indexOf("=");
    if (at < 1) throw usageFailure(`--field must be NAME=VALUE, not ${text}`);
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  // The query of a GET has the parameters in the path and the fields.
  const [pathname = "", search = ""] = path.split("?", 2);
  const query = {
    ...Object.fromEntries(new URLSearchParams(search)),
    ...(method === "GET" ? Object.fromEntries(pairs) : {}),
  };
  const hasBody = method !== "GET" && pairs.length > 0;
  const body = hasBody ? Object.fromEntries(pairs.map(([name, value]) => [name, valueOf(value)])) : undefined;
  return { method, path: pathname, query, body };
}

/** Returns the value of JSON text, and any other text as it is. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
