// Provides a fake BMC that can simulate quirks of real BMCs.
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export type Quirks = {
  readonly etag?: "strong" | "weak" | "body";
  /** Refuses a change without If-Match. */
  readonly needs_etag?: boolean;
  /** Refuses a change with the ETag that it returned itself. */
  readonly refuses_etag?: boolean;
  readonly no_sessions?: boolean;
  /** Accepts a one-time boot only at the settings resource. */
  readonly settings_only?: boolean;
  readonly targets?: readonly string[];
  readonly resets?: readonly string[];
  /** Lists reset types that it does not support. */
  readonly lists_missing_resets?: boolean;
  readonly power?: "On" | "Off";
  /** The number of reads of the system after which a power change is visible. */
  readonly slow?: number;
  readonly bios?: Readonly<Record<string, string>>;
  /** The values that the BIOS attribute registry allows. The BMC refuses other values, like BMCs of HPE. */
  readonly bios_allows?: Readonly<Record<string, readonly string[]>>;
  /** Refuses every change, but sends the error with status 200. */
  readonly refuses_with_200?: boolean;
  /** Accepts a change and does not apply it. */
  readonly forgets?: boolean;
  /** Accepts a change with HttpBootUri and ignores the URI. */
  readonly ignores_boot_uri?: boolean;
  readonly systems?: number;
};

export type Bmc = {
  readonly url: string;
  readonly requests: { method: string; path: string; body: unknown; headers: IncomingMessage["headers"] }[];
  readonly state: { power: string; boot: Record<string, unknown>; bios: Record<string, string>; sessions: number };
  close(): Promise<void>;
};

export const PASSWORD = "bmc-pass";
const SYSTEM = "/redfish/v1/Systems/1";
const TOKEN = "token-1";

