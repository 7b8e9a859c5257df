// Runs the BMC of a bare machine: `deno run -A src/dev/rack/bmc.ts FILE`. It serves the part of Redfish that `booter
// redfish` uses, over TLS with a session, and switches a QEMU process on and off. This model of a BMC has one system,
// whose firmware boots from the network at every start. FILE is JSON of type BmcSettings.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import process from "node:process";

export type BmcSettings = {
  readonly address: string;
  readonly port: number;
  readonly user: string;
  /** Files with the password, and with the key and certificate of TLS. */
  readonly password_file: string;
  readonly key_file: string;
  readonly certificate_file: string;
  /** The command line of the machine's QEMU. */
  readonly qemu: readonly string[];
  readonly uuid: string;
};

type Answer = { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> };

const ROOT = "/redfish/v1/";
const SYSTEMS = "/redfish/v1/Systems";
const SYSTEM = `${SYSTEMS}/1`;
const SESSIONS = "/redfish/v1/SessionService/Sessions";
const RESETS = ["On", "ForceOff", "ForceRestart"];
const TARGETS = ["None", "Pxe"];
/** Maximum bytes of a request's body: more than any request of Redfish needs. */
const BODY_BYTES_MAX = 65_536;

const settings: BmcSettings = JSON.parse(await readFile(process.argv[2] ?? "", "utf8"));
const password = (await readFile(settings.password_file, "utf8")).trim();
const tokens = new Map<string, string>();
let boot = { BootSourceOverrideEnabled: "Disabled", BootSourceOverrideTarget: "None" };
let machine: ChildProcess | null = null;

function on(): void {
  const [program = "", ...argv] = settings.qemu;
  const child = spawn(program, argv, { stdio: ["ignore", "inherit", "inherit"] });
  machine = child;
  boot = { BootSourceOverrideEnabled: "Disabled", BootSourceOverrideTarget: "None" };
  const ended = () => {
    if (machine === child) machine = null;
  };
  child.once("error", ended);
  child.once("close", ended);
}

/** Switches the machine off at once. */
async function off(): Promise<void> {
  const child = machine;
  if (child === null) return;
  const ended = new Promise((done) => child.once("close", done));
  child.kill("SIGKILL");
  await ended;
}

async function reset(type: unknown): Promise<Answer> {
  if (typeof type !== "string" || !RESETS.includes(type)) return fault(400, "ResetType is not supported");
  if (type === "On" && machine !== null) return { status: 204 };
  if (type !== "On") await off();
  if (type !== "ForceOff") on();
  return { status: 204 };
}

function fault(status: number, message: string): Answer {
  return { status, body: { error: { code: "Base.1.0.GeneralError", message } } };
}

function system(): unknown {
  return {
    "@odata.id": SYSTEM,
    Id: "1",
    UUID: settings.uuid,
    PowerState: machine === null ? "Off" : "On",
    Boot: { ...boot, "BootSourceOverrideTarget@Redfish.AllowableValues": TARGETS },
    Actions: {
      "#ComputerSystem.Reset": {
        target: `${SYSTEM}/Actions/ComputerSystem.Reset`,
        "ResetType@Redfish.AllowableValues": RESETS,
      },
    },
  };
}

function setBoot(body: Record<string, unknown>): Answer {
  const change = body["Boot"] as Partial<typeof boot> | undefined;
  if (change === undefined || !TARGETS.includes(change.BootSourceOverrideTarget ?? "None")) {
    return fault(400, "BootSourceOverrideTarget is not supported");
  }
  boot = { ...boot, ...change };
  return { status: 204 };
}

async function answer(method: string, path: string, body: Record<string, unknown>, token: string): Promise<Answer> {
  // The service root needs no login.
  if (method === "GET" && path === ROOT) {
    return { status: 200, body: { Systems: { "@odata.id": SYSTEMS }, Links: { Sessions: { "@odata.id": SESSIONS } } } };
  }
  if (method === "POST" && path === SESSIONS) {
    if (body["UserName"] !== settings.user || body["Password"] !== password) return fault(401, "wrong login");
    const [fresh, location] = [randomBytes(16).toString("hex"), `${SESSIONS}/${randomBytes(4).toString("hex")}`];
    tokens.set(fresh, location);
    return { status: 201, body: {}, headers: { "x-auth-token": fresh, location } };
  }
  const session = tokens.get(token);
  if (session === undefined) return fault(401, "a session is needed");
  if (method === "DELETE" && path === session) {
    tokens.delete(token);
    return { status: 204 };
  }
  if (method === "GET" && path === SYSTEMS) return { status: 200, body: { Members: [{ "@odata.id": SYSTEM }] } };
  if (method === "GET" && path === SYSTEM) return { status: 200, body: system() };
  if (method === "PATCH" && path === SYSTEM) return setBoot(body);
  if (method === "POST" && path === `${SYSTEM}/Actions/ComputerSystem.Reset`) return await reset(body["ResetType"]);
  return fault(404, "there is no such resource");
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) {
    text += part;
    if (text.length > BODY_BYTES_MAX) throw new Error("the body is too long");
  }
  return text === "" ? {} : JSON.parse(text);
}

const tls = { key: await readFile(settings.key_file), cert: await readFile(settings.certificate_file) };
const server = createServer(tls, (request, response) => {
  const { method = "", url = "", headers } = request;
  void bodyOf(request)
    .then((body) => answer(method, url, body, String(headers["x-auth-token"] ?? "")))
    .catch((error: Error) => fault(400, error.message))
    .then(({ status, body, headers = {} }) => {
      console.error(`${new Date().toISOString()} ${method} ${url} ${status}`);
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    });
});
server.listen(settings.port, settings.address);
// The machine ends together with its BMC, because no other process can switch the machine off.
process.once("SIGTERM", () => void off().then(() => process.exit(0)));
