// Asks the server of a development environment for a link that signs in a browser.
import type { DevEnvironment } from "./environment.ts";

/** Returns the path of a link that signs in a browser on this machine to the web console. The link works once. */
export async function signInPath({ url, rootKey }: Pick<DevEnvironment, "url" | "rootKey">): Promise<string> {
  const answer = await fetch(`${url}/lab/sign-in`, { method: "POST", headers: { authorization: `Bearer ${rootKey}` } });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}: ${await answer.text()}`);
  const { path }: { path: string } = await answer.json();
  return path;
}
