// Scenario: a browser loads the web console and signs in. The scenario sends the same requests as a browser.
import type { DevEnvironment } from "../environment.ts";
import { signInPath } from "../sign-in-path.ts";
import { check, say } from "../stage.ts";

/** The script and the style that the page names. */
const FILES = /(?:src|href)="(\/console\/[\w-]+\.(?:js|css))"/g;

export async function webConsole(environment: Pick<DevEnvironment, "url" | "rootKey">): Promise<void> {
  const { url } = environment;
  say(`The web console is at ${url}/console/`);
  const page = await fetch(`${url}/console/`, { headers: { accept: "text/html" } });
  const html = await page.text();
  check("the page of the console loads", page.status === 200 && html.includes("<title>Berth</title>"));
  const paths = [...html.matchAll(FILES)].map(([, path]) => path);
  const files = await Promise.all(paths.map((path) => fetch(`${url}${path}`)));
  await Promise.all(files.map((file) => file.body?.cancel()));
  const types = files.map((file) => file.status === 200 ? file.headers.get("content-type")?.split(";")[0] : null)
    .sort();
  check("its script and its style load", String(types) === "text/css,text/javascript");

  const signedIn = await fetch(url + await signInPath(environment), { redirect: "manual" });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  check("a browser signs in with a link", signedIn.status === 302 && signedIn.headers.get("location") === "/console/");
  const whoami = await fetch(`${url}/v1/auth/whoami`, { headers: { cookie } });
  const { is_root }: { is_root?: boolean } = await whoami.json();
  check("the cookie has the rights of the root key", whoami.status === 200 && is_root === true);
}
