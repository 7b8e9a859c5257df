// Tests the redfish commands with BMCs that behave like real BMCs. Each title states the behaviour.
import { afterEach, describe, expect, test } from "vitest";
import { ensureUefi } from "../../booter/redfish/boot-mode.ts";
import { systemOf } from "../../booter/redfish/system.ts";
import { type Pause, powerCycle, setOnetimeBoot } from "../../booter/redfish/verbs.ts";
import {
  type Behaviour,
  connect,
  OPENED,
  openPeer,
  type Peer,
  ROOT,
  SESSIONS,
  SYSTEM,
  usual,
  waits,
} from "./redfish-peer.ts";

let peer: Peer;
afterEach(() => peer.close());

const pauseOf = ({ sleep }: { sleep: Pause["sleep"] }): Pause => ({ sleep, limit_ms: 60_000, step_ms: 2_000 });
const methods = () => peer.asked.map(({ method, path }) => `${method} ${path}`);

async function opened(behaviour: Behaviour) {
  peer = await openPeer(behaviour);
  const clock = waits();
  return { clock, bmc: await connect(`http://127.0.0.1:${peer.port}`, clock) };
}

describe("login", () => {
  test.each([400, 401, 503])("uses Basic authentication if the session service answers %i", async (status) => {
    const { bmc } = await opened(usual(({ method, path, headers }) => {
      if (method === "POST" && path === SESSIONS) return { status, headers: { "retry-after": "30" } };
      if (path !== "/redfish/v1/" && !headers.authorization?.startsWith("Basic ")) return { status: 401 };
      return path === SYSTEM ? { body: { Id: "1" } } : undefined;
    }));
    expect((await systemOf(bmc, null)).path).toBe(SYSTEM);
    await bmc.close();
    expect(methods()).not.toContain(`DELETE ${SESSIONS}/7`);
  });

  test("fails if the BMC refuses the password both with and without a session", async () => {
    peer = await openPeer(usual(({ path }) => path === "/redfish/v1/" ? undefined : { status: 401 }));
    await expect(connect(`http://127.0.0.1:${peer.port}`, waits())).rejects.toThrow(
      "the BMC refused the user name or the password",
    );
  });

  test("uses the session service that the service root names, and accepts a relative session path", async () => {
    const sessions = "/redfish/v1/Managers/1/Sessions";
    const { bmc } = await opened(({ method, path }) => {
      if (path === "/redfish/v1/") return { body: { ...ROOT, Links: { Sessions: { "@odata.id": sessions } } } };
      if (method === "POST" && path === sessions) {
        return { status: 201, headers: { "x-auth-token": "t", location: "Sessions/9" } };
      }
      return { status: 204 };
    });
    await bmc.close();
    expect(methods().slice(1)).toEqual([`POST ${sessions}`, `DELETE ${sessions}/9`]);
  });

  test("uses the path of a session URL on the given host if the URL has another host name, as on iLO", async () => {
    const location = `https://ilo-17.example/redfish/v1/SessionService/Sessions/admin1`;
    const { bmc } = await opened(
      usual(({ method, path }) =>
        method === "POST" && path === SESSIONS ? { ...OPENED, headers: { "x-auth-token": "t", location } } : undefined
      ),
    );
    await bmc.close();
    expect(methods().at(-1)).toBe(`DELETE ${SESSIONS}/admin1`);
  });

  test.each([301, 302, 307, 308])(
    "repeats the POST after a redirect %i, as older Supermicro BMCs need",
    async (status) => {
      const { bmc } = await opened(usual(({ method, path }) => {
        if (method === "POST" && path === SESSIONS) return { status, headers: { location: `${SESSIONS}/` } };
        return method === "POST" && path === `${SESSIONS}/` ? OPENED : undefined;
      }));
      await bmc.close();
      const posts = peer.asked.filter(({ method }) => method === "POST");
      expect(posts.map(({ path, body }) => [path, body])).toEqual([
        [SESSIONS, { UserName: "admin", Password: "secret" }],
        [`${SESSIONS}/`, { UserName: "admin", Password: "secret" }],
      ]);
    },
  );

  test("does not follow a redirect to another host", async () => {
    peer = await openPeer(
      usual(({ method }) =>
        method === "POST" ? { status: 308, headers: { location: "http://127.0.0.2:1/x" } } : undefined
      ),
    );
    await expect(connect(`http://127.0.0.1:${peer.port}`, waits())).rejects.toThrow(
      "the BMC redirects to http://127.0.0.2:1",
    );
  });

  test.each(["[::1]:", "http://[::1]:"])("accepts an IPv6 host as %sPORT", async (prefix) => {
    peer = await openPeer(usual(() => undefined), { address: "::1" });
    const host = `${prefix.startsWith("http") ? prefix : `http://${prefix}`}${peer.port}`;
    await (await connect(host, waits())).close();
    expect(peer.asked[0]?.headers.host).toBe(`[::1]:${peer.port}`);
  });
});