export async function openBmcMock(quirks: Quirks = {}): Promise<Bmc> {
  const state: Bmc["state"] = {
    power: quirks.power ?? "On",
    boot: { BootSourceOverrideEnabled: "Disabled", BootSourceOverrideTarget: "None" },
    bios: { ...quirks.bios ?? { BootMode: "Bios" } },
    sessions: 0,
  };
  let pending: { power: string; after: number } | null = null;
  let version = 1;
  const requests: Bmc["requests"] = [];
  const etag = () => quirks.etag === "weak" ? `W/"${version}"` : `"${version}"`;
  const resets = quirks.resets ?? ["On", "ForceOff", "ForceRestart"];

  function reset(type: string): number {
    if (!resets.includes(type)) return 501;
    if (state.power === "Off" && type !== "On") return 400;
    const power = type === "ForceOff" ? "Off" : "On";
    if ((quirks.slow ?? 0) > 0) pending = { power, after: quirks.slow! };
    else state.power = power;
    return 204;
  }

  function change(
    path: string,
    body: Record<string, unknown>,
    headers: IncomingMessage["headers"],
  ): [number, unknown?] {
    const given = headers["if-match"];
    if (quirks.needs_etag === true && given === undefined) return [428];
    if (given !== undefined && given !== "*") {
      const current = quirks.etag === "weak" ? `"${version}"` : etag();
      if (quirks.refuses_etag === true || given !== current) return [412];
    }
    if (quirks.refuses_with_200 === true) {
      return [200, { error: { "@Message.ExtendedInfo": [{ Message: "The value is not accepted" }] } }];
    }
    version += 1;
    const refused = Object.entries(body.Attributes ?? {}).find(([name, value]) =>
      quirks.bios_allows?.[name]?.includes(value) === false
    );
    if (refused !== undefined) {
      return [400, { error: { "@Message.ExtendedInfo": [{ MessageId: "iLO.2.14.PropertyValueNotInList" }] } }];
    }
    if (path.endsWith("/Bios/Settings")) Object.assign(state.bios, body.Attributes);
    else {
      if (quirks.settings_only === true && path === SYSTEM) {
        return [400, { error: { message: "OperationSupportedInFutureStateURI" } }];
      }
      const boot = body.Boot as Record<string, unknown>;
      if ("BootSourceOverrideMode" in boot) return [400, { error: { message: "BootSourceOverrideMode is read only" } }];
      const { HttpBootUri: uri, ...rest } = boot;
      if (quirks.forgets !== true) {
        Object.assign(
          state.boot,
          rest,
          uri === undefined || quirks.ignores_boot_uri === true ? {} : { HttpBootUri: uri },
        );
      }
    }
    return [204];
  }

  function show(path: string): unknown {
    switch (path) {
      case "/redfish/v1/":
        return { Systems: { "@odata.id": "/redfish/v1/Systems" } };
      case "/redfish/v1/Systems":
        return {
          Members: Array.from(
            { length: quirks.systems ?? 1 },
            (_, at) => ({ "@odata.id": `/redfish/v1/Systems/${at + 1}` }),
          ),
        };
      case `${SYSTEM}/Bios`:
        return {
          Attributes: state.bios,
          ...(quirks.bios_allows === undefined ? {} : { AttributeRegistry: "BiosRegistry.v1" }),
          "@Redfish.Settings": {
            SettingsObject: { "@odata.id": `${SYSTEM}/Bios/Settings` },
            SupportedApplyTimes: ["OnReset"],
          },
        };
      case "/redfish/v1/Registries/BiosRegistry.v1":
        return quirks.bios_allows === undefined ? null : { Location: [{ Language: "en", Uri: "/registry.json" }] };
      case "/registry.json":
        return {
          RegistryEntries: {
            Attributes: Object.entries(quirks.bios_allows ?? {}).map(([AttributeName, values]) => ({
              AttributeName,
              Value: values.map((ValueName) => ({ ValueName })),
            })),
          },
        };
      case `${SYSTEM}/Bios/Settings`:
        return { Attributes: state.bios };
      case SYSTEM:
      case `${SYSTEM}/SD`: {
        if (pending !== null && --pending.after <= 0) {
          state.power = pending.power;
          pending = null;
        }
        return {
          PowerState: state.power,
          Boot: {
            ...state.boot,
            "BootSourceOverrideTarget@Redfish.AllowableValues": quirks.targets ?? ["None", "Pxe", "UefiHttp"],
          },
          Bios: { "@odata.id": `${SYSTEM}/Bios` },
          ...(quirks.etag === "body" ? { "@odata.etag": etag() } : {}),
          ...(quirks.settings_only === true
            ? { "@Redfish.Settings": { SettingsObject: { "@odata.id": `${SYSTEM}/SD` } } }
            : {}),
          Actions: {
            "#ComputerSystem.Reset": {
              target: `${SYSTEM}/Actions/ComputerSystem.Reset`,
              "ResetType@Redfish.AllowableValues": quirks.lists_missing_resets === true
                ? ["On", "ForceOff", "ForceRestart", "PowerCycle"]
                : resets,
            },
          },
        };
      }
      default:
        return null;
    }
  }

  const server: Server = createServer((req, res) => {
    const parts: Uint8Array[] = [];
    req.on("data", (part: Uint8Array) => parts.push(part));
    req.on("end", () => {
      const text = Buffer.concat(parts).toString();
      const body = text === "" ? {} : JSON.parse(text);
      const { method = "", url = "", headers } = req;
      requests.push({ method, path: url, body, headers });
      const answer = (status: number, body?: unknown, more: Record<string, string> = {}) => {
        res.writeHead(status, { "content-type": "application/json", ...more });
        res.end(body === undefined ? undefined : JSON.stringify(body));
      };
      if (url === "/redfish/v1/SessionService/Sessions" && method === "POST") {
        if (quirks.no_sessions === true) return answer(405);
        if (body.Password !== PASSWORD) return answer(401);
        state.sessions += 1;
        return answer(201, {}, { "x-auth-token": TOKEN, location: "/redfish/v1/SessionService/Sessions/1" });
      }
      // The service root needs no login.
      if (url === "/redfish/v1/" && method === "GET") return answer(200, show(url));
      const basic = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString("base64")}`;
      if (headers["x-auth-token"] !== TOKEN && headers.authorization !== basic) return answer(401);
      if (method === "DELETE") {
        state.sessions -= 1;
        return answer(204);
      }
      if (method === "GET") {
        const shown = show(url);
        const tag: Record<string, string> = quirks.etag === undefined || quirks.etag === "body" ? {} : { etag: etag() };
        return shown === null ? answer(404) : answer(200, shown, tag);
      }
      if (method === "PATCH") {
        const [status, content] = change(url, body, headers);
        return answer(status, content);
      }
      answer(reset(body.ResetType));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    state,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
