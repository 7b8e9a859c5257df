// Asks the server of a development environment for a link that signs a browser in.
import type { DevEnvironment } from "./environment.ts";

/** Returns the path of a link that signs a browser on this machine in to the web console, once. */
export async function signInPath({ url, rootKey }: Pick<DevEnvironment, "url" | "rootKey">): Promise<string> {
  const answer = await fetch(`${url}/lab/sign-in`, { method: "POST", headers: { authorization: `Bearer ${rootKey}` } });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}: ${await answer.text()}`);
  const { path }: { path: string } = await answer.json();
  return path;
}