describe("several systems", () => {
  const systems: Behaviour = usual(({ path }) => {
    if (path === "/redfish/v1/Systems") {
      const ids = ["HGX_Baseboard_0", "System_0"];
      return { body: { Members: ids.map((id) => ({ "@odata.id": `/redfish/v1/Systems/${id}` })) } };
    }
    if (path.endsWith("HGX_Baseboard_0")) return { body: { Id: "HGX_Baseboard_0", Name: "HGX_Baseboard_0", UUID: "" } };
    if (path.endsWith("System_0")) {
      return { body: { Id: "System_0", Name: "DGX", UUID: "2C0A1F36-0000-4000-8000-0000000000AB" } };
    }
    return undefined;
  });

  test.each(["2c0a1f36-0000-4000-8000-0000000000ab", "DGX", "System_0", "/redfish/v1/Systems/System_0"])(
    "--system %s selects the second system",
    async (wanted) => {
      const { bmc } = await opened(systems);
      expect((await systemOf(bmc, wanted)).body.Name).toBe("DGX");
    },
  );

  test("without --system, or with an unknown system, the error lists the systems", async () => {
    const { bmc } = await opened(systems);
    const list = "/redfish/v1/Systems/HGX_Baseboard_0 (HGX_Baseboard_0); /redfish/v1/Systems/System_0 (DGX, 2C0A1F36-";
    await expect(systemOf(bmc, null)).rejects.toThrow(`the BMC has 2 systems; choose one with --system: ${list}`);
    await expect(systemOf(bmc, "System_1")).rejects.toThrow(`--system System_1 fits none of them: ${list}`);
  });
});

describe("requests", () => {
  test("a request that gets 503 with Retry-After is repeated after that time", async () => {
    let busy = 2;
    const { bmc, clock } = await opened(usual(({ path }) => {
      if (path !== SYSTEM) return undefined;
      return busy-- > 0 ? { status: 503, headers: { "retry-after": "5" } } : { body: { Id: "1" } };
    }));
    expect((await bmc.get(SYSTEM)).body).toEqual({ Id: "1" });
    expect(clock.slept).toEqual([5_000, 5_000]);
  });

  test.each<[string, readonly { status: number; body?: unknown }[], RegExp | null]>([
    [
      "is polled until it has ended",
      [{ status: 202, body: { TaskState: "Running" } }, { status: 200, body: {} }],
      null,
    ],
    ["is polled until its state is Completed", [{ status: 200, body: { TaskState: "Running" } }, {
      status: 200,
      body: { TaskState: "Completed" },
    }], null],
    ["fails the request if the task fails", [{
      status: 200,
      body: { TaskState: "Exception", Messages: [{ Message: "no power" }] },
    }], /the task \/tasks\/1 failed: Exception no power/],
  ])("the task of a 202 %s", async (_name, states, message) => {
    let at = 0;
    const { bmc, clock } = await opened(usual(({ method, path }) => {
      if (method === "POST" && path === "/reset") return { status: 202, headers: { location: "/tasks/1" } };
      return path === "/tasks/1" ? states[at++] : undefined;
    }));
    const done = bmc.post("/reset", {});
    if (message === null) await done;
    else await expect(done).rejects.toThrow(message);
    expect([at, clock.slept.length]).toEqual([states.length, states.length - 1]);
  });

  test("a change that the next restart applies does not wait for its task, which on Dell ends only after that restart", async () => {
    const { bmc, clock } = await opened(usual(({ method, path }) => {
      if (method === "PATCH") return { status: 202, headers: { location: "/tasks/1" } };
      if (path === "/tasks/1") return { body: { TaskState: "Starting" } };
      return path === SYSTEM ? { body: {} } : undefined;
    }));
    await bmc.patch(SYSTEM, {}, "scheduled");
    expect(clock.slept).toEqual([]);
  });

  test.each([400, 428])(
    "a request that gets PreconditionHeaderMissing with %i is repeated with If-Match",
    async (status) => {
      const { bmc } = await opened(usual(({ method, path, headers }) => {
        if (path !== SYSTEM) return undefined;
        if (method === "GET") return { body: {} };
        const MessageId = "Base.1.8.PreconditionHeaderMissing";
        return headers["if-match"] === "*"
          ? { status: 204 }
          : { status, body: { error: { "@Message.ExtendedInfo": [{ MessageId }] } } };
      }));
      expect((await bmc.patch(SYSTEM, {})).status).toBe(204);
    },
  );

  test("the error has the words of the MessageId if the BMC sends no text, as on iLO", async () => {
    const MessageId = "iLO.2.14.InvalidOperationForSystemState";
    const body = { error: { code: "iLO.0.10.ExtendedInfo", "@Message.ExtendedInfo": [{ MessageId }] } };
    const { bmc } = await opened(usual(({ path }) => path === "/reset" ? { status: 400, body } : undefined));
    await expect(bmc.post("/reset", {})).rejects.toThrow(
      `POST /reset: 400 invalid operation for system state (${MessageId})`,
    );
  });

  test("iLO's message that a restart is required does not fail the request", async () => {
    const { bmc } = await opened(usual(({ method, path }) => {
      if (path !== SYSTEM) return undefined;
      const info = [{ MessageId: "iLO.2.14.SystemResetRequired" }];
      return method === "GET" ? { body: {} } : { body: { error: { "@Message.ExtendedInfo": info } } };
    }));
    expect((await bmc.patch(SYSTEM, {})).status).toBe(200);
  });
});

/** A system like the emulator of sushy-tools. It shows changes late, and shows every boot override as Continuous. */
function sushy(boot: Record<string, unknown>, { uri_needed = false, late = 0 } = {}): Behaviour {
  let shown = { ...boot };
  let looks = 0;
  return usual(({ method, path, body }) => {
    if (path !== SYSTEM) return undefined;
    if (method === "PATCH") {
      const { BootSourceOverrideTarget: target, BootSourceOverrideMode: mode } = body.Boot as Record<string, unknown>;
      if (target !== undefined) {
        boot.BootSourceOverrideTarget = uri_needed && target === "UefiHttp" ? "Pxe" : target;
        boot.BootSourceOverrideEnabled = "Continuous";
      }
      if (mode !== undefined) boot.BootSourceOverrideMode = mode;
      looks = late;
      return { status: 204 };
    }
    if (looks-- <= 0) shown = { ...boot };
    return { body: { Boot: shown, PowerState: "On" } };
  });
}

describe("one-time boot", () => {
  const boot = async (behaviour: Behaviour, target: "pxe" | "uefi-http") => {
    const { bmc, clock } = await opened(behaviour);
    return await setOnetimeBoot(bmc, await systemOf(bmc, null), { target, pause: pauseOf(clock) });
  };

  test("is accepted if the BMC shows the change late and as permanent", async () => {
    expect(await boot(sushy({ BootSourceOverrideTarget: "Hdd" }, { late: 5 }), "pxe")).toContain(
      "the next start boots from Pxe; the BMC shows this as permanent",
    );
  });

  test("is an error if the BMC stores another target", async () => {
    await expect(boot(sushy({ BootSourceOverrideTarget: "Hdd" }, { uri_needed: true }), "uefi-http")).rejects.toThrow(
      "its boot override is Pxe (Continuous); try --target pxe",
    );
  });

  test("is accepted with a warning if the BMC does not show its boot override", async () => {
    const silent = usual(({ method, path }) => {
      if (path !== SYSTEM) return undefined;
      return method === "GET" ? { body: { Boot: {} } } : { status: 204 };
    });
    expect(await boot(silent, "pxe")).toBe(
      "the BMC accepted Pxe for the next start, but does not show its boot override",
    );
  });
});

describe("UEFI", () => {
  test("is set by the override mode if there is no BIOS attribute", async () => {
    const { bmc } = await opened(sushy({ BootSourceOverrideMode: "Legacy" }));
    expect(await ensureUefi(bmc, await systemOf(bmc, null))).toContain("BootSourceOverrideMode=UEFI");
    expect(await ensureUefi(bmc, await systemOf(bmc, null))).toContain("already UEFI");
  });

  test("counts as set if the BIOS attribute is UEFI, even if the BMC shows a legacy override mode, as on iLO", async () => {
    const { bmc } = await opened(usual(({ method, path }) => {
      if (path === `${SYSTEM}/Bios`) return { body: { Attributes: { BootMode: "Uefi" } } };
      if (path !== SYSTEM) return undefined;
      if (method === "PATCH") return { status: 400, body: { error: { message: "read only" } } };
      return { body: { Bios: { "@odata.id": `${SYSTEM}/Bios` }, Boot: { BootSourceOverrideMode: "Legacy" } } };
    }));
    expect(await ensureUefi(bmc, await systemOf(bmc, null))).toBe("the boot mode is already UEFI (BootMode=Uefi)");
  });
});

test("a power cycle waits for the task of the reset", async () => {
  let looks = 0;
  const { bmc, clock } = await opened(usual(({ method, path }) => {
    if (method === "POST" && path === "/reset") return { status: 202, headers: { location: "/tasks/1" } };
    if (path === "/tasks/1") return { body: { TaskState: ++looks < 3 ? "Running" : "Completed" } };
    if (path !== SYSTEM) return undefined;
    return { body: { PowerState: "On", Actions: { "#ComputerSystem.Reset": { target: "/reset" } } } };
  }));
  expect(await powerCycle(bmc, await systemOf(bmc, null), pauseOf(clock))).toContain("ForceRestart");
  expect(looks).toBe(3);
});
